import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { SttHandlers, SttResult, SttSession } from '../speech-to-text.ts';
import { type DecoderFiles, readHypothesis } from './decoder-files.ts';
import { BLOCK_SAMPLES, DecoderProcess } from './decoder-process.ts';
import { createWideBand, WIDE_RATE_HZ } from './wide-band.ts';

/** Silence that ends an utterance inside the program: shorter pauses of a turn stay in one. */
const PAUSE_FRAMES = 100;
const FRAME_RATE_HZ = 100;

/**
 * How the decoder is tuned; measured on 14 recordings of people through 8 kHz, alone and in a row. `-wip` is the
 * price of a word, which a run of phones pays far more often than words do: it is what tells them apart.
 */
export const DECODER_ARGS: readonly string[] = [
  ...['-vad_postspeech', `${PAUSE_FRAMES}`],
  ...['-wip', '1e-4'],
  ...['-beam', '1e-80', '-pbeam', '1e-80', '-wbeam', '1e-60', '-lpbeam', '1e-60', '-lponlybeam', '1e-60'],
];

/** The pause, and what the program needs to notice that it began. */
const SILENCE_BLOCKS = Math.ceil(((PAUSE_FRAMES + 30) * (WIDE_RATE_HZ / FRAME_RATE_HZ)) / BLOCK_SAMPLES);
const SILENCE = new Int16Array((BLOCK_SAMPLES * LINE_RATE_HZ) / WIDE_RATE_HZ);

/** A turn's text must be there within this after the flush, else `provider_timeout` and a new child. */
export const FLUSH_TIMEOUT_MS = 2_000;
/** Audio that waits for the program; with more it counts as hung and is replaced, and the turn is lost. */
export const MAX_WAITING_MS = 10_000;
/** Children that may break one after another without a turn's text between them; then the session is over. */
const MAX_BROKEN_IN_A_ROW = 2;

type Step =
  | { kind: 'audio'; samples: Int16Array }
  | { kind: 'end'; done: (result: SttResult | AppError) => void };

export interface DecoderSessionSettings {
  files: DecoderFiles;
  unclearText: string;
}

/**
 * The decoder as a call uses it. Audio and turn ends stand in one queue, worked off in order: while a turn is being
 * ended, the audio of the next waits, so that no line can belong to the wrong turn.
 */
export class DecoderSession implements SttSession {
  readonly #settings: DecoderSessionSettings;
  readonly #handlers: SttHandlers;
  #decoder: DecoderProcess | null = null;
  readonly #steps: Step[] = [];
  #waitingSamples = 0;
  #working: Promise<void> | null = null;
  #closed = false;

  /** Audio of the open turn that does not fill a block yet. */
  #block = new Int16Array(BLOCK_SAMPLES);
  #blockFill = 0;
  #widen = createWideBand();
  /** The open turn: whether it has audio, and what was heard in it. */
  #hasAudio = false;
  #heard: (string | null)[] = [];
  #brokenInARow = 0;
  #failureTold = false;
  /** Why the open turn can have no text any more, though the next one can. */
  #turnFailure: AppError | null = null;

  private constructor(settings: DecoderSessionSettings, handlers: SttHandlers) {
    this.#settings = settings;
    this.#handlers = handlers;
  }

  static async open(settings: DecoderSessionSettings, handlers: SttHandlers): Promise<DecoderSession> {
    const session = new DecoderSession(settings, handlers);
    await session.#startDecoder();
    return session;
  }

  /** Process id of the decoder at work, null while there is none. */
  get pid(): number | null {
    return this.#decoder?.pid ?? null;
  }

