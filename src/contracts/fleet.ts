/** Answer of `GET /health/fleet` (control-plane.md 2.10). Callers may depend on `fleet_available` alone. */
export interface FleetHealth {
  status: 'ok' | 'degraded' | 'draining';
  fleet_available: number;
  fleet_total: number;
  fleet_busy: number;
  fleet_draining: number;
  accepting: boolean;
  workers?: FleetWorker[];
  outbox?: { results_pending: number; results_oldest_seconds: number };
  models?: Record<string, 'ready' | 'missing' | 'off'>;
  version: string;
  started_at: string;
  server_time: string;
  /** Why `status` is not `ok`, one sentence each. */
  reasons: string[];
}

export interface FleetWorker {
  /** Slot number, or `orphan-<pid>` for a call that outlived an earlier main. */
  id: string;
  state: 'starting' | 'idle' | 'busy' | 'dead' | 'orphan';
  pid: number | null;
  /** The spool folder's name while a call runs. */
  call_id: string | null;
  bot_id: string | null;
  since: string | null;
  rss_bytes: number | null;
  version: string;
}
