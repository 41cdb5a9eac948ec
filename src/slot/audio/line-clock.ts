import { AUDIO_GAP_MS, LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * The call's clock: samples received from the caller. All turn arithmetic and both channels of the recording stand on
 * it, so bursty carrier chunks shift nothing (RT-10). Where the caller's audio stops, silence is filled in at wall
 * speed after a second, so that the recording and every deadline go on (RT-03).
 */
export class LineClock {
  /** Samples since the line became ready, filled silence included. */
  samples = 0;
  /** How much of that is filled silence. */
  filledSamples = 0;
  private readonly now: () => number;
  private lastAudioAtMs: number;
  private inGap = false;

  constructor(now: () => number) {
    this.now = now;
    this.lastAudioAtMs = now();
  }

  received(samples: number): void {
    this.samples += samples;
    this.lastAudioAtMs = this.now();
    this.inGap = false;
  }

  /** Silence to fill in right now, in samples; `begins` is true for the first of a gap. */
  gapDue(): { samples: number; begins: boolean } {
    const silentMs = this.now() - this.lastAudioAtMs;
    const thresholdMs = this.inGap ? 0 : AUDIO_GAP_MS;
    if (silentMs < thresholdMs) return { samples: 0, begins: false };
    const samples = Math.floor((silentMs * LINE_RATE_HZ) / 1000);
    if (samples === 0) return { samples: 0, begins: false };
    const begins = !this.inGap;
    this.inGap = true;
    this.lastAudioAtMs += (samples * 1000) / LINE_RATE_HZ;
    this.samples += samples;
    this.filledSamples += samples;
    return { samples, begins };
  }
}
