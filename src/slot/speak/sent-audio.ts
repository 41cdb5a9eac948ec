import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';

/**
 * What has left and may not have been heard yet: the last frames and unit ends with the moment at which the caller
 * hears them. When the bot is paused, the far end drops what it has not played, and that part is taken back from here
 * to be sent again from the exact frame (RT-14).
 */
export type SentEntry =
  | { unitId: number; samples: Int16Array; playAtMs: number }
  | { unitId: number; end: true; playAtMs: number };

/** More than any far end is sent ahead: 1.3 seconds. */
const MAX_FRAMES = 64;
const MAX_ENDS = 64;

export class SentAudio {
  private readonly samples = new Int16Array(MAX_FRAMES * FRAME_SAMPLES);
  private readonly units = new Int32Array(MAX_FRAMES);
  private readonly times = new Float64Array(MAX_FRAMES);
  private frames = 0;
  /** Ends with the number of frames that had left by then. */
  private ends: { unitId: number; afterFrames: number; playAtMs: number }[] = [];

  /** A frame left; its memory is copied. */
  frame(frame: Int16Array, unitId: number, playAtMs: number): void {
    const slot = this.frames % MAX_FRAMES;
    this.samples.set(frame, slot * FRAME_SAMPLES);
    this.units[slot] = unitId;
    this.times[slot] = playAtMs;
    this.frames++;
  }

  /** The last frame of a unit left; it has been heard at `playEndMs`. */
  unitEnd(unitId: number, playEndMs: number): void {
    this.ends.push({ unitId, afterFrames: this.frames, playAtMs: playEndMs });
    if (this.ends.length > MAX_ENDS) this.ends.shift();
  }

  /** Everything of which the caller has heard nothing by `nowMs`, in the order in which it was sent. */
  takeUnheard(nowMs: number): SentEntry[] {
    let first = this.frames;
    const oldest = Math.max(0, this.frames - MAX_FRAMES);
    while (first > oldest && (this.times[(first - 1) % MAX_FRAMES] ?? 0) >= nowMs) first--;
    const entries: SentEntry[] = [];
    for (let index = first; index <= this.frames; index++) {
      for (const end of this.ends) {
        if (end.afterFrames === index && end.playAtMs > nowMs) {
          entries.push({ unitId: end.unitId, end: true, playAtMs: end.playAtMs });
        }
      }
      if (index === this.frames) break;
      const slot = index % MAX_FRAMES;
      const from = slot * FRAME_SAMPLES;
      entries.push({
        unitId: this.units[slot] ?? 0,
        samples: this.samples.slice(from, from + FRAME_SAMPLES),
        playAtMs: this.times[slot] ?? 0,
      });
    }
    this.forget();
    return entries;
  }

  forget(): void {
    this.frames = 0;
    this.ends = [];
  }
}

export const SENT_BOUND_MS = MAX_FRAMES * FRAME_MS;
