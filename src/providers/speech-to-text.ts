/**
 * Speech to text as a call uses it: a session per call, fed with the caller's audio as it comes, flushed when the
 * turn ends. Made for streaming engines, cloud sockets and local programs alike.
 */
export interface SttResult {
  /** Everything heard since the last flush or discard, '' where nothing was. */
  text: string;
  /** 0 to 1, null where the engine gives none. */
  confidence: number | null;
}

export interface SttSession {
  /** Caller audio, 8 kHz LINEAR16, in order. The engine may keep a reference until the next call only: copy it. */
  feed(samples: Int16Array): void;
  /** The turn ended: resolves with its text. Rejects with AppError (`provider_timeout`, `provider_failed`). */
  flush(signal: AbortSignal): Promise<SttResult>;
  /** Forget what was heard since the last flush. */
  discard(): void;
  /** Ends the session; idempotent, never rejects. */
  close(): Promise<void>;
}

export interface SttHandlers {
  /** Text so far of the open turn; may be revised. */
  onInterim(text: string): void;
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
  open(handlers: SttHandlers): Promise<SttSession>;
}
