import type { FrameStamp } from '../src/providers/vendors/scripted/frame-stamp.ts';

/** What went wrong with the frames of a call. All of it must be zero. */
export interface FrameCounts {
  received: number;
  missing: number;
  doubled: number;
  /** Frames of a reply that had been cleared. */
  afterClear: number;
  /** Frames without a readable stamp, or not of 20 ms: damaged on the way. */
  damaged: number;
}

/**
 * After `clear` nothing may come for this long, whatever its number: the caller is still speaking, and a new answer
 * needs 224 ms of silence first (`vad.stop_ms`).
 */
const QUIET_AFTER_CLEAR_MS = 150;
/**
 * A bot that was only paused goes on from where it thinks it was heard. It cannot know the far end's buffer exactly, and
 * rather says up to this much again than leaves anything out (docs/dialler-protocol.md).
 */
const MAX_SAID_AGAIN_FRAMES = 20;

/**
 * Proves frame by frame that one call's audio is whole. Every clause of the bench bot makes the same number of frames,
 * so that an end which is missing shows as soon as the next clause begins. A cut clause may end anywhere.
 */
export class FrameLedger {
  readonly counts: FrameCounts = { received: 0, missing: 0, doubled: 0, afterClear: 0, damaged: 0 };
  private readonly clauseFrames: number;
  private speak = 0;
  private nextFrame: number;
  private clearedSpeak = 0;
  private clearedAtMs = Number.NEGATIVE_INFINITY;
  /** Place of the first frame that a paused bot still has to say; negative where none was cleared. */
  private unheardFrom = -1;

  constructor(clauseFrames: number) {
    this.clauseFrames = clauseFrames;
    this.nextFrame = clauseFrames;
  }

  /** Takes a frame; null where no stamp could be read. True when it directly continues the clause before it. */
  take(stamp: FrameStamp | null, atMs: number): boolean {
    this.counts.received++;
    if (!stamp) {
      // The first frame after a pause fades in, over its own stamp.
      if (this.unheardFrom >= 0 && !this.isQuietTime(atMs)) this.unheardFrom++;
      else this.counts.damaged++;
      return false;
    }
    if (this.resumes(stamp, atMs)) return false;
    if (stamp.speak <= this.clearedSpeak || this.isQuietTime(atMs)) {
      this.counts.afterClear++;
      return false;
    }
    if (stamp.speak < this.speak || (stamp.speak === this.speak && stamp.frame < this.nextFrame)) {
      this.counts.doubled++;
      return false;
    }
    const continues = stamp.speak === this.speak && stamp.frame === this.nextFrame;
    if (stamp.speak === this.speak) this.counts.missing += stamp.frame - this.nextFrame;
    else this.counts.missing += this.missingBefore(stamp);
    this.speak = stamp.speak;
    this.nextFrame = stamp.frame + 1;
    this.unheardFrom = -1;
    return continues;
  }

  /**
   * The slot said `clear`: whatever it has sent so far is dead. Nothing more of it may come, but for what a paused bot
   * goes on with: the `unheardFrames` that had come and not been played.
   */
  clear(atMs: number, unheardFrames = 0): void {
    this.unheardFrom = this.placeOf(this.speak, this.nextFrame) - unheardFrames;
    this.clearedSpeak = this.speak;
    this.clearedAtMs = atMs;
  }

  private resumes(stamp: FrameStamp, atMs: number): boolean {
    if (this.unheardFrom < 0 || stamp.speak > this.clearedSpeak || this.isQuietTime(atMs)) return false;
    const ahead = this.placeOf(stamp.speak, stamp.frame) - this.unheardFrom;
    if (ahead < -MAX_SAID_AGAIN_FRAMES) return false;
    if (ahead > 1) this.counts.missing += ahead;
    this.speak = stamp.speak;
    this.nextFrame = stamp.frame + 1;
    this.clearedSpeak = stamp.speak - 1;
    this.unheardFrom = -1;
    return true;
  }

  private isQuietTime(atMs: number): boolean {
    return atMs - this.clearedAtMs < QUIET_AFTER_CLEAR_MS;
  }

  private placeOf(speak: number, frame: number): number {
    return speak * this.clauseFrames + frame;
  }

  /** Frames left out between the last frame and the first one of a later clause. */
  private missingBefore(stamp: FrameStamp): number {
    // Clauses of the cut reply that were made and never sent leave a gap in the numbers; that is what `clear` is for.
    if (this.clearedSpeak === this.speak)
      return this.speak === 0 ? lost(stamp, 1, this.clauseFrames) : stamp.frame;
    return this.clauseFrames - this.nextFrame + lost(stamp, this.speak + 1, this.clauseFrames);
  }
}

function lost(stamp: FrameStamp, expectedSpeak: number, clauseFrames: number): number {
  return (stamp.speak - expectedSpeak) * clauseFrames + stamp.frame;
}

export function addCounts(all: readonly FrameCounts[]): FrameCounts {
  const sum: FrameCounts = { received: 0, missing: 0, doubled: 0, afterClear: 0, damaged: 0 };
  for (const counts of all) {
    for (const key of Object.keys(sum) as (keyof FrameCounts)[]) sum[key] += counts[key];
  }
  return sum;
}
