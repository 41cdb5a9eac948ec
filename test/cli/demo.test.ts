import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { readWav } from '../../src/platform/wav.ts';
import { runCli } from '../harness/command-line.ts';

t.test(
  'R1 R17 the demo holds a call with human speech, is interrupted, and shows result and recording',
  { timeout: 280_000 },
  async (t) => {
    const env = {
      TMPDIR: t.testdir(),
      ...(process.env.MODEL_DIR ? { MODEL_DIR: process.env.MODEL_DIR } : {}),
    };
    const ran = await runCli(['demo', '--short'], env, 270_000);
    t.equal(ran.code, 0, ran.stderr);
    t.match(ran.stdout, /recognised +4 of 4 .*n=4/);
    t.match(ran.stdout, /answered +4 of 4/);
    t.match(ran.stdout, /barge-in +the bot was cut \d+ ms/);
    t.match(ran.stdout, /"disconnected_by": "bot"/);
    const file = /recording +(\S+\.wav)/.exec(ran.stdout)?.[1] ?? '';
    const recording = readWav(readFileSync(file));
    t.equal(recording.channels, 2);
    t.ok(recording.samples.length / 16_000 > 10, 'the recording holds the whole call');
    const kept = readdirSync(dirname(file)).sort();
    t.same(kept, ['recording.wav', 'results.json'], 'the data folder and the log are gone');
  },
);

t.test(
  'a demo that is broken off leaves nothing running and nothing behind',
  { timeout: 280_000 },
  async (t) => {
    const { spawn } = await import('node:child_process');
    const { CLI_ENTRY } = await import('../harness/command-line.ts');
    const child = spawn(process.execPath, [CLI_ENTRY, 'demo', '--short'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: t.testdir() },
    });
    let output = '';
    await new Promise<void>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (/bot +> +speaks/.test(output)) resolve();
      });
      child.once('exit', () => resolve());
    });
    const folder = /temporary folder \((\S+)\)/.exec(output)?.[1] ?? '';
    t.ok(existsSync(folder), 'the call was under way');
    const mains = processesWith(folder);
    t.ok(mains.length > 0, 'the appliance runs on the folder');
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    t.equal(code, 130);
    t.same(processesWith(folder), [], 'no process of it is left');
    t.notOk(existsSync(`${folder}/data`), 'its data folder is gone');
  },
);

/** Processes whose environment names the folder. */
function processesWith(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DATA_DIR=${folder}/data`);
    } catch {
      return false;
    }
  });
}
