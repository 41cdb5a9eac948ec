import { monotonicMs, sleepMs } from '../../platform/clock.ts';

/**
 * Waits until the monotonic clock shows `deadlineMs`, at once where it already does. Throws the signal's own reason,
 * which the provider interfaces promise and the plain timer wraps in an error of its own.
 */
export async function waitUntil(deadlineMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const leftMs = deadlineMs - monotonicMs();
  if (leftMs <= 0) return;
  try {
    await sleepMs(leftMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Never resolves; throws the signal's reason when it is aborted. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
