import type { AppError } from '../../platform/app-error.ts';
import { openVendorSocket, type VendorSocket, type VendorSocketOptions } from '../connect/vendor-socket.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import { providerError } from '../contract/provider-error.ts';
import type { SttHandlers, SttResult, SttSession } from '../contract/speech-to-text.ts';
import { AudioOutlet } from './audio-outlet.ts';
import { FlushWait } from './flush-wait.ts';
import type { SttSettings } from './stt-settings.ts';
import { sessionIsOver } from './stt-settings.ts';
import { TurnText } from './turn-text.ts';
import { readVendorMessage, type VendorMessage } from './vendor-message.ts';

/** Largest message of an engine: a final with a word list of some minutes. */
const MAX_MESSAGE_BYTES = 1_048_576;

/** One vendor's protocol: what it wants to hear, and what its messages mean. Holds the state of one session. */
export interface SttDialect {
  onMessage(message: VendorMessage, raw: string): void;
  /** The socket is open; nothing has been sent yet. */
  onOpen?(socket: VendorSocket): void;
  /** Audio as it goes on the wire; without it binary frames as they are. */
  wrapAudio?(chunk: Buffer): string;
  /** Audio was fed; what it needs on the wire before it goes first. */
  beforeAudio?(): void;
  /**
   * The turn ended: ask the vendor to settle it. Returns how long its answer may take; 0 where nothing is to be waited
   * for. `session.answered()` ends the wait.
   */
  finishTurn(): number;
  /** The text of the turn was taken or discarded. */
  onTaken?(): void;
  /** The vendor's own last message; without it the socket is closed with a close frame. */
  farewell?(): string;
  /** The session is over: stop timers. */
  onOver?(): void;
}

export interface StreamOptions {
  settings: SttSettings;
  context: ProviderContext;
  chunkMs: number;
  /** Between settled pieces of text. */
  separator: ' ' | '';
  socket: Pick<
    VendorSocketOptions,
    'url' | 'headers' | 'protocols' | 'keepAlive' | 'readRefusal' | 'readClose'
  >;
  /** Whether the vendor says when audio may come; `session.ready()` is called by the dialect then. */
  waitsForReady: boolean;
  dialect(session: StreamSession): SttDialect;
}

/** Where a piece of text lies in the caller's audio, in samples; null where the vendor does not say. */
export interface AudioSpan {
  fromSample: number;
  toSample: number;
}

/** One session with a streaming engine behind a socket. Breaks honestly and once; it does not reconnect. */
export class StreamSession implements SttSession {
  readonly text: TurnText;
  readonly outlet: AudioOutlet;
  readonly handlers: SttHandlers;
  readonly context: ProviderContext;
  readonly settings: SttSettings;
  private readonly wait: FlushWait;
  private readonly dialect: SttDialect;
  private readonly options: StreamOptions;
  private openSocket: VendorSocket | undefined;
  private over = false;
  private markReady: () => void = () => undefined;
  private failOpening: ((error: AppError) => void) | undefined;
  /** Words up to here were given to the call or thrown away; what the vendor says about them later is dropped. */
  private settledSample = 0;
  private flushedSample = 0;

  /** Dials, and waits until audio may be sent. Rejects with AppErrors of `providerError`. */
  static async open(options: StreamOptions, handlers: SttHandlers): Promise<StreamSession> {
    const session = new StreamSession(options, handlers);
    await session.open();
    return session;
  }

  private constructor(options: StreamOptions, handlers: SttHandlers) {
    this.options = options;
    this.settings = options.settings;
    this.context = options.context;
    this.handlers = handlers;
    this.text = new TurnText(options.separator);
    this.wait = new FlushWait(options.context.clock);
    const dialect = options.dialect(this);
    this.dialect = dialect;
    this.outlet = new AudioOutlet({
      context: options.context,
      provider: options.settings.known.provider,
      chunkMs: options.chunkMs,
      send: (chunk, evenIfCongested) => {
        const message = dialect.wrapAudio ? dialect.wrapAudio(chunk) : chunk;
        if (!evenIfCongested) return this.socket.offer(message);
        this.socket.send(message);
        return true;
      },
    });
  }

