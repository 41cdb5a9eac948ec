import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/** Ten milliseconds, in samples. */
export const LEVEL_BLOCK_SAMPLES = LINE_RATE_HZ / 100;
/** Loudness below which a block is silence, in dB of full scale. */
export const FLOOR_DB = -70;
/** Four seconds. */
const RING_BLOCKS = 400;

/** Loudness of 10 ms blocks by their place on the line clock, the last four seconds; what was never heard is silence. */
export class LevelRing {
  private readonly levels = new Float32Array(RING_BLOCKS).fill(FLOOR_DB);
  private readonly places = new Int32Array(RING_BLOCKS).fill(-1);
  private block = -1;
  private energy = 0;
  private samples = 0;

  /** The next samples, from a place of the line clock on. */
  push(samples: Int16Array, fromSample: number): void {
    for (let at = 0; at < samples.length; at++) {
      const block = Math.floor((fromSample + at) / LEVEL_BLOCK_SAMPLES);
      if (block !== this.block) {
        this.store();
        this.block = block;
        this.energy = 0;
        this.samples = 0;
      }
      const value = samples[at] ?? 0;
      this.energy += value * value;
      this.samples++;
    }
  }

  /** The loudness of a block in dB of full scale. */
  at(block: number): number {
    const slot = ((block % RING_BLOCKS) + RING_BLOCKS) % RING_BLOCKS;
    return this.places[slot] === block ? (this.levels[slot] ?? FLOOR_DB) : FLOOR_DB;
  }

  private store(): void {
    if (this.samples === 0) return;
    const slot = this.block % RING_BLOCKS;
    const power = this.energy / this.samples / (32_768 * 32_768);
    this.levels[slot] = power <= 0 ? FLOOR_DB : Math.max(FLOOR_DB, 10 * Math.log10(power));
    this.places[slot] = this.block;
  }
}
