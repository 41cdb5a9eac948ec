import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { dieWithUs } from './die-with-us.ts';

/** A program of the stack must answer within this; a loaded machine takes seconds for what takes 200 ms alone. */
const START_TIMEOUT_MS = 60_000;
const LOOK_AGAIN_MS = 25;
/** Lines of a program's log that stand in an error. */
const SHOWN_LOG_CHARS = 3_000;

export interface ProgramOptions {
  name: string;
  path: string;
  args: readonly string[];
  /** Added to this process' own. */
  env: Record<string, string>;
  logFile: string;
  /** Answers whether the program really serves; asked again and again after a start. */
  isReady: () => Promise<boolean>;
}

/**
 * One program of the media stack, which can be killed and started again with the same arguments. The kernel ends it
 * when this process ends, however this process ends.
 */
export class StackProcess {
  private readonly options: ProgramOptions;
  private child: ChildProcess | undefined;
  private gone: Promise<void> = Promise.resolve();

  constructor(options: ProgramOptions) {
    this.options = options;
  }

  /** Starts it and waits until it serves. Throws with the end of its log. */
  async start(): Promise<void> {
    const { name, path, args, env, logFile, isReady } = this.options;
    await this.gone;
    const log = openSync(logFile, 'a');
    const program = dieWithUs(path, args);
    const child = spawn(program.path, program.args, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
    // A test that is over must not wait for a shared program.
    child.unref();
    this.child = child;
    this.gone = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isReady())) {
      if (!this.alive) throw new Error(`${name} ended while it started\n${this.logEnd()}`);
      if (Date.now() > deadline) {
        await this.kill('SIGKILL');
        throw new Error(`${name} did not answer within ${START_TIMEOUT_MS / 1000} s\n${this.logEnd()}`);
      }
      await wait(LOOK_AGAIN_MS);
    }
  }

  get alive(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Of the present process; -1 when there is none. */
  get pid(): number {
    return this.alive ? (this.child?.pid ?? -1) : -1;
  }

  get log(): string {
    return readFileSync(this.options.logFile, 'utf8');
  }

  /** Sends a signal and waits until the program is gone. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.child?.ref();
    if (this.alive) this.child?.kill(signal);
    await this.gone;
  }

  /** Sends a signal; says whether the program is gone within the time. */
  async ask(signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
    if (this.alive) this.child?.kill(signal);
    const timer = new AbortController();
    const late = wait(withinMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([this.gone, late]);
    timer.abort();
    return !this.alive;
  }

  private logEnd(): string {
    return this.log.slice(-SHOWN_LOG_CHARS);
  }
}
