import { WIDE_RATE_HZ } from '../../../contracts/limits.ts';
import { AppError } from '../../../platform/app-error.ts';
import { within } from '../../../platform/clock.ts';
import type { SttHandlers, SttResult, SttSession } from '../../contract/speech-to-text.ts';
import { type DecoderFiles, readHypothesis } from './decoder-files.ts';
import { BLOCK_SAMPLES, DecoderProcess } from './decoder-process.ts';
import { createWideBand, type WideBand } from './wide-band.ts';

/** Silence that ends an utterance inside the program: shorter pauses of a turn stay in one. */
const PAUSE_FRAMES = 100;
const FRAME_RATE_HZ = 100;

/**
 * How the decoder is tuned: by 14 recordings of people through 8 kHz, at two levels, behind digital silence and behind
 * noise of three strengths, each alone and all in a row: 223 of 224 turns were understood.
 *
 * `-wip` is the price of a word, which a run of phones pays far more often than words do: it is what tells speech
 * inside the grammar from other speech. Noise removal learns from the pause before a turn, and the pauses that a call
 * feeds are too short and too unlike each other for that. A voice must stand out more (`-vad_threshold`), but then
 * more of what came before it is kept (`-vad_prespeech`, 10 ms units). `-cmninit` is what the first turn of a call is
 * normalised by: the mean that the others settle on behind the mirrored band of wide-band.ts.
 */
export const DECODER_ARGS: readonly string[] = [
  ...['-vad_postspeech', `${PAUSE_FRAMES}`, '-vad_prespeech', '40', '-vad_threshold', '3.0'],
  ...['-remove_noise', 'no', '-wip', '1e-4', '-cmninit', '51,1,-3,7,1,-12,9,-16,0.5,3.5,-9,7,-3.5'],
  ...['-beam', '1e-80', '-pbeam', '1e-80', '-wbeam', '1e-60', '-lpbeam', '1e-60', '-lponlybeam', '1e-60'],
];

/** The pause, and what the program needs to notice that it began. */
const SILENCE_BLOCKS = Math.ceil(((PAUSE_FRAMES + 30) * (WIDE_RATE_HZ / FRAME_RATE_HZ)) / BLOCK_SAMPLES);

/** Silence that a new program hears before its first turn; after that the end of each turn is silence enough. */
const LEAD_IN_BLOCKS = 4;

/** A turn's text must be there within this after the flush, else `provider_timeout` and a new child. */
export const FLUSH_TIMEOUT_MS = 2_000;
/** Audio that waits for the program; with more it counts as hung and is replaced, and that audio is lost. */
export const MAX_WAITING_MS = 15_000;
/** So much of the open turn is kept for a new child, should this one die; the oldest is forgotten (RT-57). */
export const MAX_REPLAY_MS = 10_000;
/** Children that may break one after another without a turn's text between them; then the session is over. */
const MAX_BROKEN_IN_A_ROW = 2;

interface TurnEnd {
  kind: 'end';
  done: (result: SttResult | AppError) => void;
  /** Nobody waits for the text any more. */
  late: boolean;
}
type Step = { kind: 'audio'; samples: Int16Array } | TurnEnd;

export interface DecoderSessionSettings {
  files: DecoderFiles;
  unclearText: string;
  /** Of the audio that is fed: 8000 or 16000. */
  sampleRate: number;
}

/**
 * The decoder as a call uses it. Audio and turn ends stand in one queue, worked off in order: while a turn is being
 * ended, the audio of the next waits, so that no line can belong to the wrong turn. A child that dies is replaced and
 * hears the open turn again; only when that one dies too does the call learn of it.
 */
export class DecoderSession implements SttSession {
  private readonly settings: DecoderSessionSettings;
  private readonly handlers: SttHandlers;
  /** What one block of the decoder is made of. */
  private readonly silence: Int16Array;
  private decoder: DecoderProcess | null = null;
  private readonly steps: Step[] = [];
  private waitingSamples = 0;
  private working: Promise<void> | null = null;
  private closed = false;

  /** Audio at 16 kHz that does not fill a block yet. */
  private block = new Int16Array(BLOCK_SAMPLES);
  private blockFill = 0;
  private widen: WideBand;

