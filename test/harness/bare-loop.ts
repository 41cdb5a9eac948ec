import { spawn } from 'node:child_process';

/** A loop of this many milliseconds, as the pacer of a slot is one. */
const STEP_MS = 20;
/** One for each core of the reference machine. */
const LOOPS = 2;

const PROGRAM = `
  const now = () => Number(process.hrtime.bigint() / 1000n) / 1000;
  let dueMs = now() + ${STEP_MS};
  const turn = () => {
    const atMs = now();
    process.stdout.write(atMs + ' ' + (atMs - dueMs) + '\\n');
    dueMs = Math.max(dueMs + ${STEP_MS}, atMs);
    setTimeout(turn, dueMs - now());
  };
  setTimeout(turn, ${STEP_MS});
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Processes that do nothing but wake up every 20 ms: how late they do is the machine's share of any lateness. */
export class BareLoop {
  private readonly turns: { atMs: number; lateMs: number }[] = [];
  private readonly children = Array.from({ length: LOOPS }, () =>
    spawn(process.execPath, ['-e', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  /** From this process's clock to that of the loops. */
  private readonly offsetMs = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now();

  constructor(t: { teardown(end: () => unknown): unknown }) {
    for (const child of this.children) {
      let rest = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const [atMs = 0, lateMs = 0] = line.split(' ').map(Number);
          this.turns.push({ atMs: atMs - this.offsetMs, lateMs });
        }
      });
    }
    t.teardown(() => {
      for (const child of this.children) child.kill('SIGKILL');
    });
  }

  /** What a machine that makes each of so many waits as late as the worst of them may add to a time. */
  shareMs(waits: number, fromMs: number, toMs = performance.now()): number {
    return waits * this.latestMs(fromMs, toMs);
  }

  /** The worst of all that woke up between two moments of `performance.now()`. */
  latestMs(fromMs: number, toMs: number): number {
    const seen = this.turns.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs + STEP_MS);
    return Math.max(0, ...seen.map(({ lateMs }) => lateMs));
  }
}
