import { spawn } from 'node:child_process';
import t from 'tap';
import { projectPath } from '../../src/platform/project-paths.ts';

/** The test run itself, on one file that needs the media stack and one that does not. */
function testRun(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const { STACK_ADDRESSES: _shared, ...own } = process.env;
  const child = spawn(
    process.execPath,
    [projectPath('test/run.mjs'), 'test/rooms/stack', 'test/cli/read-tap'],
    { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, lines: output.trimEnd().split('\n') }));
  });
}

t.test('without a media stack the test run says what it leaves out and why, and passes', async (t) => {
  const { code, lines } = await testRun({ STACK: 'off' });
  t.equal(code, 0);
  t.match(lines.join('\n'), /^ok +cli\/read-tap/m, 'the other tests run');
  t.equal(lines.at(-3), 'left out: 1 test file of rooms and SIP, because STACK=off is set');
  t.match(lines.at(-1), /^\d+ passed, 0 failed$/);
});

t.test('with STACK=required a media stack that cannot be had is a failure', async (t) => {
  const { code, lines } = await testRun({ STACK: 'required', STACK_LIVEKIT_SIP: '/nowhere/livekit-sip' });
  t.equal(code, 1);
  t.match(lines.join('\n'), /there is no livekit-sip \(STACK_LIVEKIT_SIP names no program\)/);
  t.match(lines.at(-3), /^left out: 1 test file /);
  t.match(lines.at(-1), /^\d+ passed, 1 failed$/);
});
