/** When a row that failed is tried again, as data. All times in ms. */
export interface RetryPolicy {
  /** Waits after the first failures that may pass by themselves; a refusal passes over them. */
  quickWaitsMs: readonly number[];
  /** Waits after the failures behind those. */
  stepsMs: readonly number[];
  /** Behind the last step: given up, or the last step again without end. */
  givesUp: boolean;
  /** A step is multiplied by a factor from here to there: rows that failed together must not come back together. */
  jitter: readonly [from: number, to: number];
  /** No wait is longer, one that a receiver asks for included. */
  longestWaitMs: number;
}

export interface Failure {
  /** It may pass by itself: the receiver is away, or in trouble. Otherwise it refuses. */
  isTransient: boolean;
  /** The wait that the receiver asked for (`Retry-After`). */
  retryAfterMs: number | null;
}

/**
 * How long to wait after the `failures`-th failed attempt, or null where that was the last. A receiver may ask for a
 * longer wait, never for a shorter one. `random` is in 0..1.
 */
export function retryWaitMs(
  policy: RetryPolicy,
  failures: number,
  { isTransient, retryAfterMs }: Failure,
  random: number,
): number | null {
  const quickWaits = isTransient ? policy.quickWaitsMs : [];
  let plannedMs = quickWaits[failures - 1];
  if (plannedMs === undefined) {
    const stepMs =
      policy.stepsMs[failures - 1 - quickWaits.length] ??
      (policy.givesUp ? undefined : policy.stepsMs.at(-1));
    if (stepMs === undefined) return null;
    const [from, to] = policy.jitter;
    plannedMs = stepMs * (from + (to - from) * random);
  }
  return Math.round(Math.min(policy.longestWaitMs, Math.max(plannedMs, retryAfterMs ?? 0)));
}
