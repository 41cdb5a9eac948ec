import type { ErrorCode } from './error-catalogue.ts';

/** Answer of `GET /health/fleet` (R163, D-24). Callers may depend on `fleet_available` alone. */
export interface FleetHealth {
  status: 'ok' | 'degraded' | 'draining';
  fleet_available: number;
  fleet_total: number;
  fleet_busy: number;
  /** Slots that are kept for calls which a dialler is about to make (D-16); not in `fleet_available`. */
  fleet_reserved: number;
  fleet_draining: number;
  accepting: boolean;
  workers?: FleetWorker[];
  /** The media server as this host last saw it; null where none is set up. */
  media?: FleetMedia | null;
  outbox?: { results_pending: number; results_oldest_seconds: number; handoffs_pending: number };
  /** Calls that their config endpoint has turned away since the start, by error code: they leave no result. */
  refused_calls?: Partial<Record<ErrorCode, number>>;
  models?: Record<string, 'ready' | 'missing' | 'off'>;
  /** Providers that the slots of this host have asked lately. */
  providers?: FleetProvider[];
  version: string;
  started_at: string;
  server_time: string;
  /** Why `status` is not `ok`, one sentence each. */
  reasons: string[];
}

export interface FleetMedia {
  /** `no_trunk`: calls come in, but none can be dialled. `unreachable`: the media server does not answer. */
  sip: 'ok' | 'no_trunk' | 'unreachable';
  /** Rooms of this host that stand; null before the first look. */
  rooms: number | null;
  /** What the media server took to answer the last look. */
  latency_ms: number | null;
  /** Rooms without a call that were closed since the start (RT-85). */
  rooms_cleared: number;
}

export interface FleetWorker {
  /** Slot number, or `orphan-<pid>` for a call that outlived an earlier main. */
  id: string;
  state: 'starting' | 'idle' | 'reserved' | 'busy' | 'dead' | 'orphan';
  pid: number | null;
  /** The spool folder's name while a call runs. */
  call_id: string | null;
  bot_id: string | null;
  /** Of a room call. */
  room_name?: string;
  since: string | null;
  rss_bytes: number | null;
  version: string;
}

/** How one provider does, as the slots of the host have met it. */
export interface FleetProvider {
  family: 'stt' | 'llm' | 'tts';
  provider: string;
  /** Scheme and host where it is not the vendor's own. */
  origin: string | null;
  /** `open`: left alone until `open_until`, ISO 8601; `half_open`: tried with one request at a time. */
  state: 'closed' | 'open' | 'half_open';
  open_until: string | null;
  /** To the first token, the first audio or the final text, in milliseconds. */
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  /** Of the latest requests, 0 to 1. */
  error_rate: number | null;
}
