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
  speak(text: string, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}
