/** The latest durations of one thing, and their percentiles; old ones and those beyond the bound are forgotten. */
const MAX_SAMPLES = 128;
/** Older samples tell of another day's network. */
const MAX_AGE_MS = 600_000;

export interface LatencyWindow {
  samples: { atMs: number; ms: number }[];
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
  count: number;
}

export function newLatencyWindow(): LatencyWindow {
  return { samples: [] };
}

export function addLatency(window: LatencyWindow, nowMs: number, ms: number): void {
  window.samples.push({ atMs: nowMs, ms });
  if (window.samples.length > MAX_SAMPLES) window.samples.shift();
}

/** Null without a sample that is recent enough. Nearest rank, whole milliseconds. */
export function percentiles(window: LatencyWindow, nowMs: number): Percentiles | null {
  while (window.samples[0] && nowMs - window.samples[0].atMs > MAX_AGE_MS) window.samples.shift();
  const sorted = window.samples.map((sample) => sample.ms).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), count: sorted.length };
}
