import { execFile } from 'node:child_process';
import { constants, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AppError } from '../../../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../../platform/clock.ts';
import { findEngineData } from '../../../platform/engine-programs.ts';
import { type ChildEngine, startEngine, stopEngine } from '../../connect/child-engine.ts';
import type { DecoderFiles } from './decoder-files.ts';

/**
 * One running pocketsphinx_continuous, fed through a named pipe.
 *
 * The program tells nobody when it has dealt with what it was given; a caller who said nothing would look like one
 * whose words are still being decoded. But it reads block by block and deals with each before it reads the next, and
 * the kernel counts what it has read (`rchar` of /proc/pid/io). So once it has read block n + 1, whatever block n
 * completed stands in its output. A named pipe serves because the program opens its input by name, which a socket, as
 * a child's standard input is here, does not allow; and because it opens it after it has loaded its models, which is
 * when counting begins.
 */

/** The program reads this many samples at a time. */
export const BLOCK_SAMPLES = 2048;
const BLOCK_BYTES = BLOCK_SAMPLES * 2;

/** Loading takes some 20 ms on an idle machine. */
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 4;
const ACOUSTIC_MODEL = '/usr/share/pocketsphinx/model/en-us/en-us';
const ERROR_LINES = /^(?:ERROR|FATAL)/;

export interface DecoderHandlers {
  /** One utterance, as the program found it. */
  onLine(line: string): void;
  /** The program ended though nobody stopped it. Once. */
  onDeath(error: AppError): void;
}

export class DecoderProcess {
  private readonly engine: ChildEngine;
  private readonly pipe: Socket;
  private readonly handlers: DecoderHandlers;
  /** `rchar` before the first block. */
  private readonly readBefore: number;
  private writtenBytes = 0;
  private stopping = false;
  private death: AppError | null = null;

  private constructor(engine: ChildEngine, pipe: Socket, readBefore: number, handlers: DecoderHandlers) {
    this.engine = engine;
    this.pipe = pipe;
    this.handlers = handlers;
    this.readBefore = readBefore;
    pipe.on('error', () => undefined);
    if (engine.process.stdout) {
      createInterface({ input: engine.process.stdout }).on('line', (line) => handlers.onLine(line));
    }
    void engine.exited.then((exit) => this.died(exit?.signal ?? `code ${exit?.code}`));
  }

  /**
   * Starts the program and waits until it takes audio. `args` tune the decoder. Throws `engine_missing`,
   * `bad_provider_config` where it refuses the grammar, `provider_failed`, `provider_timeout`.
   */
  static async start(
    files: DecoderFiles,
    args: readonly string[],
    handlers: DecoderHandlers,
  ): Promise<DecoderProcess> {
    const model = findEngineData(ACOUSTIC_MODEL);
    if (!model) {
      throw new AppError(
        'engine_missing',
        'the acoustic model is not installed; run "apt-get install pocketsphinx-en-us" or "npm run setup"',
      );
    }
    // The folder's own mode keeps others out: the grammar may hold names of customers.
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-stt-'));
    let engine: ChildEngine | undefined;
    try {
      const path = (name: string) => join(folder, name);
      await promisify(execFile)('mkfifo', ['-m', '600', path('audio')]);
      await writeFile(path('grammar'), files.grammar, { mode: 0o600 });
      await writeFile(path('dictionary'), files.dictionary, { mode: 0o600 });
      engine = startEngine({
        program: 'pocketsphinx_continuous',
        debianPackages: 'pocketsphinx pocketsphinx-en-us',
        args: [
          ...['-infile', path('audio'), '-hmm', model, '-dict', path('dictionary')],
          ...['-jsgf', path('grammar'), '-toprule', files.topRule, ...args],
        ],
        stdio: ['ignore', 'pipe', 'pipe'],
        dieWithParent: true,
      });
      const pipe = await connect(engine, path('audio'));
      const readBefore = readChars(engine);
      if (!Number.isFinite(readBefore)) {
        pipe.destroy();
        throw new AppError(
          'provider_failed',
          `/proc/${engine.process.pid}/io cannot be read; mount /proc readable`,
        );
      }
      return new DecoderProcess(engine, pipe, readBefore, handlers);
    } catch (error) {
      if (engine) await stopEngine(engine);
      throw error;
    } finally {
      // Both sides hold the pipe open by now and the texts are read, so even a kill leaves no file behind.
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Samples that the program has not read yet. */
  get unreadSamples(): number {
    if (this.death || this.stopping) return 0;
    return Math.max(0, this.writtenBytes - (readChars(this.engine) - this.readBefore)) / 2;
  }

  /** `block` holds {@link BLOCK_SAMPLES} samples at 16 kHz and is given away. */
  write(block: Int16Array): void {
    if (this.death || this.stopping) return;
    if (block.length !== BLOCK_SAMPLES)
      throw new Error(`a block has ${BLOCK_SAMPLES} samples, not ${block.length}`);
    this.writtenBytes += BLOCK_BYTES;
    this.pipe.write(Buffer.from(block.buffer, block.byteOffset, block.byteLength));
  }

  /**
   * Resolves once everything but the last block has been dealt with and its lines have been told. Throws what ended
   * the program. It waits as long as it takes: who cannot wait stops the program.
   */
  async settled(): Promise<void> {
    while (this.unreadSamples > 0) await sleepMs(POLL_MS);
    if (this.death) throw this.death;
    if (this.stopping) throw new AppError('provider_failed', 'the speech decoder was stopped');
    // The lines are in our pipe; one full turn of the event loop reads them, and two contain a full one.
    await nextTurn();
    await nextTurn();
  }

  /** Idempotent, never rejects; resolves when the program is gone. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.pipe.destroy();
    await stopEngine(this.engine);
  }

  private died(how: string): void {
    this.pipe.destroy();
    if (this.stopping) return;
    const reason = this.engine.complaint(ERROR_LINES) || 'it gave no reason';
    this.death = new AppError('provider_failed', `pocketsphinx ended with ${how}: ${reason}`);
    this.handlers.onDeath(this.death);
  }
}

/** Opens our end of the pipe as soon as the program has opened its own. */
async function connect(engine: ChildEngine, path: string): Promise<Socket> {
  let ended = false;
  void engine.exited.then(() => {
    ended = true;
  });
  const deadlineMs = monotonicMs() + START_TIMEOUT_MS;
  while (monotonicMs() < deadlineMs) {
    if (ended) throw startFailure(engine);
    const fd = openForWriting(path);
    if (fd !== null) return new Socket({ fd, readable: false, writable: true });
    await sleepMs(POLL_MS);
  }
  throw new AppError('provider_timeout', `pocketsphinx did not get ready within ${START_TIMEOUT_MS} ms`);
}

/** The descriptor, or null while nobody reads from the pipe, when an ordinary open would wait. */
function openForWriting(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return null;
    throw error;
  }
}

function startFailure(engine: ChildEngine): AppError {
  const reason = engine.complaint(ERROR_LINES) || 'it gave no reason';
  const ofGrammar = /jsgf|fsg|dict|grammar/i.test(reason);
  return ofGrammar
    ? new AppError('bad_provider_config', `stt.grammar cannot be used by pocketsphinx: ${reason}`)
    : new AppError('provider_failed', `pocketsphinx did not start: ${reason}`);
}

/** Characters that the program has read so far; those of an ended one count as endless. */
function readChars(engine: ChildEngine): number {
  try {
    const counters = readFileSync(`/proc/${engine.process.pid}/io`, 'latin1');
    return Number(/^rchar: (\d+)/m.exec(counters)?.[1]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
