import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { AppError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import { findEngine } from '../../platform/engine-programs.ts';

/** The last so many characters of a program's error stream are kept for the error message. */
const MAX_STDERR_CHARS = 4_000;
/** Between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 500;

export interface EngineExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One running speech program. It is over only when the system has reaped it: `exited` says so. */
export interface ChildEngine {
  readonly process: ChildProcess;
  /** Resolves when the program has ended and was reaped; rejects never. `null` where it could not even start. */
  readonly exited: Promise<EngineExit | null>;
  /** What the program said last on its error stream, as one line; only lines that match, where a pattern is given. */
  complaint(lines?: RegExp): string;
}

/**
 * Starts a speech program with a fixed environment, so that nothing of the host reaches it.
 *
 * `dieWithParent` is for programs that could outlive us because they do not read from us all the time: the kernel
 * ends them when this process ends, however it ends (needs `setpriv` of util-linux, part of every Debian).
 * Throws `engine_missing` with the package to install.
 */
export function startEngine(options: {
  program: string;
  debianPackages: string;
  args: readonly string[];
  stdio: StdioOptions;
  dieWithParent?: boolean;
}): ChildEngine {
  const engine = findEngine(options.program);
  if (!engine) {
    throw new AppError(
      'engine_missing',
      `the program ${options.program} is not installed; run "apt-get install ${options.debianPackages}" or "npm run setup"`,
    );
  }
  const setpriv = options.dieWithParent ? findEngine('setpriv') : null;
  const [path, args] = setpriv
    ? [setpriv.path, ['--pdeathsig', 'KILL', engine.path, ...options.args]]
    : [engine.path, options.args];
  const child = spawn(path, args, {
    stdio: options.stdio,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...engine.env },
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_STDERR_CHARS);
  });
  // A write to a program that has just ended fails; its exit is what counts, and is reported once.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  const exited = new Promise<EngineExit | null>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => {
      if (child.pid === undefined) resolve(null);
    });
  });
  const complaint = (lines = /\S/) =>
    said
      .split('\n')
      .filter((line) => lines.test(line))
      .join(' ')
      .trim();
  return { process: child, exited, complaint };
}

/** Asks the program to end, then makes it. Resolves when it is gone; never rejects. */
export async function stopEngine(engine: ChildEngine): Promise<void> {
  if (engine.process.pid === undefined) return;
  engine.process.kill('SIGTERM');
  if ((await within(engine.exited, TERM_GRACE_MS, 'still there')) === 'still there') {
    engine.process.kill('SIGKILL');
    await engine.exited;
  }
}
