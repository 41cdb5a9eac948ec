import {
  MAX_OUTCOMES_AT_ONCE,
  MAX_PROVIDER_HEALTH_ENTRIES,
  type ProviderHealthEntry,
  type ProviderOutcome,
} from '../../contracts/provider-health.ts';
import type { MainToSlot } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import {
  type Breaker,
  breakerState,
  errorRate,
  newBreaker,
  openFor,
  recordFailure,
  recordSuccess,
} from '../../platform/circuit-breaker.ts';
import {
  addLatency,
  type LatencyWindow,
  newLatencyWindow,
  percentiles,
} from '../../platform/latency-window.ts';

/** A vendor that says 429 without a time is left alone this long, by every slot. */
const RETRY_AFTER_DEFAULT_MS = 5_000;
/** New percentiles alone are told this often. */
const TELL_LATENCY_EVERY_MS = 5_000;
const MAX_KEY_LENGTH = 200;

interface Row {
  breaker: Breaker;
  latency: LatencyWindow;
  rate: HostRate;
}

/**
 * What the slots of this host have met at the providers, put together: one slot's failures keep the others away
 * (RT-58), one slot's 429 slows all of them down (RT-89), and the percentiles are those of the host.
 */
export class ProviderHealthTable {
  private readonly nowMs: () => number;
  private readonly onChange: (entries: ProviderHealthEntry[]) => void;
  /** The latest in use last. */
  private readonly rows = new Map<string, Row>();
  private toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: { nowMs(): number; onChange(entries: ProviderHealthEntry[]): void }) {
    this.nowMs = options.nowMs;
    this.onChange = options.onChange;
  }

  /** `slot` names the process that says so. */
  hear(slot: number, outcomes: readonly ProviderOutcome[]): void {
    const now = this.nowMs();
    let hasChanged = false;
    for (const outcome of outcomes.slice(-MAX_OUTCOMES_AT_ONCE)) {
      const row = this.row(outcome.key.slice(0, MAX_KEY_LENGTH));
      const before = breakerState(row.breaker, now);
      this.take(row, slot, outcome, now);
      if (outcome.result === 'rate_limited' || breakerState(row.breaker, now) !== before) hasChanged = true;
    }
    if (!hasChanged && (outcomes.length === 0 || now - this.toldAtMs < TELL_LATENCY_EVERY_MS)) return;
    this.toldAtMs = now;
    this.onChange(this.entries());
  }

  entries(): ProviderHealthEntry[] {
    const now = this.nowMs();
    return [...this.rows].map(([key, { breaker, latency, rate }]) => {
      const state = breakerState(breaker, now);
      const measured = percentiles(latency, now);
      return {
        key,
        state,
        openForMs: state === 'open' ? Math.ceil(breaker.openUntilMs - now) : 0,
        p50: measured?.p50 ?? null,
        p95: measured?.p95 ?? null,
        p99: measured?.p99 ?? null,
        samples: measured?.count ?? 0,
        errorRate: state === 'open' ? 1 : errorRate(breaker, now),
        ratePerSecond: slotRate(rate, now),
      };
    });
  }

  private take(row: Row, slot: number, outcome: ProviderOutcome, now: number): void {
    requestSeen(row.rate, slot, now);
    if (outcome.ms !== null) addLatency(row.latency, now, outcome.ms);
    switch (outcome.result) {
      case 'ok':
        recordSuccess(row.breaker, now);
        return;
      case 'failed':
      case 'slow':
        recordFailure(row.breaker, now);
        return;
      case 'rate_limited':
        rateRefused(row.rate, now);
        openFor(row.breaker, now, outcome.retryAfterMs ?? RETRY_AFTER_DEFAULT_MS);
        return;
      case 'refused':
        return;
    }
  }

  private row(key: string): Row {
    const row = this.rows.get(key) ?? {
      breaker: newBreaker(),
      latency: newLatencyWindow(),
      rate: newHostRate(),
    };
    this.rows.delete(key);
    this.rows.set(key, row);
    const [oldest] = this.rows.keys();
    if (this.rows.size > MAX_PROVIDER_HEALTH_ENTRIES && oldest !== undefined) this.rows.delete(oldest);
    return row;
  }
}

/**
 * How many requests per second a vendor takes from this host, learnt from its 429s, and each slot's share of it.
 * Before the first 429 there is no limit; after one it is half of what was asked, and grows again while no other comes.
 */
interface HostRate {
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

function newHostRate(): HostRate {
  return { seen: [], slots: new Map(), limit: null };
}

function requestSeen(rate: HostRate, slot: number, nowMs: number): void {
  rate.seen.push(nowMs);
  if (rate.seen.length > MAX_SEEN) rate.seen.shift();
  rate.slots.delete(slot);
  rate.slots.set(slot, nowMs);
  const [oldest] = rate.slots.keys();
  if (rate.slots.size > MAX_SLOTS && oldest !== undefined) rate.slots.delete(oldest);
}

/** The vendor said 429. */
function rateRefused(rate: HostRate, nowMs: number): void {
  const asked = rate.seen.filter((atMs) => nowMs - atMs <= LOOK_BACK_MS).length;
  const ratePerSecond = Math.max(LEAST_PER_SECOND, ((asked * 1000) / LOOK_BACK_MS) * CUT);
  rate.limit = { ratePerSecond, sinceMs: nowMs };
}

/** What one slot may ask per second; null without a limit. */
function slotRate(rate: HostRate, nowMs: number): number | null {
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

/** What the provider health needs of a slot process. */
interface ProviderHealthSlot {
  readonly slotId: number;
  tell(message: MainToSlot): void;
}

/** A slot tells what it met; with an empty list it asks for what is known. */
export function takeProviderHealth(
  table: ProviderHealthTable,
  slot: ProviderHealthSlot,
  outcomes: readonly ProviderOutcome[],
): void {
  if (outcomes.length === 0) tellProviderHealth(slot, table.entries());
  else table.hear(slot.slotId, outcomes);
}

export function tellProviderHealth(slot: ProviderHealthSlot, providers: ProviderHealthEntry[]): void {
  slot.tell({ v: SLOT_MESSAGES_VERSION, type: 'provider_health', providers });
}
