import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Appliance } from '../harness/appliance.ts';
import { runCli } from '../harness/command-line.ts';
import { tempFolder } from '../harness/temp-folder.ts';

/** The command line against a whole appliance: the call record is read over its API. */
t.setTimeout(280_000);
const SECRET = 'a-core-secret-for-this-test';
const folder = tempFolder();
const appliance = await Appliance.start({ CORE_SECRET: SECRET, SLOTS: '2' });
t.teardown(async () => {
  await appliance.destroy();
});

const RUN_TIMEOUT_MS = 90_000;

function call(scenario: unknown, env: Record<string, string>, ...more: string[]) {
  const file = join(folder, 'scenario.json');
  writeFileSync(file, typeof scenario === 'string' ? scenario : JSON.stringify(scenario));
  const url = appliance.callUrl.replace('/ws/', '');
  const control = `http://127.0.0.1:${appliance.controlPort}`;
  return runCli(
    ['call', 'demo', '--scenario', file, '--url', url, '--control', control, ...more],
    env,
    RUN_TIMEOUT_MS,
  );
}

const greeting = (pattern: string) => ({
  title: 'The bot greets who calls',
  steps: [{ hang_up: 'heard enough', into_bot_ms: 1_500 }],
  expect: { closed_by: 'caller', bot_says: [pattern] },
});

t.test('RT-76 trunkline call plays a scenario against a host and reads its call record', async (t) => {
  const ran = await call(greeting('.'), { CORE_SECRET: SECRET });
  t.equal(ran.code, 0, ran.stdout + ran.stderr);
  t.match(ran.stdout, /ok +the bot says/);
});

t.test('RT-76 what was not as expected is shown, with exit code 1', async (t) => {
  const ran = await call(greeting('no bot says this'), { CORE_SECRET: SECRET }, '--json');
  t.equal(ran.code, 1, ran.stderr);
  const summary = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '');
  t.match(summary, { type: 'scenario', passed: false, unchecked: 0 });
});

t.test('RT-76 without a secret the words stay unchecked, and the rest counts', async (t) => {
  const ran = await call(greeting('no bot says this'), {});
  t.equal(ran.code, 0, ran.stdout + ran.stderr);
  t.match(ran.stdout, /\? +the bot says/);
  t.match(ran.stdout, /set CORE_SECRET/);
});

t.test('RT-76 a scenario that cannot be understood is refused with its place, exit code 2', async (t) => {
  const ran = await call('{"title": "x", "stepps": []}', {});
  t.equal(ran.code, 2);
  t.match(ran.stderr, /did you mean "steps"/);
});
