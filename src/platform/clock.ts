import { setTimeout as delay } from 'node:timers/promises';

/** Monotonic milliseconds with sub-millisecond resolution. */
export function monotonicMs(): number {
  return performance.now();
}

/** Wall time as ISO 8601 UTC. */
export function isoNow(): string {
  return new Date().toISOString();
}

/** Resolves after `ms`, or rejects with the signal's reason. */
export async function sleepMs(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {});
}

/**
 * The promise's value, or `fallback` once `ms` have passed. The promise goes on; its late failure is swallowed.
 */
export async function within<T, F>(promise: Promise<T>, ms: number, fallback: F): Promise<T | F> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<F>((resolve) => {
    timer = setTimeout(() => resolve(fallback), ms);
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
