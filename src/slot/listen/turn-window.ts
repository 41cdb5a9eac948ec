import { LINE_RATE_HZ, MAX_BURST_MS } from '../../contracts/limits.ts';

/** The turn model hears this much at most (runtime-peers.md 2.5, step 3). */
export const TURN_SEGMENT_MAX_SAMPLES = 8 * LINE_RATE_HZ;
/** A turn's segment begins this long before its first speech (runtime-peers.md 2.5, step 1). */
export const TURN_PRE_ROLL_SAMPLES = LINE_RATE_HZ / 2;
/** Less speech than this is left to the silence rule (runtime-peers.md 2.5, step 2). */
export const TURN_MIN_SPEECH_SAMPLES = 0.3 * LINE_RATE_HZ;

/** Segments are asked for up to one burst after their audio came, so the ring keeps both lengths and the pre-roll. */
const CAPACITY_SAMPLES =
  TURN_SEGMENT_MAX_SAMPLES + TURN_PRE_ROLL_SAMPLES + (MAX_BURST_MS * LINE_RATE_HZ) / 1000;

/** The latest caller audio at 8 kHz, addressed by received-sample index; older audio is overwritten. */
export class TurnWindow {
  readonly #ring = new Int16Array(CAPACITY_SAMPLES);
  #endSample = 0;

  /** Samples received so far: the index after the newest one. */
  get endSample(): number {
    return this.#endSample;
  }

  /** Index of the oldest sample that is still held. */
  get startSample(): number {
    return Math.max(0, this.#endSample - CAPACITY_SAMPLES);
  }

  /** Takes received samples; they are copied. */
  push(samples: Int16Array): void {
    const kept = samples.length > CAPACITY_SAMPLES ? samples.subarray(-CAPACITY_SAMPLES) : samples;
    const at = (this.#endSample + samples.length - kept.length) % CAPACITY_SAMPLES;
    const first = Math.min(kept.length, CAPACITY_SAMPLES - at);
    this.#ring.set(kept.subarray(0, first), at);
    this.#ring.set(kept.subarray(first), 0);
    this.#endSample += samples.length;
  }

  /**
   * Fills `target` with the samples from `fromSample` on. False, and nothing copied, unless all of them are held: this
   * is how windows for voice activity are cut without an allocation.
   */
  copyTo(target: Int16Array, fromSample: number): boolean {
    if (fromSample < this.startSample || fromSample + target.length > this.#endSample) return false;
    const at = fromSample % CAPACITY_SAMPLES;
    const first = Math.min(target.length, CAPACITY_SAMPLES - at);
    target.set(this.#ring.subarray(at, at + first));
    target.set(this.#ring.subarray(0, target.length - first), first);
    return true;
  }

  /**
   * A copy of `[fromSample, toSample)`, its last 8 s when it is longer. What is not held any more, or not received
   * yet, is left out.
   */
  segment(fromSample: number, toSample: number): Int16Array {
    const to = Math.min(toSample, this.#endSample);
    const from = Math.max(fromSample, this.startSample, to - TURN_SEGMENT_MAX_SAMPLES);
    const copy = new Int16Array(Math.max(0, to - from));
    this.copyTo(copy, from);
    return copy;
  }

  /** Begins again at sample 0, for the next call. */
  clear(): void {
    this.#endSample = 0;
    this.#ring.fill(0);
  }
}
