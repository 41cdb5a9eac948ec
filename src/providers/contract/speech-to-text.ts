/**
 * Speech to text as a call uses it: a session per call, fed with the caller's audio as it comes, flushed when the
 * turn ends. Made for streaming engines, cloud sockets and local programs alike.
 */
export interface SttResult {
  /** Everything heard since the last flush or discard, '' where nothing was. */
  text: string;
  /** 0 to 1, null where the engine gives none. */
  confidence: number | null;
  /** BCP 47, where the engine says what it heard. */
  language?: string | null;
  /**
   * There was speech in it, as {@link SttSession.speechHeard} told, and no engine that was asked has said a word of it.
   * From the layers that watch over engines, as in the `end` of a turn.
   */
  isUnheard?: boolean;
}

/** A piece of text that the engine will not change any more. */
export interface SttFinal {
  text: string;
  confidence: number | null;
  /** Samples fed to this session so far that the text covers; null where the engine does not say. */
  uptoSample: number | null;
  language?: string | null;
}

/** Turn events of engines that detect turns, in one vocabulary (RT-05). `text` is the whole text of the turn so far. */
export type SttTurnEvent =
  | { type: 'start' }
  /** Probably over: a reply may be prepared. */
  | { type: 'eager_end'; text: string; confidence: number | null }
  /** The caller went on after an eager end. */
  | { type: 'resumed' }
  | { type: 'end'; text: string; confidence: number | null; isUnheard?: boolean };

export interface SttSession {
  /** Caller audio, LINEAR16 at the rate of the context, in order. The engine may keep a reference until the next call only: copy it. */
  feed(samples: Int16Array): void;
  /** The turn ended: resolves with its text. Rejects with AppError (`provider_timeout`, `provider_failed`). */
  flush(signal: AbortSignal): Promise<SttResult>;
  /**
   * So much of the audio fed last was speech, as the call's own voice activity tells. Layers that watch over an engine use it;
   * engines leave it out.
   */
  speechHeard?(ms: number): void;
  /** Forget what was heard since the last flush. */
  discard(): void;
  /** Ends the session; idempotent, never rejects. */
  close(): Promise<void>;
}

export interface SttHandlers {
  /** Text so far of the open turn; may be revised. */
  onInterim(text: string): void;
  /** Tells what need not be heard again when this session breaks. Engines that know nothing of it leave it out. */
  onFinal?(piece: SttFinal): void;
  /** Only from engines with `detectsTurns`. */
  onTurn?(event: SttTurnEvent): void;
  /** Who listens from here on, from layers that may change the engine in the middle of a call. */
  onEngine?(engine: Pick<SpeechToText, 'name' | 'model' | 'wantsSilence' | 'detectsTurns'>): void;
  /** The session broke and will give no more text. */
  onFailure(error: Error): void;
}

export interface SpeechToText {
  readonly name: string;
  readonly model: string | null;
  /**
   * Whether the engine wants silence too. Where false the call feeds it only from the pre-roll of a speech segment to
   * the end of the turn, which is what a local decoder that costs CPU per second of audio needs.
   */
  readonly wantsSilence: boolean;
  /** Whether the engine itself says when a turn begins and ends. */
  readonly detectsTurns?: boolean;
  open(handlers: SttHandlers): Promise<SttSession>;
  /** Ends what outlives a session; most engines have nothing of the kind. Idempotent, never rejects. */
  close?(): Promise<void>;
}
