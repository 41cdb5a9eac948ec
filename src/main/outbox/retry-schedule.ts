/** Waits before the immediate retries that a transport failure or a 5xx gets (R152). */
export const IMMEDIATE_RETRIES_MS = [200, 500, 1_000] as const;
/** Ceiling of the first background wait; it doubles with every further failure. */
export const BACKOFF_FIRST_MS = 5_000;
/** No background wait is longer, so a receiver that comes back is served within this. */
export const BACKOFF_MAX_MS = 300_000;

/**
 * How long to wait after the `attempts`-th failure, in ms. A receiver that refuses (4xx) is not asked again at once.
 * Full jitter: rows that failed together must not come back together. `random` is in 0..1.
 */
export function waitAfterFailure(attempts: number, transient: boolean, random: number): number {
  const immediate = IMMEDIATE_RETRIES_MS[attempts - 1];
  if (transient && immediate !== undefined) return immediate;
  const doublings = transient ? attempts - 1 - IMMEDIATE_RETRIES_MS.length : attempts - 1;
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(doublings, 20));
  return Math.round(random * ceiling);
}
