/** Taps of the filter; odd, so that it delays by a whole number of samples. */
const HALF_BAND_TAPS = 23;
/** The tap in the middle, which is also the delay in samples at 16 kHz (0.7 ms). */
const HALF_BAND_MIDDLE = (HALF_BAND_TAPS - 1) / 2;

/**
 * The low-pass between 8 and 16 kHz, both ways: what lies above 4 kHz is weakened by at least 40 dB from 5 kHz on.
 * Every second tap but the middle one is zero.
 */
const HALF_BAND: Float64Array = halfBand();

function halfBand(): Float64Array {
  const filter = new Float64Array(HALF_BAND_TAPS);
  let sum = 0;
  for (let tap = 0; tap < HALF_BAND_TAPS; tap++) {
    const distance = tap - HALF_BAND_MIDDLE;
    const sinc = distance === 0 ? 0.5 : Math.sin((Math.PI * distance) / 2) / (Math.PI * distance);
    // Hamming: its side lobes lie below 40 dB at this length.
    filter[tap] = sinc * (0.54 + 0.46 * Math.cos((Math.PI * distance) / (HALF_BAND_MIDDLE + 1)));
    sum += filter[tap] as number;
  }
  return filter.map((value) => value / sum);
}

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