  feed(samples: Int16Array): void {
    if (this.#closed || samples.length === 0) return;
    const unread = (this.#decoder?.unreadSamples ?? 0) * (LINE_RATE_HZ / WIDE_RATE_HZ);
    if (this.#waitingSamples + samples.length + unread > (MAX_WAITING_MS / 1000) * LINE_RATE_HZ) {
      const error = new AppError('provider_timeout', `pocketsphinx is more than ${MAX_WAITING_MS} ms behind`);
      this.#dropSteps(error);
      this.#turnFailure = error;
      this.#broke(this.#decoder, error);
      return;
    }
    this.#waitingSamples += samples.length;
    this.#steps.push({ kind: 'audio', samples: samples.slice() });
    this.#work();
  }

  async flush(signal: AbortSignal): Promise<SttResult> {
    signal.throwIfAborted();
    if (this.#closed) throw new AppError('provider_failed', 'the speech-to-text session is closed');
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const result = await Promise.race([
        within(this.#endTurn(), FLUSH_TIMEOUT_MS, 'late' as const),
        promise,
      ]);
      if (result === 'late') {
        const error = new AppError(
          'provider_timeout',
          `pocketsphinx gave no text within ${FLUSH_TIMEOUT_MS} ms`,
        );
        this.#broke(this.#decoder, error);
        throw error;
      }
      if (result instanceof AppError) throw result;
      return result;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  discard(): void {
    if (!this.#closed) void this.#endTurn();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#dropSteps(new AppError('provider_failed', 'the speech-to-text session was closed'));
    await this.#decoder?.stop();
    await this.#working;
    // A child that was being started meanwhile.
    await this.#decoder?.stop();
    this.#decoder = null;
  }

  #endTurn(): Promise<SttResult | AppError> {
    return new Promise((done) => {
      this.#steps.push({ kind: 'end', done });
      this.#work();
    });
  }

  #work(): void {
    if (this.#working) return;
    this.#working = this.#workOff().finally(() => {
      this.#working = null;
    });
  }

  async #workOff(): Promise<void> {
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      if (step.kind === 'audio') await this.#takeAudio(step.samples);
      else step.done(await this.#finishTurn());
    }
  }

  async #takeAudio(samples: Int16Array): Promise<void> {
    this.#waitingSamples -= samples.length;
    if (this.#turnFailure) return;
    this.#hasAudio = true;
    if (!this.#decoder && !this.#closed && this.#brokenInARow < MAX_BROKEN_IN_A_ROW) {
      await this.#startDecoder().catch((error: AppError) => this.#broke(null, error));
    }
    this.#writeWide(this.#widen(samples));
  }

  async #finishTurn(): Promise<SttResult | AppError> {
    const decoder = this.#decoder;
    const failure = this.#turnFailure;
    const hadAudio = this.#hasAudio;
    this.#turnFailure = null;
    this.#hasAudio = false;
    if (failure) return failure;
    if (!hadAudio) return { text: '', confidence: null };
    if (!decoder) return new AppError('provider_failed', 'pocketsphinx broke too often in this call');
    try {
      for (let block = 0; block < SILENCE_BLOCKS; block++) this.#writeWide(this.#widen(SILENCE));
      this.#writeWide(new Int16Array(BLOCK_SAMPLES - this.#blockFill));
      // The program has dealt with a block when it reads the next, so one more is needed.
      this.#writeWide(new Int16Array(BLOCK_SAMPLES));
      await decoder.settled();
      this.#brokenInARow = 0;
      return { text: this.#textOfTurn(), confidence: null };
    } catch (error) {
      this.#broke(decoder, error as AppError);
      return error as AppError;
    } finally {
      this.#heard = [];
    }
  }

  #writeWide(wide: Int16Array): void {
    for (let from = 0; from < wide.length; ) {
      const part = wide.subarray(from, from + BLOCK_SAMPLES - this.#blockFill);
      this.#block.set(part, this.#blockFill);
      this.#blockFill += part.length;
      from += part.length;
      if (this.#blockFill === BLOCK_SAMPLES) {
        this.#decoder?.write(this.#block);
        this.#block = new Int16Array(BLOCK_SAMPLES);
        this.#blockFill = 0;
      }
    }
  }

  async #startDecoder(): Promise<void> {
    let started: DecoderProcess | null = null;
    started = await DecoderProcess.start(this.#settings.files, DECODER_ARGS, {
      onLine: (line) => {
        if (started !== null && this.#decoder === started) this.#hear(line);
      },
      onDeath: (error) => this.#broke(started, error),
    });
    this.#decoder = started;
    this.#blockFill = 0;
    this.#widen = createWideBand();
  }

  #hear(line: string): void {
    const text = readHypothesis(line);
    if (text === '') return;
    this.#heard.push(text);
    this.#handlers.onInterim(this.#textOfTurn());
  }

  /** What was understood counts; only where nothing was, the turn is unclear. */
  #textOfTurn(): string {
    const understood = this.#heard.filter((text) => text !== null);
    if (understood.length > 0) return understood.join(' ');
    return this.#heard.length > 0 ? this.#settings.unclearText : '';
  }

  /**
   * `decoder` is of no more use. The open turn is lost, since half its audio would make a wrong text and not a short
   * one; the first audio of the next turn starts a new child.
   */
  #broke(decoder: DecoderProcess | null, error: AppError): void {
    if (this.#closed || decoder !== this.#decoder) return;
    this.#decoder = null;
    this.#brokenInARow++;
    if (this.#hasAudio) this.#turnFailure = error;
    this.#heard = [];
    void decoder?.stop();
    if (this.#failureTold) return;
    this.#failureTold = true;
    this.#handlers.onFailure(error);
  }

  #dropSteps(error: AppError): void {
    for (const step of this.#steps.splice(0)) if (step.kind === 'end') step.done(error);
    this.#waitingSamples = 0;
  }
}
