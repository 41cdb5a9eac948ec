import {
  MAX_PROVIDER_HEALTH_ENTRIES,
  type ProviderFamily,
  type ProviderHealthEntry,
  type ProviderOutcome,
  type ProviderResult,
} from '../../contracts/provider-health.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import {
  abandonRequest,
  admits,
  type Breaker,
  beginRequest,
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
import {
  hasToken,
  newTokenBucket,
  setRate,
  type TokenBucket,
  takeToken,
} from '../../platform/token-bucket.ts';
import { type ProviderClock, realClock } from '../contract/provider-clock.ts';

/** A vendor that says 429 without a time is left alone this long. */
export const RETRY_AFTER_DEFAULT_MS = 5_000;
/** Percentiles of so few measurements would be one slow request's opinion. */
const MIN_SAMPLES = 5;
/** Slots that were told the same time must not all try at once: each waits up to this share longer. */
const SPREAD = 0.2;
/** A rate that main does not renew is over. */
const RATE_HOLDS_MS = 60_000;
const MAX_KEY_LENGTH = 200;

/** How the providers do, as a call asks: synchronous, from what this process and the others of the host have met. */
export interface ProviderHealth {
  /** Whether it makes sense to ask this provider now. Changes nothing. */
  admits(key: string): boolean;
  /** A request begins. Each begin is followed by one `ended`. */
  begin(key: string): void;
  /** `abandoned` is a request that we gave up before it said anything about the provider. */
  ended(key: string, outcome: EndedRequest | 'abandoned'): void;
  /** Of the first token, the first audio or the final text; null while too few were measured. */
  latency(key: string): Latency | null;
}

/** Milliseconds. */
export interface Latency {
  p50: number;
  p95: number;
  p99: number;
}

export interface EndedRequest {
  result: ProviderResult;
  ms: number | null;
  retryAfterMs?: number | null;
}

interface Entry {
  breaker: Breaker;
  latency: LatencyWindow;
  bucket: TokenBucket;
  rateUntilMs: number;
  /** What main says of the whole host. */
  hostOpenUntilMs: number;
  hostLatency: Latency | null;
}

export interface ProviderHealthOptions {
  clock?: ProviderClock;
  random?: () => number;
  /** Every outcome, for the other slots. */
  onOutcome?(outcome: ProviderOutcome): void;
}

/** One per process, for all its calls. Works alone; what main tells only adds to it. */
export class LocalProviderHealth implements ProviderHealth {
  private readonly clock: ProviderClock;
  private readonly random: () => number;
  private readonly onOutcome: (outcome: ProviderOutcome) => void;
  private readonly entries = new Map<string, Entry>();

  constructor(options: ProviderHealthOptions = {}) {
    this.clock = options.clock ?? realClock;
    this.random = options.random ?? Math.random;
    this.onOutcome = options.onOutcome ?? (() => undefined);
  }

  admits(key: string): boolean {
    const entry = this.entries.get(key);
    if (!entry) return true;
    const now = this.clock.nowMs();
    if (now < entry.hostOpenUntilMs || !admits(entry.breaker, now)) return false;
    if (now >= entry.rateUntilMs) setRate(entry.bucket, null, now);
    return hasToken(entry.bucket, now);
  }

  begin(key: string): void {
    const entry = this.entry(key);
    const now = this.clock.nowMs();
    beginRequest(entry.breaker, now);
    takeToken(entry.bucket, now);
  }

  ended(key: string, outcome: EndedRequest | 'abandoned'): void {
    const entry = this.entry(key);
    const now = this.clock.nowMs();
    if (outcome === 'abandoned') {
      abandonRequest(entry.breaker);
      return;
    }
    const { result, ms } = outcome;
    const retryAfterMs = outcome.retryAfterMs ?? null;
    if (ms !== null) addLatency(entry.latency, now, ms);
    if (result === 'ok') recordSuccess(entry.breaker, now);
    else if (result === 'failed' || result === 'slow') recordFailure(entry.breaker, now);
    else if (result === 'rate_limited') openFor(entry.breaker, now, retryAfterMs ?? RETRY_AFTER_DEFAULT_MS);
    else abandonRequest(entry.breaker);
    this.onOutcome({ key, result, ms: ms === null ? null : Math.round(ms), retryAfterMs });
  }

  latency(key: string): Latency | null {
    const entry = this.entries.get(key);
    if (!entry) return null;
    if (entry.hostLatency) return entry.hostLatency;
    const own = percentiles(entry.latency, this.clock.nowMs());
    return own && own.count >= MIN_SAMPLES ? own : null;
  }

  /** What main knows of all slots together. */
  hear(providers: readonly ProviderHealthEntry[]): void {
    const now = this.clock.nowMs();
    for (const told of providers.slice(0, MAX_PROVIDER_HEALTH_ENTRIES)) {
      const entry = this.entry(told.key);
      entry.hostOpenUntilMs = told.state === 'open' ? now + told.openForMs * (1 + this.random() * SPREAD) : 0;
      entry.hostLatency =
        told.p50 !== null && told.p95 !== null && told.samples >= MIN_SAMPLES
          ? { p50: told.p50, p95: told.p95, p99: told.p99 ?? told.p95 }
          : null;
      setRate(entry.bucket, told.ratePerSecond, now);
      entry.rateUntilMs = now + RATE_HOLDS_MS;
    }
  }

  /** The entry, made where there was none, and the latest in use. */
  private entry(key: string): Entry {
    const entry = this.entries.get(key) ?? {
      breaker: newBreaker(),
      latency: newLatencyWindow(),
      bucket: newTokenBucket(),
      rateUntilMs: 0,
      hostOpenUntilMs: 0,
      hostLatency: null,
    };
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size > MAX_PROVIDER_HEALTH_ENTRIES) {
      const oldest = this.entries.keys().next().value;
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    return entry;
  }
}

/** Names a provider in the provider health: the same service at another address is another one. */
export function providerKey(family: ProviderFamily, config: ProviderConfig): string {
  return `${family}:${config.provider}:${originOf(config.base_url)}`.slice(0, MAX_KEY_LENGTH);
}

function originOf(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) return '';
  const { protocol, host } = new URL(baseUrl);
  return `${protocol}//${host}`;
}
