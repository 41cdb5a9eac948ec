import { monotonicMs, sleepMs } from '../../../src/platform/clock.ts';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';

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
