/**
 * How the providers do, as the slots of one host tell each other through main (RT-58, RT-89). A provider is named by
 * family, id and origin (`stt:deepgram:https://...`, the origin empty for the vendor's own host), never by a key.
 * Times are durations: the clocks of two processes have nothing in common.
 */
export type ProviderFamily = 'stt' | 'llm' | 'tts';

/**
 * What became of one request. `slow`: it lost a race against another provider. `rate_limited`: the vendor said 429.
 * `refused`: what was asked, or the account, was at fault and not the service.
 */
export type ProviderResult = 'ok' | 'failed' | 'slow' | 'rate_limited' | 'refused';

export interface ProviderOutcome {
  key: string;
  result: ProviderResult;
  /** To the first token, the first audio, or the final text; null where nothing was measured. */
  ms: number | null;
  /** Of `rate_limited`, where the vendor said it. */
  retryAfterMs: number | null;
}

export interface ProviderHealthEntry {
  key: string;
  state: 'closed' | 'open' | 'half_open';
  /** 0 unless open. */
  openForMs: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  /** Measurements behind the percentiles. */
  samples: number;
  /** Of the latest outcomes, 0 to 1. */
  errorRate: number | null;
  /** Requests per second that one slot may make; null without a limit. */
  ratePerSecond: number | null;
}

/** Providers that are kept apart; beyond it the one that was silent longest is forgotten. */
export const MAX_PROVIDER_HEALTH_ENTRIES = 64;
/** Outcomes in one message and in a slot's queue; older ones are dropped. */
export const MAX_OUTCOMES_AT_ONCE = 200;
/** Successes wait this long for company; whatever is bad goes at once. */
export const OUTCOMES_EVERY_MS = 1_000;
