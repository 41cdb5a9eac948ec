import { monotonicMs, sleepMs } from '../../../src/platform/clock.ts';
import type { ProviderClock } from '../../../src/providers/provider-clock.ts';

/**
 * A clock on which `factor` milliseconds pass in each real one, so that idle rules of minutes run in a test. The
 * client under test takes the same clock.
 */
export function scaledClock(factor: number): ProviderClock {
  const startMs = monotonicMs();
  return {
    nowMs: () => startMs + (monotonicMs() - startMs) * factor,
    after(ms, action) {
      const timer = setTimeout(action, ms / factor);
      timer.unref();
      return () => clearTimeout(timer);
    },
    sleep: (ms, signal) => sleepMs(ms / factor, signal),
  };
}

interface HandTimer {
  dueMs: number;
  action: () => void;
}

/** Rounds of the event loop that each step of a hand clock leaves to sockets on the loopback. */
const ROUNDS_PER_STEP = 6;

/** A clock that stands still until a test moves it: idle rules without any race against the machine's load. */
export class HandClock implements ProviderClock {
  private currentMs = 1_000;
  private readonly timers = new Set<HandTimer>();

  nowMs(): number {
    return this.currentMs;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.currentMs + ms, action };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = () => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /**
   * Lets `ms` pass in steps, every due timer at its own time and in order. Between the steps the event loop turns, so
   * that what a timer sent mostly arrives before the next one fires; a test that needs it for sure waits for the frame.
   */
  async advance(ms: number, stepMs = Math.max(1, ms / 10)): Promise<void> {
    const endMs = this.currentMs + ms;
    await settle();
    while (this.currentMs < endMs) {
      const next = Math.min(endMs, this.currentMs + stepMs, ...[...this.timers].map((timer) => timer.dueMs));
      this.currentMs = Math.max(this.currentMs, next);
      this.fire();
      await settle();
    }
  }

  /** Timers that wait, so that a test can assert that a closed client left none. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  private fire(): void {
    const due = [...this.timers].filter((timer) => timer.dueMs <= this.currentMs);
    for (const timer of due.sort((a, b) => a.dueMs - b.dueMs)) {
      if (this.timers.delete(timer)) timer.action();
    }
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < ROUNDS_PER_STEP; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
