import { spawn } from 'node:child_process';
import t from 'tap';
import { projectPath } from '../../src/platform/project-paths.ts';

t.test(
  'R1 R19 R27 the SIP demo calls a number of the bot through the real media server and hangs up in order',
  { timeout: 280_000 },
  async (t) => {
    const ran = await run([projectPath('dist/test/stack/sip-demo.js'), '--short'], { TMPDIR: t.testdir() });
    t.equal(ran.code, 0, `${ran.stdout.slice(-3_000)}\n${ran.stderr}`);
    t.match(ran.stdout, /line +rings[\s\S]*line +answered/);
    t.match(ran.stdout, /answered +[34] of 4/);
    t.match(ran.stdout, /barge-in +the bot was cut \d+ ms/);
    t.match(ran.stdout, /"transport": "rtc_sip"/);
    t.match(ran.stdout, /"caller_id": "\+15550111"/);
    t.match(ran.stdout, /"disconnected_by": "bot"/);
  },
);

function run(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
