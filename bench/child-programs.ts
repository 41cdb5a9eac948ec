import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { within } from '../src/platform/clock.ts';
import type { BenchToDialler, DiallerOrder, DiallerReport, DiallerToBench } from './bench-messages.ts';

/** Programs of the bench beside this file, compiled or not. */
export type BenchProgram =
  | 'load-dialler'
  | 'bare-pacing'
  | 'bare-vad'
  | 'bare-room'
  | 'provider-slot'
  | 'room-caller';

const GONE_TIMEOUT_MS = 5_000;

/** Starts a program of the bench with a channel to it; its output goes where ours goes. */
export function startProgram(name: BenchProgram, args: readonly string[] = []): ChildProcess {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fork(fileURLToPath(new URL(`./${name}.${ending}`, import.meta.url)), args, { execArgv: [] });
}

/** Ends children that this bench started and waits until they are gone. */
export async function endPrograms(children: readonly ChildProcess[]): Promise<void> {
  const gone = children
    .filter((child) => child.exitCode === null && child.signalCode === null)
    .map((child) => {
      const exit = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      return exit;
    });
  await within(Promise.all(gone), GONE_TIMEOUT_MS, null);
}

/** The dialler's side of one measurement, as the bench sees it: an order, its stages, its report. */
export class DiallerRun {
  readonly child: ChildProcess;
  readonly report: Promise<DiallerReport>;
  private readonly stages = new Map<string, (message: DiallerToBench) => void>();
  private readonly passed = new Map<string, DiallerToBench>();
  private readonly failures: ((error: Error) => void)[] = [];
  private failure: Error | undefined;

  constructor(order: DiallerOrder) {
    this.child = startProgram('load-dialler');
    this.report = this.stage('report').then((message) => message.report);
    // A run that fails earlier tells it at the stage that is being waited for.
    this.report.catch(() => undefined);
    this.child.on('message', (message: DiallerToBench) => {
      if (message.type === 'failed') return this.fail(message.sentence);
      this.passed.set(message.type, message);
      this.stages.get(message.type)?.(message);
    });
    this.child.on('exit', (code, signal) => this.fail(`it ended early with ${signal ?? code}`));
    this.send({ type: 'order', order });
  }

  /** Resolves when the dialler reports this stage; rejects when it fails before. */
  stage<T extends DiallerToBench['type']>(type: T): Promise<DiallerToBench & { type: T }> {
    return new Promise((resolve, reject) => {
      const done = (message: DiallerToBench) => resolve(message as DiallerToBench & { type: T });
      const passed = this.passed.get(type);
      if (passed) return done(passed);
      if (this.failure) return reject(this.failure);
      this.stages.set(type, done);
      this.failures.push(reject);
    });
  }

  /** Everything that had to be read while the calls stood has been read. */
  finish(): void {
    this.send({ type: 'finish' });
  }

  private send(message: BenchToDialler): void {
    this.child.send(message, () => undefined);
  }

  private fail(sentence: string): void {
    this.failure ??= new Error(`the bench dialler: ${sentence}`);
    for (const reject of this.failures) reject(this.failure);
  }
}
