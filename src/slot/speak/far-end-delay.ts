/** Echoes that are remembered; the delay of a line changes slowly. */
const REMEMBERED = 8;
/** Of a line that has not echoed anything yet: three frames, as most keep, and the one that is being played. */
const UNKNOWN_MS = 80;
/** A later echo tells of a stall, not of a buffer. */
const MAX_DELAY_MS = 400;

/**
 * How far the caller's ear is behind the pacer's clock: far ends keep a few frames against jitter, and what lies there
 * when the bot is paused is dropped unheard. The quickest of the latest echoes of marks tells; the way back is in it
 * too, so that a word may be repeated by a few milliseconds, but is not lost.
 */
export class FarEndDelay {
  private readonly delaysMs: number[] = [];

  /** A mark came back so long after its audio must have ended. */
  echoed(delayMs: number): void {
    this.delaysMs.push(Math.min(MAX_DELAY_MS, Math.max(0, delayMs)));
    if (this.delaysMs.length > REMEMBERED) this.delaysMs.shift();
  }

  get ms(): number {
    return this.delaysMs.length === 0 ? UNKNOWN_MS : Math.min(...this.delaysMs);
  }
}
