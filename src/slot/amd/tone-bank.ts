import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/** New samples per reading, and samples that a reading looks at: 20 and 40 ms of a telephone line. */
export const HOP_SAMPLES = 160;
const WINDOW_SAMPLES = 320;

/**
 * A bank of Goertzel filters from 300 to 2175 Hz, 25 Hz apart, over a Hann window of 40 ms, read every 20 ms. It says
 * how much of a window is one steady tone, and how much lies where ring back and busy tones do. The results are plain
 * fields, overwritten by the next reading, so that nothing is allocated while a call runs.
 */
export class ToneBank {
  /** Power of the window in dB of full scale (a full-scale sine has -3). */
  levelDbfs = SILENCE_DBFS;
  /** The strongest tone, its share of the whole power, and the next strongest one against it. */
  toneHz = 0;
  toneShare = 0;
  rivalShare = 0;
  /** Share of the power between 300 and 675 Hz, where the tones of call progress lie. */
  progressShare = 0;

  private readonly window = new Float64Array(WINDOW_SAMPLES);
  private readonly weighted = new Float64Array(WINDOW_SAMPLES);
  private readonly powers = new Float64Array(BINS);
  private filled = WINDOW_SAMPLES - HOP_SAMPLES;

  /** The next sample, at 8 kHz; true where it completed a reading. */
  push(sample: number): boolean {
    this.window[this.filled++] = sample;
    if (this.filled < WINDOW_SAMPLES) return false;
    this.read();
    this.window.copyWithin(0, HOP_SAMPLES);
    this.filled = WINDOW_SAMPLES - HOP_SAMPLES;
    return true;
  }

  reset(): void {
    this.window.fill(0);
    this.filled = WINDOW_SAMPLES - HOP_SAMPLES;
  }

  private read(): void {
    const energy = this.weigh();
    const power = energy / SQUARED_WEIGHT;
    this.levelDbfs =
      power <= 0 ? SILENCE_DBFS : Math.max(SILENCE_DBFS, 10 * Math.log10(power / FULL_SCALE_POWER));
    this.toneHz = 0;
    this.toneShare = 0;
    this.rivalShare = 1;
    this.progressShare = 0;
    if (this.levelDbfs < FAINTEST_DBFS) return;
    const best = this.filter();
    this.measure(best, power, energy);
  }

  private weigh(): number {
    const { window, weighted } = this;
    let energy = 0;
    for (let n = 0; n < WINDOW_SAMPLES; n++) {
      const value = (window[n] as number) * (WEIGHTS[n] as number);
      weighted[n] = value;
      energy += value * value;
    }
    return energy;
  }

  /** Power in every bin; returns the strongest one that has a neighbour on both sides. */
  private filter(): number {
    const { weighted, powers } = this;
    // Four filters at a time: each waits for its own last value, so one alone would leave the processor idle.
    for (let bin = 0; bin < BINS; bin += 4) {
      const c0 = COEFFICIENTS[bin] as number;
      const c1 = COEFFICIENTS[bin + 1] as number;
      const c2 = COEFFICIENTS[bin + 2] as number;
      const c3 = COEFFICIENTS[bin + 3] as number;
      let a0 = 0;
      let b0 = 0;
      let a1 = 0;
      let b1 = 0;
      let a2 = 0;
      let b2 = 0;
      let a3 = 0;
      let b3 = 0;
      for (let n = 0; n < WINDOW_SAMPLES; n += 2) {
        const first = weighted[n] as number;
        const second = weighted[n + 1] as number;
        // Two samples a round, so that the last two values change places without being moved.
        b0 = first + c0 * a0 - b0;
        b1 = first + c1 * a1 - b1;
        b2 = first + c2 * a2 - b2;
        b3 = first + c3 * a3 - b3;
        a0 = second + c0 * b0 - a0;
        a1 = second + c1 * b1 - a1;
        a2 = second + c2 * b2 - a2;
        a3 = second + c3 * b3 - a3;
      }
      powers[bin] = a0 * a0 + b0 * b0 - c0 * a0 * b0;
      powers[bin + 1] = a1 * a1 + b1 * b1 - c1 * a1 * b1;
      powers[bin + 2] = a2 * a2 + b2 * b2 - c2 * a2 * b2;
      powers[bin + 3] = a3 * a3 + b3 * b3 - c3 * a3 * b3;
    }
    let best = 1;
    for (let bin = 2; bin < BINS - 1; bin++) {
      if ((powers[bin] as number) > (powers[best] as number)) best = bin;
    }
    return best;
  }

  private measure(best: number, power: number, energy: number): void {
    const { powers } = this;
    const below = powers[best - 1] as number;
    const peak = powers[best] as number;
    const above = powers[best + 1] as number;
    // A sine between two bins of a Hann window shows where it lies by the ratio of the two amplitudes.
    const ratio = Math.sqrt(Math.max(below, above) / peak);
    const offset = (above >= below ? 1 : -1) * Math.max(-0.5, Math.min(0.5, (2 * ratio - 1) / (ratio + 1)));
    this.toneHz = (FIRST_BIN + best + offset) * BIN_HZ;
    const gain = hannGain(offset);
    this.toneShare = (2 * peak) / (SUMMED_WEIGHT * SUMMED_WEIGHT * gain * gain) / power;
    let rival = 0;
    let progress = 0;
    for (let bin = 0; bin < BINS; bin++) {
      const value = powers[bin] as number;
      if (bin <= LAST_PROGRESS_BIN) progress += value;
      if (Math.abs(bin - best) > RIVAL_DISTANCE_BINS && value > rival) rival = value;
    }
    this.rivalShare = rival / peak;
    // Parseval: the bins of the whole circle hold the energy of the window as often as there are samples.
    this.progressShare = (2 * progress) / (WINDOW_SAMPLES * energy);
  }
}

const SILENCE_DBFS = -100;
/** Tones of a network are at least -35 dBm0 at the far end of a bad line; below this a window is not looked at. */
const FAINTEST_DBFS = -50;
const FULL_SCALE_POWER = 32_768 * 32_768;
const BIN_HZ = LINE_RATE_HZ / WINDOW_SAMPLES;
const FIRST_BIN = 12;
const BINS = 76;
const LAST_PROGRESS_BIN = 675 / BIN_HZ - FIRST_BIN;
/** Beyond it a Hann window shows nothing of a pure tone. */
const RIVAL_DISTANCE_BINS = 3;

const WEIGHTS = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW_SAMPLES),
);
const SUMMED_WEIGHT = WEIGHTS.reduce((sum, weight) => sum + weight, 0);
const SQUARED_WEIGHT = WEIGHTS.reduce((sum, weight) => sum + weight * weight, 0);
const COEFFICIENTS = Float64Array.from(
  { length: BINS },
  (_, bin) => 2 * Math.cos((2 * Math.PI * (FIRST_BIN + bin)) / WINDOW_SAMPLES),
);

/** How much of its amplitude a tone keeps that lies `offset` bins beside the middle of one. */
function hannGain(offset: number): number {
  if (Math.abs(offset) < 1e-6) return 1;
  const angle = Math.PI * offset;
  return Math.sin(angle) / angle / (1 - offset * offset);
}
