import type { SenderClock } from '../../src/slot/transport/partner-sender.ts';

/** Time that only the test moves; timers fire in order, each at its own moment. */
export class HandClock implements SenderClock {
  private ms = 0;
  private timers: { dueMs: number; action: () => void }[] = [];

  nowMs(): number {
    return this.ms;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.ms + ms, action };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  move(ms: number): void {
    this.moveTo(this.ms + ms);
  }

  moveTo(targetMs: number): void {
    for (;;) {
      const next = this.timers
        .filter((timer) => timer.dueMs <= targetMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.ms = Math.max(this.ms, next.dueMs);
      next.action();
    }
    this.ms = Math.max(this.ms, targetMs);
  }

  /** The process did not run for so long: time passes and no timer fires meanwhile. */
  jump(ms: number): void {
    this.ms += ms;
  }
}
