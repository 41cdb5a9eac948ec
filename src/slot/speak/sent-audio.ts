import { FRAME_MS, FRAME_SAMPLES } from '../../contracts/limits.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';

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
/** A frame so much quieter than the one at the pause lies between words. */
const WORD_BORDER_DB = 12;

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

  /**
   * Everything of which the caller has heard nothing by `heardUntilMs`, in the order in which it was sent. With
   * `rewindMs` it begins up to so much earlier, where the speech is quietest.
   */
  takeUnheard(heardUntilMs: number, rewindMs = 0): SentEntry[] {
    let first = this.frames;
    while (first > this.oldest && this.timeOf(first - 1) >= heardUntilMs) first--;
    if (first < this.frames) first = this.quietestBefore(first, Math.floor(rewindMs / FRAME_MS));
    const entries: SentEntry[] = [];
    for (let index = first; index <= this.frames; index++) {
      for (const end of this.ends) {
        if (end.afterFrames === index && end.playAtMs > heardUntilMs) {
          entries.push({ unitId: end.unitId, end: true, playAtMs: end.playAtMs });
        }
      }
      if (index === this.frames) break;
      entries.push({
        unitId: this.unitOf(index),
        samples: this.samplesOf(index).slice(),
        playAtMs: this.timeOf(index),
      });
    }
    this.forget();
    return entries;
  }

  forget(): void {
    this.frames = 0;
    this.ends = [];
  }

  /** The first frame to say again, so that the bot does not go on in the middle of a word. */
  private quietestBefore(first: number, frames: number): number {
    const level = (index: number) => audioKernels().level(this.samplesOf(index));
    const borderDb = level(first) - WORD_BORDER_DB;
    let found = first;
    let quietestDb = borderDb;
    for (let at = first - 1; at >= Math.max(this.oldest, first - frames); at--) {
      const isSameSpurt =
        this.unitOf(at) === this.unitOf(first) && this.timeOf(at + 1) - this.timeOf(at) < 2 * FRAME_MS;
      if (!isSameSpurt) break;
      const levelDb = level(at);
      if (levelDb >= quietestDb) continue;
      quietestDb = levelDb;
      found = at;
    }
    return found;
  }

  private get oldest(): number {
    return Math.max(0, this.frames - MAX_FRAMES);
  }

  private timeOf(index: number): number {
    return this.times[index % MAX_FRAMES] ?? 0;
  }

  private unitOf(index: number): number {
    return this.units[index % MAX_FRAMES] ?? 0;
  }

  private samplesOf(index: number): Int16Array {
    const from = (index % MAX_FRAMES) * FRAME_SAMPLES;
    return this.samples.subarray(from, from + FRAME_SAMPLES);
  }
}
