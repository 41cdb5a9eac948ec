import {
  MAX_OUTCOMES_AT_ONCE,
  MAX_PROVIDER_HEALTH_ENTRIES,
  type ProviderHealthEntry,
  type ProviderOutcome,
} from '../../contracts/provider-health.ts';
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
import { type HostRate, newHostRate, rateRefused, requestSeen, slotRate } from './host-rate.ts';

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
