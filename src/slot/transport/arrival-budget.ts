import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * Audio arrives in real time, give or take jitter. A peer that floods could otherwise buy minutes of decoding with a
 * second of bandwidth, so audio beyond real time plus a burst allowance is dropped and counted.
 */
export class ArrivalBudget {
  private readonly burstSamples: number;
  private readonly now: () => number;
  private startedAtMs: number | undefined;
  private acceptedSamples = 0;
  /** Samples refused so far. */
  droppedSamples = 0;

  constructor(options: { burstMs: number; now: () => number }) {
    this.burstSamples = (options.burstMs * LINE_RATE_HZ) / 1000;
    this.now = options.now;
  }

  /** Whether a frame of this many samples may pass. */
  admit(samples: number): boolean {
    this.startedAtMs ??= this.now();
    const dueSamples = ((this.now() - this.startedAtMs) * LINE_RATE_HZ) / 1000;
    if (this.acceptedSamples + samples > dueSamples + this.burstSamples) {
      this.droppedSamples += samples;
      return false;
    }
    this.acceptedSamples += samples;
    return true;
  }

  get droppedMs(): number {
    return (this.droppedSamples * 1000) / LINE_RATE_HZ;
  }
}
