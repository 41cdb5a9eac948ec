import { LINE_RATE_HZ, MAX_BURST_MS } from '../../contracts/limits.ts';
import { DoubleRate } from '../audio/half-rate.ts';

/** The turn model hears this much at most (D-37). */
export const TURN_SEGMENT_MAX_SAMPLES = 8 * LINE_RATE_HZ;
/** A turn's segment begins this long before its first speech (D-37). */
export const TURN_PRE_ROLL_SAMPLES = LINE_RATE_HZ / 2;
/** Less speech than this is left to the silence rule (D-37). */
export const TURN_MIN_SPEECH_SAMPLES = 0.3 * LINE_RATE_HZ;

/** Segments are asked for up to one burst after their audio came, so the ring keeps both lengths and the pre-roll. */
const CAPACITY_SAMPLES =
  TURN_SEGMENT_MAX_SAMPLES + TURN_PRE_ROLL_SAMPLES + (MAX_BURST_MS * LINE_RATE_HZ) / 1000;

/**
 * The latest caller audio, addressed by received-sample index; older audio is overwritten. An index always counts at
 * 8 kHz, the line clock of the call; a window of audio at 16 kHz holds `perIndex` 2 samples for each.
 */
export class TurnWindow {
  readonly perIndex: 1 | 2;
  private readonly capacity: number;
  private readonly ring: Int16Array;
  /** Of what was received, in samples of the audio itself. */
  private end = 0;

  constructor(perIndex: 1 | 2 = 1) {
    this.perIndex = perIndex;
    this.capacity = CAPACITY_SAMPLES * perIndex;
    this.ring = new Int16Array(this.capacity);
  }

  /** The index after the newest sample. */
  get endSample(): number {
    return this.end / this.perIndex;
  }

  /** Index of the oldest sample that is still held. */
  get startSample(): number {
    return Math.max(0, this.end - this.capacity) / this.perIndex;
  }

  /** Takes received samples, `perIndex` for each index; they are copied. */
  push(samples: Int16Array): void {
    const capacity = this.capacity;
    const kept = samples.length > capacity ? samples.subarray(-capacity) : samples;
    const at = (this.end + samples.length - kept.length) % capacity;
    const first = Math.min(kept.length, capacity - at);
    this.ring.set(kept.subarray(0, first), at);
    this.ring.set(kept.subarray(first), 0);
    this.end += samples.length;
  }

  /**
   * Fills `target` with the samples from `fromSample` on. False, and nothing copied, unless all of them are held: this
   * is how windows for voice activity are cut without an allocation.
   */
  copyTo(target: Int16Array, fromSample: number): boolean {
    const from = fromSample * this.perIndex;
    if (from < this.end - this.capacity || from < 0 || from + target.length > this.end) return false;
    const at = from % this.capacity;
    const first = Math.min(target.length, this.capacity - at);
    target.set(this.ring.subarray(at, at + first));
    target.set(this.ring.subarray(0, target.length - first), first);
    return true;
  }

  /**
   * A copy of `[fromSample, toSample)`, its last 8 s when it is longer. What is not held any more, or not received
   * yet, is left out.
   */
  segment(fromSample: number, toSample: number): Int16Array {
    const to = Math.min(toSample, this.endSample);
    const from = Math.max(fromSample, this.startSample, to - TURN_SEGMENT_MAX_SAMPLES);
    const copy = new Int16Array(Math.max(0, to - from) * this.perIndex);
    this.copyTo(copy, from);
    return copy;
  }
}

/** Samples at 8 kHz that are doubled at a time. */
const BLOCK_SAMPLES = 160;

/**
 * The latest caller audio at 16 kHz, sample for sample beside the one at 8 kHz. It takes what the line brings at 16 kHz
 * and fills in by doubling where the line brings none: gaps, and frames without a wide half.
 */
export class WideWindow {
  /** Two samples for each index of the line clock. */
  readonly window = new TurnWindow(2);
  private readonly doubled = new Int16Array(2 * BLOCK_SAMPLES);
  private readonly double = new DoubleRate();

  /** `wide` counts where it is the whole stretch of `samples`, twice as many; anything else is left aside. */
  push(samples: Int16Array, wide: Int16Array | undefined): void {
    if (wide?.length === 2 * samples.length) {
      this.window.push(wide);
      return;
    }
    for (let at = 0; at < samples.length; at += BLOCK_SAMPLES) {
      const block = samples.subarray(at, at + BLOCK_SAMPLES);
      const out = this.doubled.subarray(0, 2 * block.length);
      this.double.process(block, out);
      this.window.push(out);
    }
  }
}
