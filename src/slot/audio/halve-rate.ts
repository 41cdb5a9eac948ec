/**
 * 16 kHz to 8 kHz for detectors that look at telephone frequencies only: one sample in, every second one out, nothing
 * allocated. What lies above 4 kHz is weakened by at least 40 dB from 5 kHz on, so that it does not fold onto them.
 */
export class HalveRate {
  private readonly recent = new Float64Array(TAPS * 2);
  private at = 0;
  private isOdd = false;

  /** The next sample at 16 kHz; a sample at 8 kHz after every second one, `NaN` after the others. */
  push(sample: number): number {
    this.recent[this.at] = sample;
    this.recent[this.at + TAPS] = sample;
    this.at = (this.at + 1) % TAPS;
    this.isOdd = !this.isOdd;
    if (this.isOdd) return Number.NaN;
    let sum = 0;
    for (let tap = 0; tap < TAPS; tap++)
      sum += (this.recent[this.at + tap] as number) * (FILTER[tap] as number);
    return sum;
  }

  reset(): void {
    this.recent.fill(0);
    this.at = 0;
    this.isOdd = false;
  }
}

/** A half-band low-pass: every second tap but the middle one is zero. */
const TAPS = 23;
const MIDDLE = (TAPS - 1) / 2;

const FILTER = halfBand();

function halfBand(): Float64Array {
  const filter = new Float64Array(TAPS);
  let sum = 0;
  for (let tap = 0; tap < TAPS; tap++) {
    const distance = tap - MIDDLE;
    const sinc = distance === 0 ? 0.5 : Math.sin((Math.PI * distance) / 2) / (Math.PI * distance);
    // Hamming: its side lobes lie below 40 dB at this length.
    filter[tap] = sinc * (0.54 + 0.46 * Math.cos((Math.PI * distance) / (MIDDLE + 1)));
    sum += filter[tap] as number;
  }
  return filter.map((value) => value / sum);
}
