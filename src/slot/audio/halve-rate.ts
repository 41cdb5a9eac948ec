import { HALF_BAND, HALF_BAND_TAPS } from './half-band.ts';

/**
 * 16 kHz to 8 kHz for detectors that look at telephone frequencies only: one sample in, every second one out, nothing
 * allocated. What lies above 4 kHz is weakened by at least 40 dB from 5 kHz on, so that it does not fold onto them.
 */
export class HalveRate {
  private readonly recent = new Float64Array(HALF_BAND_TAPS * 2);
  private at = 0;
  private isOdd = false;

  /** The next sample at 16 kHz; a sample at 8 kHz after every second one, `NaN` after the others. */
  push(sample: number): number {
    this.recent[this.at] = sample;
    this.recent[this.at + HALF_BAND_TAPS] = sample;
    this.at = (this.at + 1) % HALF_BAND_TAPS;
    this.isOdd = !this.isOdd;
    if (this.isOdd) return Number.NaN;
    let sum = 0;
    for (let tap = 0; tap < HALF_BAND_TAPS; tap++)
      sum += (this.recent[this.at + tap] as number) * (HALF_BAND[tap] as number);
    return sum;
  }

  /** A stretch at 16 kHz into one of half as many samples at 8 kHz; the length is even. */
  block(wide: Int16Array, narrow: Int16Array): void {
    for (let at = 0; at < narrow.length; at++) {
      this.push(wide[at * 2] as number);
      const value = Math.round(this.push(wide[at * 2 + 1] as number));
      narrow[at] = Math.max(-32_768, Math.min(32_767, value));
    }
  }

  reset(): void {
    this.recent.fill(0);
    this.at = 0;
    this.isOdd = false;
  }
}
