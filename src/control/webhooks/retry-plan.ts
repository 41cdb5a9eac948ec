const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits before the attempts of a delivery (D-51): the first goes out at once. */
export const ATTEMPT_WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Receivers that failed together must not be asked again together. */
export const JITTER = 0.2;
/** No wait is longer, a `Retry-After` included. */
export const MAX_WAIT_MS = 24 * HOUR_MS * (1 + JITTER);

/**
 * How long to wait after the `attempts`-th failed attempt in ms, or null when that was the last. A receiver may ask for
 * a longer wait, never for a shorter one. `random` is in 0..1.
 */
export function waitAfterAttempt(
  attempts: number,
  random: number,
  retryAfterMs: number | null,
): number | null {
  const planned = ATTEMPT_WAITS_MS[attempts];
  if (planned === undefined) return null;
  const jittered = planned * (1 - JITTER + 2 * JITTER * random);
  return Math.round(Math.min(MAX_WAIT_MS, Math.max(jittered, retryAfterMs ?? 0)));
}

/** `Retry-After` of RFC 9110 section 10.2.3, seconds or a date, in ms from now; null where it says nothing usable. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // Only the dates of HTTP: Date.parse alone takes nearly anything for one.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
