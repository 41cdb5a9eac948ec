import { AppError } from '../../platform/app-error.ts';
import type { ProviderFailure } from '../contract/provider-error.ts';

/**
 * So long a call waits in all for the only provider of a step that is asked too much: until the rescue line of an answer
 * that is owed is due (RT-21). The caller hears fillers meanwhile.
 */
export const RATE_LIMIT_PATIENCE_MS = 10_000;
/** A vendor that names no time is left alone for this long. */
const UNNAMED_WAIT_MS = 1_000;
/** Doubled with each time, so that a vendor that names next to nothing is not asked all the time. */
const SHORTEST_WAIT_MS = 250;
/** Calls that were told the same time must not all ask at once: each waits up to this share longer. */
const SPREAD = 0.1;

/**
 * How long to wait before the same provider is asked again; null where that is more than the caller can be asked to
 * bear. `waitedMs` is since it was asked first, `times` how often it has refused before this.
 */
export function rateLimitWaitMs(
  error: unknown,
  waitedMs: number,
  times: number,
  random: () => number = Math.random,
): number | null {
  const details = error instanceof AppError ? (error.details as Partial<ProviderFailure> | undefined) : {};
  const askedMs = Math.max(details?.retryAfterMs ?? UNNAMED_WAIT_MS, SHORTEST_WAIT_MS * 2 ** times);
  return waitedMs + askedMs > RATE_LIMIT_PATIENCE_MS ? null : Math.round(askedMs * (1 + random() * SPREAD));
}
