/**
 * A token bucket as plain data: so many requests per second, a few at once. Without a rate it lets everything
 * through. Times are milliseconds of one clock.
 */
export interface TokenBucket {
  /** Null: no limit. */
  ratePerSecond: number | null;
  tokens: number;
  atMs: number;
}

/** What may be asked at once after a pause; a call asks for one thing at a time. */
const BURST = 2;

export function newTokenBucket(): TokenBucket {
  return { ratePerSecond: null, tokens: BURST, atMs: 0 };
}

/** Sets the rate from now on; what has been saved up stays, up to the burst. */
export function setRate(bucket: TokenBucket, ratePerSecond: number | null, nowMs: number): void {
  refill(bucket, nowMs);
  bucket.ratePerSecond = ratePerSecond;
}

export function hasToken(bucket: TokenBucket, nowMs: number): boolean {
  if (bucket.ratePerSecond === null) return true;
  refill(bucket, nowMs);
  return bucket.tokens >= 1;
}

/** Counts one request, also one that is made without a token because nobody else could take it. */
export function takeToken(bucket: TokenBucket, nowMs: number): void {
  refill(bucket, nowMs);
  bucket.tokens = Math.max(0, bucket.tokens - 1);
}

function refill(bucket: TokenBucket, nowMs: number): void {
  const seconds = Math.max(0, nowMs - bucket.atMs) / 1000;
  bucket.atMs = nowMs;
  bucket.tokens =
    bucket.ratePerSecond === null ? BURST : Math.min(BURST, bucket.tokens + seconds * bucket.ratePerSecond);
}
