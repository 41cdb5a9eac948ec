/**
 * How many requests per second a vendor takes from this host, learnt from its 429s, and each slot's share of it.
 * Before the first 429 there is no limit; after one it is half of what was asked, and grows again while no other comes.
 */
export interface HostRate {
  /** Times of the latest requests. */
  seen: number[];
  /** When each slot last asked. */
  slots: Map<number, number>;
  limit: { ratePerSecond: number; sinceMs: number } | null;
}

const LOOK_BACK_MS = 10_000;
const MAX_SEEN = 1_000;
const ACTIVE_SLOT_MS = 60_000;
const MAX_SLOTS = 256;
const CUT = 0.5;
const LEAST_PER_SECOND = 0.5;
/** The limit grows by this factor every so often, and is gone after the last. */
const GROWTH = 1.5;
const GROWS_EVERY_MS = 10_000;
const LASTS_MS = 60_000;

export function newHostRate(): HostRate {
  return { seen: [], slots: new Map(), limit: null };
}

export function requestSeen(rate: HostRate, slot: number, nowMs: number): void {
  rate.seen.push(nowMs);
  if (rate.seen.length > MAX_SEEN) rate.seen.shift();
  rate.slots.delete(slot);
  rate.slots.set(slot, nowMs);
  const [oldest] = rate.slots.keys();
  if (rate.slots.size > MAX_SLOTS && oldest !== undefined) rate.slots.delete(oldest);
}

/** The vendor said 429. */
export function rateRefused(rate: HostRate, nowMs: number): void {
  const asked = rate.seen.filter((atMs) => nowMs - atMs <= LOOK_BACK_MS).length;
  const ratePerSecond = Math.max(LEAST_PER_SECOND, ((asked * 1000) / LOOK_BACK_MS) * CUT);
  rate.limit = { ratePerSecond, sinceMs: nowMs };
}

/** What one slot may ask per second; null without a limit. */
export function slotRate(rate: HostRate, nowMs: number): number | null {
  if (!rate.limit) return null;
  const ageMs = nowMs - rate.limit.sinceMs;
  if (ageMs >= LASTS_MS) {
    rate.limit = null;
    return null;
  }
  const active = [...rate.slots.values()].filter((atMs) => nowMs - atMs <= ACTIVE_SLOT_MS).length;
  const now = rate.limit.ratePerSecond * GROWTH ** Math.floor(ageMs / GROWS_EVERY_MS);
  return now / Math.max(1, active);
}
