import { monotonicMs, sleepMs } from '../../platform/clock.ts';

/** Time as the provider clients take it, so that a test can let idle rules of minutes pass in milliseconds. */
export interface ProviderClock {
  nowMs(): number;
  /** Calls `action` once after `ms`; returns what cancels it. Never keeps the process alive by itself. */
  after(ms: number, action: () => void): () => void;
  /** Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const realClock: ProviderClock = {
  nowMs: monotonicMs,
  after(ms, action) {
    const timer = setTimeout(action, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: sleepMs,
};
