import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** Children at work at once; each starts a model of its own. */
const AT_ONCE = 2;
const CHILD_BOUND_MS = 60_000;
const fixture = fileURLToPath(
  new URL(`./fixtures/leaving-process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
);

interface Way {
  title: string;
  way: string;
  /** Moments of the end, in ms after the model got to work; one child for each. */
  afterMs: number[];
  code: number;
}

const ways: Way[] = [
  {
    title: 'leaveProcess ends 5 processes of 5 with an idle turn model',
    way: 'leave-idle',
    afterMs: Array(5).fill(0),
    code: 0,
  },
  {
    title: 'leaveProcess ends 6 processes of 6 in the middle of verdicts',
    way: 'leave-busy',
    afterMs: every(11, 6),
    code: 0,
  },
  {
    title: 'a plain process.exit in the middle of verdicts does not abort, 6 of 6',
    way: 'exit-busy',
    afterMs: every(11, 6),
    code: 0,
  },
  {
    title: 'an uncaught error in the middle of verdicts ends with its own code',
    way: 'throw-busy',
    afterMs: [10, 25, 40],
    code: 1,
  },
  {
    title: 'a process.exit while the model loads does not abort',
    way: 'exit-while-loading',
    afterMs: [0, 40, 80, 120],
    code: 0,
  },
  { title: 'a process that forgets its model ends all the same', way: 'end-idle', afterMs: [0, 0], code: 0 },
];

for (const { title, way, afterMs, code } of ways) {
  t.test(title, async (t) => {
    const moments = [...afterMs];
    const work = async () => {
      for (let moment = moments.shift(); moment !== undefined; moment = moments.shift()) {
        const ended = await runChild(way, moment);
        t.equal(ended.code, code, `${way} after ${moment} ms`, {
          signal: ended.signal,
          stderr: ended.stderr,
        });
        t.notMatch(ended.stderr, /terminate called|Napi::Error|abort|core dumped/i, 'nothing aborted');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  });
}

function runChild(way: string, afterMs: number) {
  return new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [fixture, way, String(afterMs)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: CHILD_BOUND_MS,
      killSignal: 'SIGKILL',
    });
    let stderr = '';
    child.stderr.on('data', (part) => {
      stderr += part;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
}

function every(stepMs: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => i * stepMs);
}