  get socket(): VendorSocket {
    if (!this.openSocket) throw new Error('the session has no socket yet');
    return this.openSocket;
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Whether a `flush` waits for the vendor. */
  get isFinishing(): boolean {
    return this.wait.isPending;
  }

  feed(samples: Int16Array): void {
    if (this.over || samples.length === 0) return;
    this.dialect.beforeAudio?.();
    this.outlet.feed(samples);
  }

  async flush(signal: AbortSignal): Promise<SttResult> {
    signal.throwIfAborted();
    if (this.over) throw sessionIsOver(this.settings.known.provider);
    const endSample = this.outlet.fedSamples;
    if (endSample === this.flushedSample && this.text.isEmpty) return { text: '', confidence: null };
    this.flushedSample = endSample;
    const limitMs = this.dialect.finishTurn();
    try {
      const how = limitMs === 0 ? 'at once' : await this.wait.wait(limitMs, signal);
      // A vendor that was only given the time to object may still come with words: those belong to the next turn.
      if (how === 'answered' || this.text.guess !== '') this.settledSample = endSample;
      return this.text.take();
    } catch (error) {
      this.settledSample = endSample;
      this.text.clear();
      throw error;
    } finally {
      this.dialect.onTaken?.();
    }
  }

  discard(): void {
    this.settledSample = this.outlet.fedSamples;
    this.flushedSample = this.outlet.fedSamples;
    this.text.clear();
    this.dialect.onTaken?.();
  }

  async close(): Promise<void> {
    const wasOver = this.over;
    this.end();
    this.wait.fail(sessionIsOver(this.settings.known.provider));
    const farewell = wasOver ? undefined : this.dialect.farewell?.();
    await this.openSocket?.close(farewell === undefined ? {} : { farewell });
  }

  /** For dialects: the vendor is ready for audio. */
  ready(): void {
    this.markReady();
  }

  /** For dialects: the answer to `finishTurn` is there. */
  answered(): void {
    this.wait.answer();
  }

  /** For dialects: the vendor said that it failed, before or instead of closing. */
  fail(error: AppError): void {
    this.socket.fail(error);
  }

  /** For dialects: the vendor's seconds as samples of the call. */
  span(fromSeconds: number | null, toSeconds: number | null): AudioSpan | null {
    if (toSeconds === null) return null;
    const toSample = this.outlet.fedSampleAt(toSeconds);
    return { fromSample: fromSeconds === null ? toSample : this.outlet.fedSampleAt(fromSeconds), toSample };
  }

  /** For dialects: whether words from there were given to the call or discarded already. */
  isSettled(span: AudioSpan | null): boolean {
    if (span === null || this.settledSample === 0) return false;
    return (span.fromSample + span.toSample) / 2 <= this.settledSample;
  }

  /**
   * For dialects: text that will not change any more, '' for settled silence. `uptoSample` is where it ends in the
   * caller's audio. The dialect has left out what `isSettled` knows.
   */
  settle(piece: {
    text: string;
    confidence: number | null;
    uptoSample: number | null;
    language?: string | null;
  }): void {
    const text = this.options.separator === ' ' ? piece.text.trim() : piece.text;
    const language = piece.language ?? null;
    this.text.settle(text, piece.confidence, language);
    const { confidence, uptoSample } = piece;
    if (text !== '' || uptoSample !== null)
      this.handlers.onFinal?.({ text, confidence, uptoSample, language });
    if (text !== '') this.tellInterim();
  }

  /** For dialects: what the vendor guesses beyond what it settled. */
  guess(text: string): void {
    const guess = this.options.separator === ' ' ? text.trim() : text;
    if (guess === this.text.guess) return;
    this.text.guess = guess;
    if (guess !== '') this.tellInterim();
  }

  private tellInterim(): void {
    if (this.settings.interim) this.handlers.onInterim(this.text.text);
  }

  private async open(): Promise<void> {
    const { settings, context, socket: own } = this.options;
    const opened = new Promise<void>((resolve, reject) => {
      this.markReady = resolve;
      this.failOpening = reject;
    });
    opened.catch(() => undefined);
    const socket = await openVendorSocket({
      ...own,
      provider: settings.known.provider,
      family: 'stt',
      clock: context.clock,
      onAccepted: context.accepted,
      secrets: [settings.apiKey],
      handshakeTimeoutMs: settings.handshakeTimeoutMs,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      highWaterBytes: AudioOutlet.highWaterBytes(context.sampleRate),
      onMessage: (message, from) => {
        this.openSocket ??= from;
        if (this.over) return;
        const raw = typeof message === 'string' ? message : message.toString('utf8');
        this.dialect.onMessage(readVendorMessage(raw), raw);
      },
      onEnd: (error) => this.onEnd(error),
      onRoom: () => this.outlet.pump(),
    });
    this.openSocket = socket;
    this.dialect.onOpen?.(socket);
    if (!this.options.waitsForReady) this.markReady();
    const cancel = context.clock.after(settings.handshakeTimeoutMs, () => socket.fail(this.notReady()));
    try {
      await opened;
    } finally {
      cancel();
      this.failOpening = undefined;
    }
  }

  private notReady(): AppError {
    const { known, handshakeTimeoutMs } = this.settings;
    return providerError(
      { provider: known.provider, family: 'stt', class: 'transient', status: null },
      `${known.provider} (stt) opened the connection but was not ready within ${handshakeTimeoutMs} ms`,
      'provider_timeout',
    );
  }

  private onEnd(error: AppError): void {
    const wasOver = this.over;
    this.end();
    this.wait.fail(error);
    if (this.failOpening) this.failOpening(error);
    else if (!wasOver) this.handlers.onFailure(error);
  }

  private end(): void {
    if (this.over) return;
    this.over = true;
    this.outlet.reportDropped();
    this.dialect.onOver?.();
  }
}
