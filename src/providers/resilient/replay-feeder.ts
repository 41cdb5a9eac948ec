import type { ProviderClock } from '../contract/provider-clock.ts';
import type { SttSession } from '../contract/speech-to-text.ts';
import type { AudioRing } from './audio-ring.ts';

const TICK_MS = 50;

/**
 * Feeds one session from the ring: first what it missed, at a bounded pace, then live. What is to happen at a
 * position, such as a flush, happens when the session has been fed exactly up to there.
 */
export class ReplayFeeder {
  private readonly ring: AudioRing;
  private readonly session: SttSession;
  private readonly clock: ProviderClock;
  /** Samples per millisecond while it catches up. */
  private readonly pace: number;
  private readonly startedMs: number;
  private readonly from: number;
  private marks: { at: number; action: () => void }[] = [];
  private nextAt: number;
  private live = false;
  private stopped = false;
  private cancel: () => void = () => undefined;

  /** `timesRealTime` is how fast the vendor takes audio that is not live. */
  constructor(options: {
    ring: AudioRing;
    session: SttSession;
    clock: ProviderClock;
    fromAt: number;
    timesRealTime: number;
  }) {
    this.ring = options.ring;
    this.session = options.session;
    this.clock = options.clock;
    this.from = Math.max(options.fromAt, options.ring.startAt);
    this.nextAt = this.from;
    this.pace = (options.ring.sampleRate * options.timesRealTime) / 1000;
    this.startedMs = options.clock.nowMs();
  }

  /** Where the session's own count of samples begins. */
  get fromAt(): number {
    return this.from;
  }

  get fedUpTo(): number {
    return this.nextAt;
  }

  get isLive(): boolean {
    return this.live;
  }

  start(): void {
    this.tick();
  }

  /** The ring has just got these samples. */
  arrived(samples: Int16Array): void {
    if (!this.live || this.stopped) return;
    this.nextAt += samples.length;
    this.session.feed(samples);
    this.reachMarks();
  }

  /** Marks come in the order of their positions. */
  at(at: number, action: () => void): void {
    this.marks.push({ at, action });
    if (this.live) this.reachMarks();
  }

  stop(): void {
    this.stopped = true;
    this.marks = [];
    this.cancel();
  }

  private tick(): void {
    if (this.stopped) return;
    const aheadMs = this.clock.nowMs() - this.startedMs + TICK_MS;
    const dueAt = this.from + Math.floor(aheadMs * this.pace);
    this.feedUpTo(Math.min(dueAt, this.ring.endAt));
    // A mark that was reached may have stopped us.
    if (this.stopped) return;
    if (this.nextAt >= this.ring.endAt) {
      this.live = true;
      return;
    }
    this.cancel = this.clock.after(TICK_MS, () => this.tick());
  }

  private feedUpTo(toAt: number): void {
    this.reachMarks();
    while (!this.stopped && this.nextAt < toAt) {
      const stopAt = Math.min(toAt, this.marks[0]?.at ?? toAt);
      const samples = this.ring.copy(this.nextAt, stopAt);
      this.nextAt = stopAt;
      if (samples.length > 0) this.session.feed(samples);
      this.reachMarks();
    }
  }

  private reachMarks(): void {
    while (!this.stopped && this.marks[0] && this.marks[0].at <= this.nextAt) {
      this.marks.shift()?.action();
    }
  }
}