  /** The open turn: its audio, what was heard in it, and why it can have no text, if so. */
  private turnAudio: Int16Array[] = [];
  private turnSamples = 0;
  private heard: (string | null)[] = [];
  private turnFailure: AppError | null = null;

  private brokenInARow = 0;
  /** What broke the last child that this session will have. */
  private over: AppError | null = null;

  private constructor(settings: DecoderSessionSettings, handlers: SttHandlers) {
    this.settings = settings;
    this.handlers = handlers;
    this.silence = new Int16Array((BLOCK_SAMPLES * settings.sampleRate) / WIDE_RATE_HZ);
    this.widen = createWideBand(settings.sampleRate);
  }

  static async open(settings: DecoderSessionSettings, handlers: SttHandlers): Promise<DecoderSession> {
    const session = new DecoderSession(settings, handlers);
    await session.startDecoder();
    return session;
  }

  /** Samples that were fed and that the decoder has not read yet; what does not fill a block is not counted. */
  get lagSamples(): number {
    const unread = this.decoder?.unreadSamples ?? 0;
    return this.waitingSamples + unread * (this.settings.sampleRate / WIDE_RATE_HZ);
  }

  feed(samples: Int16Array): void {
    if (this.closed || this.over || samples.length === 0) return;
    if (this.lagSamples + samples.length > this.samplesOf(MAX_WAITING_MS)) {
      const error = new AppError('provider_timeout', `pocketsphinx is more than ${MAX_WAITING_MS} ms behind`);
      this.dropSteps(error);
      this.forgetTurn();
      this.turnFailure = error;
      this.broke(this.decoder, error);
      return;
    }
    this.waitingSamples += samples.length;
    this.steps.push({ kind: 'audio', samples: samples.slice() });
    this.work();
  }

