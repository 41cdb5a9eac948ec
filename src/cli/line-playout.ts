import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../contracts/limits.ts';

/** Audio that may wait to be played; what comes beyond is dropped, as a real gateway would. */
const MAX_QUEUED_SAMPLES = 120 * LINE_RATE_HZ;

type QueueItem = { kind: 'audio'; samples: Int16Array; arrivedAtMs: number } | { kind: 'mark'; name: string };

/** What one 20 ms tick of the far end's loudspeaker gave. */
export interface PlayedFrame {
  samples: Int16Array;
  /** When the first sample of this frame came over the wire; null for a frame of silence between the words. */
  arrivedAtMs: number | null;
  /** Marks whose point was reached with this tick. */
  marks: string[];
}

/**
 * The dialler's jitter buffer: what came is played on a clock of its own, 20 ms a tick, after a short wait that
 * levels out late frames. A mark is reached when all audio before it has been played.
 */
export class LinePlayout {
  /** Times that the queue ran dry in the middle of speech, that is without a mark at its end. */
  underruns = 0;
  private queue: QueueItem[] = [];
  private queued = 0;
  private waitTicks = 0;
  private playing = false;
  private lastWasMark = true;
  private readonly prebufferTicks: number;

  constructor(prebufferMs: number) {
    this.prebufferTicks = Math.ceil(prebufferMs / FRAME_MS);
  }

  get queuedMs(): number {
    return (this.queued * 1000) / LINE_RATE_HZ;
  }

  pushAudio(samples: Int16Array, arrivedAtMs: number): void {
    if (samples.length === 0 || this.queued + samples.length > MAX_QUEUED_SAMPLES) return;
    if (!this.playing && this.queued === 0) this.waitTicks = this.prebufferTicks;
    this.queue.push({ kind: 'audio', samples, arrivedAtMs });
    this.queued += samples.length;
  }

  pushMark(name: string): void {
    this.queue.push({ kind: 'mark', name });
    // The end of a spoken unit is here, so there is nothing left to wait for.
    this.waitTicks = 0;
  }

  /** Drops everything that waits; returns how much audio and which marks never sounded. */
  clear(): { droppedMs: number; marks: string[] } {
    const droppedMs = this.queuedMs;
    const marks = this.queue.flatMap((item) => (item.kind === 'mark' ? [item.name] : []));
    this.queue = [];
    this.queued = 0;
    this.playing = false;
    this.lastWasMark = true;
    return { droppedMs, marks };
  }

  /** Plays the next 20 ms. */
  tick(): PlayedFrame {
    const frame: PlayedFrame = { samples: new Int16Array(FRAME_SAMPLES), arrivedAtMs: null, marks: [] };
    if (!this.playing) {
      if (this.queue.length === 0) return frame;
      if (this.waitTicks > 0) {
        this.waitTicks -= 1;
        return frame;
      }
      this.playing = true;
    }
    let filled = 0;
    for (let item = this.queue[0]; item; item = this.queue[0]) {
      if (item.kind === 'mark') {
        frame.marks.push(item.name);
        this.lastWasMark = true;
        this.queue.shift();
        continue;
      }
      if (filled === FRAME_SAMPLES) break;
      this.lastWasMark = false;
      frame.arrivedAtMs ??= item.arrivedAtMs;
      const take = Math.min(item.samples.length, FRAME_SAMPLES - filled);
      frame.samples.set(item.samples.subarray(0, take), filled);
      filled += take;
      this.queued -= take;
      if (take === item.samples.length) this.queue.shift();
      else item.samples = item.samples.subarray(take);
    }
    if (filled < FRAME_SAMPLES && this.queue.length === 0) {
      this.playing = false;
      if (!this.lastWasMark) this.underruns += 1;
      this.lastWasMark = true;
    }
    return frame;
  }
}
