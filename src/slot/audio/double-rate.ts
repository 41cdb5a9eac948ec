import { HALF_BAND, HALF_BAND_MIDDLE, HALF_BAND_TAPS } from './half-band.ts';

/** Samples at 8 kHz that one sample at 16 kHz depends on. */
const REACH = (HALF_BAND_TAPS + 1) / 2;
/** An odd sample is the one in the middle of the filter, which is a true sample of the input. */
const MIDDLE_REACH = (HALF_BAND_MIDDLE - 1) / 2;

/**
 * 8 kHz to 16 kHz where a line that is heard at 16 kHz brings no such audio: exactly two samples for each, late by
 * 0.7 ms, nothing allocated.
 */
export class DoubleRate {
  private readonly recent = new Float64Array(REACH * 2);
  private at = 0;

  /** Fills `wide`, which is twice as long as `samples`. */
  process(samples: Int16Array, wide: Int16Array): void {
    for (let i = 0; i < samples.length; i++) {
      // Newest first, and held twice, so that the last REACH samples lie in one piece.
      this.at = (this.at + REACH - 1) % REACH;
      this.recent[this.at] = samples[i] as number;
      this.recent[this.at + REACH] = samples[i] as number;
      let sum = 0;
      for (let tap = 0; tap < REACH; tap++)
        sum += (this.recent[this.at + tap] as number) * (HALF_BAND[2 * tap] as number);
      wide[2 * i] = clamped(2 * sum);
      wide[2 * i + 1] = this.recent[this.at + MIDDLE_REACH] as number;
    }
  }
}

function clamped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
