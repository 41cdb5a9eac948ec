import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import type { ProviderClock } from '../../providers/contract/provider-clock.ts';
import { FrameCollector, frameBytesFor, PartnerWriter } from './partner-frames.ts';

/** The far end holds at most this much unplayed audio, and one frame less before the next one leaves (RT-79). */
const MAX_AHEAD_MS = 300;
/** Even with long frames the far end keeps this much while the next one is on its way. */
const MIN_AHEAD_MS = 100;
/** Frames never leave closer together than this part of their length: bursts make carriers hang up. */
const MIN_GAP_SHARE = 0.5;
/** A frame that is not full is made up with silence when the far end would otherwise run dry within this. */
const DRY_MARGIN_MS = 120;
/** More audio of the same unit comes within this, or not soon. */
const QUIET_MS = 40;
/** Timers fire up to a millisecond early; such a wake counts as on time. */
const EARLY_MS = 1;
/** Waiting frames and marks; the pacer never runs so far ahead, so what comes beyond is a defect and is dropped. */
const MAX_QUEUED = 500;

export type SenderClock = Pick<ProviderClock, 'nowMs' | 'after'>;

/**
 * The pacer gives frames early and in small groups at the start of a reply, the mark ends a unit in the middle of a
 * frame, and the far end wants neither bursts nor odd lengths. This is the clock in between: it knows how much the far
 * end has still to play, and lets frames leave so that it is 200 to 300 ms. Marks leave behind the frame that holds
 * the end of their unit.
 */
export class PartnerSender {
  private readonly send: (text: string) => void;
  private readonly clock: SenderClock;
  private readonly requestedBytes: number | null;
  private readonly writer: PartnerWriter;
  private frames: FrameCollector;
  private resampler: Resampler | null;
  private frameMs: number;
  private queue: ({ payload: string } | { mark: string })[] = [];
  private waitingMarks: string[] = [];
  private cancelTimer: () => void = () => undefined;
  private lastSentMs = Number.NEGATIVE_INFINITY;
  private lastAddedMs = Number.NEGATIVE_INFINITY;
  /** When the far end has played all that was sent. */
  private farEndMs = Number.NEGATIVE_INFINITY;
  private isClosed = false;
  /** Frames and marks that found the queue full. */
  dropped = 0;

  /** `frameBytes` is the wish of the bot or the query, null for the default. */
  constructor(options: {
    streamSid: string;
    rateHz: number;
    frameBytes: number | null;
    clock: SenderClock;
    send: (text: string) => void;
  }) {
    this.send = options.send;
    this.clock = options.clock;
    this.requestedBytes = options.frameBytes;
    this.writer = new PartnerWriter(options.streamSid);
    const parts = partsFor(options.rateHz, options.frameBytes);
    this.frames = parts.frames;
    this.resampler = parts.resampler;
    this.frameMs = parts.frameMs;
  }

  /** Length of one frame on the wire. */
  get chunkMs(): number {
    return this.frameMs;
  }

  /** What was handed over and cannot have been heard yet. */
  get unplayedMs(): number {
    const queuedFrames = this.queue.reduce((sum, item) => sum + ('payload' in item ? 1 : 0), 0);
    const partial = this.frames.filledSamples / this.frames.frameSamples;
    return Math.max(0, this.farEndMs - this.clock.nowMs()) + (queuedFrames + partial) * this.frameMs;
  }

  /** Audio at the rate of the call; the memory is the caller's again when this returns. */
  audio(samples: Int16Array): void {
    if (this.isClosed) return;
    this.lastAddedMs = this.clock.nowMs();
    this.frames.add(this.resampler ? this.resampler.process(samples) : samples, (payload) =>
      this.enqueueFrame(payload),
    );
    this.pump();
  }

  /** A unit ends here. */
  mark(name: string): void {
    if (this.isClosed) return;
    if (this.frames.filledSamples > 0) this.waitingMarks.push(name);
    else this.enqueue({ mark: name });
    this.pump();
  }

  /** Drops what waits here and tells the far end to drop what waits there. */
  clear(): void {
    if (this.isClosed) return;
    this.queue = [];
    this.waitingMarks = [];
    this.frames.drop();
    this.resampler?.flush();
    this.farEndMs = this.clock.nowMs();
    this.cancelTimer();
    this.send(this.writer.clear());
  }

  /** The far end says that it dropped what it had. */
  farEndCleared(): void {
    this.farEndMs = this.clock.nowMs();
    this.pump();
  }

  /** The line turned out to have another rate: frames from here on have it. */
  changeRate(rateHz: number): void {
    const rest = this.frames.pad();
    if (rest !== null) this.enqueueFrame(rest);
    const parts = partsFor(rateHz, this.requestedBytes);
    this.frames = parts.frames;
    this.resampler = parts.resampler;
    this.frameMs = parts.frameMs;
  }

  /** Nothing leaves any more. */
  close(): void {
    this.isClosed = true;
    this.queue = [];
    this.waitingMarks = [];
    this.cancelTimer();
  }

  private enqueueFrame(payload: string): void {
    this.enqueue({ payload });
    for (const mark of this.waitingMarks.splice(0)) this.enqueue({ mark });
  }

  private enqueue(item: { payload: string } | { mark: string }): void {
    if (this.queue.length < MAX_QUEUED) this.queue.push(item);
    else this.dropped++;
  }

  private pump(): void {
    this.cancelTimer();
    if (this.isClosed) return;
    for (let head = this.queue[0]; head; head = this.queue[0]) {
      const now = this.clock.nowMs();
      if ('payload' in head) {
        const dueMs = this.frameDueMs();
        if (now < dueMs - EARLY_MS) {
          this.wakeAt(dueMs);
          return;
        }
        this.lastSentMs = now;
        this.farEndMs = Math.max(this.farEndMs, now) + this.frameMs;
        this.send(this.writer.media(head.payload, this.frameMs));
      } else {
        this.send(this.writer.mark(head.mark));
      }
      this.queue.shift();
    }
    if (this.frames.filledSamples === 0) return;
    // The later it is made up, the better the chance that the next unit fills it with speech.
    const dueMs = Math.max(this.lastAddedMs + QUIET_MS, this.farEndMs - DRY_MARGIN_MS);
    if (this.clock.nowMs() < dueMs - EARLY_MS) {
      this.wakeAt(dueMs);
      return;
    }
    const rest = this.frames.pad();
    if (rest !== null) this.enqueueFrame(rest);
    this.pump();
  }

  private frameDueMs(): number {
    const aheadMs = Math.max(MIN_AHEAD_MS, MAX_AHEAD_MS - this.frameMs);
    return Math.max(this.lastSentMs + this.frameMs * MIN_GAP_SHARE, this.farEndMs - aheadMs);
  }

  private wakeAt(dueMs: number): void {
    this.cancelTimer = this.clock.after(Math.max(0, dueMs - this.clock.nowMs()), () => this.pump());
  }
}

function partsFor(rateHz: number, requestedBytes: number | null) {
  const frameBytes = frameBytesFor(rateHz, requestedBytes);
  return {
    frames: new FrameCollector(frameBytes),
    resampler: rateHz === LINE_RATE_HZ ? null : new (audioKernels().Resampler)(LINE_RATE_HZ, rateHz),
    frameMs: (frameBytes / 2 / rateHz) * 1000,
  };
}
