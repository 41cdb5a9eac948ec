/**
 * How long this caller pauses within what they say (RT-07). Whoever thinks between words gets more time, whoever does
 * not is answered sooner. Only pauses that turned out not to be an end count: the caller went on, and nobody else spoke.
 */
const SMOOTHING = 0.9;
const MIN_WAIT_MS = 200;
const MAX_WAIT_MS = 900;
/** The wait stands this far above a usual pause. */
const MARGIN = 1.5;
/** Before so many pauses the bot's own setting counts. */
const MIN_PAUSES = 3;
/** A longer silence within a turn is not a pause of thought. */
const LONGEST_PAUSE_MS = 3_000;

export class PauseStatistics {
  private pauses = 0;
  private meanMs = 0;

  /** The caller went on after a pause within one turn. */
  paused(ms: number): void {
    if (ms <= 0 || ms > LONGEST_PAUSE_MS) return;
    this.pauses++;
    // Until enough is known the plain mean is the better guess.
    const weight = Math.max(1 - SMOOTHING, 1 / this.pauses);
    this.meanMs += weight * (ms - this.meanMs);
  }

  /** Silence that ends a turn without the model; `settingMs` until the caller is known. */
  silenceMs(settingMs: number): number {
    if (this.pauses < MIN_PAUSES) return settingMs;
    return Math.round(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, this.meanMs * MARGIN)));
  }

  get known(): { pauses: number; meanMs: number } {
    return { pauses: this.pauses, meanMs: Math.round(this.meanMs) };
  }
}
