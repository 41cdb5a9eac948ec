import { FRAME_MS } from '../src/contracts/limits.ts';
import { quantile } from './spread.ts';

/**
 * Lateness of paced frames as the far end sees it. A spurt is a run of frames on one 20 ms grid; where the grid lies
 * is not on the wire, so it is fitted: the early frames of a spurt were on time, and the rest is measured from there.
 * The frames of the lead leave all at once and say nothing about pacing; they are left out.
 */
export interface LatenessOptions {
  /** Frames at the start of a spurt that leave at once. */
  leadFrames: number;
  /** The jitter buffer of the far end. */
  bufferMs: number;
}

/** The share of a spurt's frames that may be earlier than its fitted grid: timers fire up to 1 ms early. */
const GRID_QUANTILE = 0.05;
/** A shorter spurt (a reply that was cut at once) has too few frames for a fit. */
const MIN_FITTED_FRAMES = 20;

export class SpurtLateness {
  /** Milliseconds behind the grid, one per judged frame; early ones are negative. */
  readonly readings: number[] = [];
  lateFrames = 0;
  underruns = 0;
  /** Readings count only while this is set; whole spurts are judged as they end. */
  recording = false;
  private readonly options: LatenessOptions;
  private offsets: number[] = [];
  private frames = 0;
  private startMs = 0;
  private playAfterMs = Number.NEGATIVE_INFINITY;

  constructor(options: LatenessOptions) {
    this.options = options;
  }

  /** When the far end's loudspeaker has played everything. */
  get playEndMs(): number {
    return this.playAfterMs;
  }

  /** A frame came; `continues` says that it directly follows the one before it in the same clause. */
  take(atMs: number, continues: boolean): void {
    const ranDry = atMs > this.playAfterMs;
    if (this.frames === 0 || (ranDry && !continues)) {
      this.end();
      this.startMs = atMs;
      this.playAfterMs = atMs + this.options.bufferMs;
    } else if (ranDry) {
      // Between replies the line may fall silent; inside a clause the pacer was late by more than lead and buffer.
      if (this.recording) this.underruns++;
      this.playAfterMs = atMs;
    }
    this.playAfterMs += FRAME_MS;
    // At the edge of the lead a frame may already leave with it, so judging begins one frame later.
    if (this.frames > this.options.leadFrames)
      this.offsets.push(atMs - this.startMs - this.frames * FRAME_MS);
    this.frames++;
  }

  /** The spurt is over: cut by `clear`, or the call ends. */
  end(): void {
    if (this.recording && this.offsets.length >= MIN_FITTED_FRAMES) {
      const grid = quantile(Float64Array.from(this.offsets).sort(), GRID_QUANTILE) ?? 0;
      for (const offset of this.offsets) {
        this.readings.push(offset - grid);
        if (offset - grid > this.options.bufferMs) this.lateFrames++;
      }
    }
    this.offsets = [];
    this.frames = 0;
    this.playAfterMs = Number.NEGATIVE_INFINITY;
  }
}
