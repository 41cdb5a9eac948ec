import { FRAME_SAMPLES } from '../../contracts/limits.ts';

/** Frames that are gathered before a stream begins, or begins anew after it ran dry: 60 ms against uneven arrival. */
const CUSHION_FRAMES = 3;
/** The room's clock may run faster than the line's: what would be heard so much later is left out. */
const MAX_AHEAD_MS = 300;

/** The line on which people of a room are heard by a caller on a socket. */
export interface StreamLine {
  /** One frame that waits behind what was sent before. Keeps the memory. */
  stream(frame: Int16Array): void;
  /** How far the line is ahead of the caller's ear. */
  readonly aheadMs: number;
}

/** Plays a live stream of frames on a line: with a cushion in front, and never with more delay than is bearable. */
export class AgentAudio {
  private readonly line: StreamLine;
  private cushion: Int16Array[] = [];
  private isFlowing = false;
  /** Frames that were left out. */
  dropped = 0;

  constructor(line: StreamLine) {
    this.line = line;
  }

  /** The memory is the caller's again when this returns. */
  frame(frame: Int16Array): void {
    const { line } = this;
    const { aheadMs } = line;
    if (aheadMs > MAX_AHEAD_MS) {
      this.dropped++;
      return;
    }
    if (aheadMs <= 0) this.isFlowing = false;
    const own = Int16Array.from(frame.subarray(0, FRAME_SAMPLES));
    if (this.isFlowing) {
      line.stream(own);
      return;
    }
    this.cushion.push(own);
    if (this.cushion.length < CUSHION_FRAMES) return;
    this.isFlowing = true;
    for (const waiting of this.cushion.splice(0)) line.stream(waiting);
  }

  /** Nothing of what has not been heard yet is wanted any more. */
  stop(): void {
    this.cushion = [];
    this.isFlowing = false;
  }
}
