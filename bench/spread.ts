/** How a set of readings is spread. Quantiles are by nearest rank; NaN-free: an empty set is all null. */
export interface Spread {
  count: number;
  p50: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
}

export function spreadOf(readings: readonly number[]): Spread {
  const sorted = Float64Array.from(readings).sort();
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    max: quantile(sorted, 1),
  };
}

/** The nearest-rank quantile of readings in ascending order; null where there are none. */
export function quantile(sorted: ArrayLike<number>, share: number): number | null {
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? null;
}

/** The middle reading, or the mean of the two in the middle; null where there are none. */
export function median(readings: readonly number[]): number | null {
  const sorted = [...readings].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