  async flush(signal: AbortSignal): Promise<SttResult> {
    signal.throwIfAborted();
    if (this.closed) throw new AppError('provider_failed', 'the speech-to-text session is closed');
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const end = this.endTurn();
    try {
      const ended = within(end.result, FLUSH_TIMEOUT_MS, 'late' as const);
      const result = await Promise.race([ended, aborted.promise]);
      if (result === 'late') {
        end.step.late = true;
        const error = new AppError(
          'provider_timeout',
          `pocketsphinx gave no text within ${FLUSH_TIMEOUT_MS} ms`,
        );
        this.broke(this.decoder, error);
        throw error;
      }
      if (result instanceof AppError) throw result;
      return result;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  discard(): void {
    if (!this.closed) this.endTurn().step.late = true;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.dropSteps(new AppError('provider_failed', 'the speech-to-text session was closed'));
    await this.decoder?.stop();
    await this.working;
    // A child that was being started meanwhile.
    await this.decoder?.stop();
    this.decoder = null;
  }

  private endTurn(): { step: TurnEnd; result: Promise<SttResult | AppError> } {
    const { promise, resolve } = Promise.withResolvers<SttResult | AppError>();
    const step: TurnEnd = { kind: 'end', done: resolve, late: false };
    this.steps.push(step);
    this.work();
    return { step, result: promise };
  }

  private work(): void {
    this.working ??= this.workOff().finally(() => {
      this.working = null;
    });
  }

  private async workOff(): Promise<void> {
    // The step that began the work is in the queue only after this call returns to it.
    await null;
    for (let step = this.steps.shift(); step; step = this.steps.shift()) {
      if (step.kind === 'audio') await this.takeAudio(step.samples);
      else step.done(await this.finishTurn(step));
    }
  }

  private async takeAudio(samples: Int16Array): Promise<void> {
    this.waitingSamples -= samples.length;
    if (this.turnFailure) return;
    this.turnAudio.push(samples);
    this.turnSamples += samples.length;
    while (this.turnSamples > this.samplesOf(MAX_REPLAY_MS) && this.turnAudio.length > 1) {
      this.turnSamples -= this.turnAudio.shift()?.length ?? 0;
    }
    if (this.decoder) this.writeWide(this.widen(samples));
    else await this.replaceDecoder();
  }

  private async finishTurn(step: TurnEnd): Promise<SttResult | AppError> {
    try {
      while (!this.over && !this.turnFailure && !this.closed && this.turnSamples > 0) {
        const decoder = this.decoder ?? (await this.replaceDecoder());
        const text = decoder ? await this.decode(decoder) : null;
        if (text !== null) {
          this.brokenInARow = 0;
          return { text, confidence: null };
        }
        // A turn that took too long for one child would do so for the next.
        if (step.late) break;
      }
      return this.over ?? this.turnFailure ?? { text: '', confidence: null };
    } finally {
      this.turnFailure = null;
      this.forgetTurn();
    }
  }

  /** Makes the decoder say all that it heard in the turn; null when it broke over it. */
  private async decode(decoder: DecoderProcess): Promise<string | null> {
    try {
      for (let block = 0; block < SILENCE_BLOCKS; block++) this.writeWide(this.widen(this.silence));
      this.writeWide(new Int16Array(BLOCK_SAMPLES - this.blockFill));
      // The program has dealt with a block when it reads the next, so one more is needed.
      this.writeWide(new Int16Array(BLOCK_SAMPLES));
      await decoder.settled();
      return this.textOfTurn();
    } catch (error) {
      this.broke(decoder, error as AppError);
      return null;
    }
  }

  private writeWide(wide: Int16Array): void {
    for (let from = 0; from < wide.length; ) {
      const part = wide.subarray(from, from + BLOCK_SAMPLES - this.blockFill);
      this.block.set(part, this.blockFill);
      this.blockFill += part.length;
      from += part.length;
      if (this.blockFill === BLOCK_SAMPLES) {
        this.decoder?.write(this.block);
        this.block = new Int16Array(BLOCK_SAMPLES);
        this.blockFill = 0;
      }
    }
  }

  /** Starts a child that hears the open turn from its beginning; null when that is no more to be tried. */
  private async replaceDecoder(): Promise<DecoderProcess | null> {
    while (!this.over && !this.closed) {
      try {
        await this.startDecoder();
        for (const samples of this.turnAudio) this.writeWide(this.widen(samples));
        return this.decoder;
      } catch (error) {
        this.broke(null, error as AppError);
      }
    }
    return null;
  }

  private async startDecoder(): Promise<void> {
    let started: DecoderProcess | null = null;
    started = await DecoderProcess.start(this.settings.files, DECODER_ARGS, {
      onLine: (line) => {
        if (started !== null && this.decoder === started) this.hear(line);
      },
      onDeath: (error) => {
        if (started !== null) this.broke(started, error);
      },
    });
    this.decoder = started;
    this.heard = [];
    this.blockFill = 0;
    this.widen = createWideBand(this.settings.sampleRate);
    // Speech is told from what came before it, so a voice that begins at once would lose its first sound.
    for (let block = 0; block < LEAD_IN_BLOCKS; block++) this.writeWide(new Int16Array(BLOCK_SAMPLES));
  }

  private hear(line: string): void {
    const text = readHypothesis(line);
    if (text === '') return;
    this.heard.push(text);
    this.handlers.onInterim(this.textOfTurn());
  }

  /** What was understood counts; only where nothing was, the turn is unclear. */
  private textOfTurn(): string {
    const understood = this.heard.filter((text) => text !== null);
    if (understood.length > 0) return understood.join(' ');
    return this.heard.length > 0 ? this.settings.unclearText : '';
  }

  /** `decoder` is of no more use: the next audio or turn end starts another, or the session is over. */
  private broke(decoder: DecoderProcess | null, error: AppError): void {
    if (this.closed || this.over || decoder !== this.decoder) return;
    this.decoder = null;
    this.heard = [];
    void decoder?.stop();
    if (++this.brokenInARow < MAX_BROKEN_IN_A_ROW) return;
    this.over = error;
    this.handlers.onFailure(error);
  }

  private samplesOf(ms: number): number {
    return (ms * this.settings.sampleRate) / 1000;
  }

  private forgetTurn(): void {
    this.turnAudio = [];
    this.turnSamples = 0;
    this.heard = [];
  }

  private dropSteps(error: AppError): void {
    for (const step of this.steps.splice(0)) if (step.kind === 'end') step.done(error);
    this.waitingSamples = 0;
  }
}
