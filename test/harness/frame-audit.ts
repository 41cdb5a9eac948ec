import { readStamp } from '../../bench/read-stamp.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/contracts/limits.ts';

/**
 * Reads the stamps of scripted speech as they come over the wire and proves what reached the caller: which frames
 * are missing, came twice, came after a `clear` that had dropped their reply, and how evenly they came.
 */
export class FrameAudit {
  missing = 0;
  doubled = 0;
  afterClear = 0;
  unstamped = 0;
  frames = 0;
  private readonly arrivalsMs: number[] = [];
  private last: { speak: number; frame: number } | undefined;
  private clearedSpeak = 0;

  /** To be given to the dialler as `onAudio`. */
  readonly onAudio = (samples: Int16Array, atMs: number): void => {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const stamp = readStamp(samples, at);
      if (!stamp) {
        this.unstamped++;
        continue;
      }
      this.frames++;
      this.arrivalsMs.push(atMs);
      if (stamp.speak <= this.clearedSpeak) this.afterClear++;
      const { last } = this;
      if (last && stamp.speak === last.speak) {
        if (stamp.frame <= last.frame) this.doubled++;
        else this.missing += stamp.frame - last.frame - 1;
      } else {
        if (last && stamp.speak < last.speak) this.doubled++;
        this.missing += stamp.frame;
      }
      this.last = stamp;
    }
  };

  /** To be called when a `clear` came: what was spoken before it is over. */
  onClear(): void {
    this.clearedSpeak = this.last?.speak ?? 0;
  }

  /** The longest time between two frames of a window, beyond the 20 ms that lie between them anyway. */
  longestGapMs(fromMs: number, toMs: number): number {
    let longest = 0;
    for (let i = 1; i < this.arrivalsMs.length; i++) {
      const [before, after] = [this.arrivalsMs[i - 1] ?? 0, this.arrivalsMs[i] ?? 0];
      if (before >= fromMs && after <= toMs) longest = Math.max(longest, after - before - FRAME_MS);
    }
    return longest;
  }

  /** All that must be zero. */
  get faults() {
    return {
      missing: this.missing,
      doubled: this.doubled,
      afterClear: this.afterClear,
      unstamped: this.unstamped,
    };
  }
}

export const NO_FAULTS = { missing: 0, doubled: 0, afterClear: 0, unstamped: 0 };
