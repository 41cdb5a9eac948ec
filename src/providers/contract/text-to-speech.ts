/** One spoken word, in milliseconds from the first sample of its clause. */
export interface WordTiming {
  text: string;
  startMs: number;
  endMs: number;
}

export interface SpeakHooks {
  /** Timings as they become known, from voices that give them. */
  onWords?(words: readonly WordTiming[]): void;
  /** Whose audio follows, from layers that may change the provider in the middle of a clause. */
  onServedBy?(provider: string, model: string | null): void;
}

/** Text to speech as a call uses it: one clause at a time, audio as soon as it exists, cancellable. */
export interface TextToSpeech {
  readonly name: string;
  readonly model: string | null;
  /** Rate of the audio below; the call resamples to the line's 8 kHz. */
  readonly sampleRate: number;
  /**
   * Speaks one clause. An aborted signal ends the iteration by throwing the signal's reason, and whatever the engine
   * still does for it is stopped. Each block is the consumer's to keep. Throws AppError.
   */
  speak(text: string, signal: AbortSignal, hooks?: SpeakHooks): AsyncIterable<Int16Array>;
  /**
   * Opens the connection ahead of the first clause, while the phone still rings. Harmless when it is open already.
   * Rejects with the failure, which the caller only notes: the next clause opens it anew.
   */
  warm?(): Promise<void>;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}
