import { fork } from 'node:child_process';
import t from 'tap';
import { SLOT_MESSAGES_VERSION } from '../../src/contracts/versions.ts';
import { projectPath } from '../../src/platform/project-paths.ts';

/** A bare slot process, before any init; resolves to how it ends. */
function slotThatHears(message: object | null): Promise<{ code: number | null; said: string }> {
  const child = fork(projectPath('dist/src/slot/slot.js'), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (part) => {
    said += part;
  });
  if (message) child.send(message as never);
  else child.disconnect();
  return new Promise((resolve) => child.on('exit', (code) => resolve({ code, said })));
}

t.test('a slot that meets another version of its messages says so and leaves', async (t) => {
  const { code, said } = await slotThatHears({ v: 99, type: 'init' });
  t.equal(code, 1);
  const own = `main speaks version 99 of the slot messages, this slot ${SLOT_MESSAGES_VERSION}; restart the appliance`;
  t.ok(said.includes(own), said);
});

t.test('an idle slot leaves when main is gone', async (t) => {
  t.equal((await slotThatHears(null)).code, 0);
});
