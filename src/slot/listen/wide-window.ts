import { DoubleRate } from '../audio/double-rate.ts';
import { TurnWindow } from './turn-window.ts';

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
