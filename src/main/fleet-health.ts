import type { FleetHealth, FleetMedia, FleetProvider, FleetWorker } from '../contracts/fleet.ts';
import type { Refusal } from '../contracts/fleet-refusals.ts';
import type { ProviderFamily, ProviderHealthEntry } from '../contracts/provider-health.ts';
import { PRODUCT_VERSION } from '../platform/version.ts';
import type { OrphanCalls } from './slots/orphan-calls.ts';
import type { SlotPool } from './slots/slot-pool.ts';
import type { SlotProcess } from './slots/slot-process.ts';

/** Results that wait longer than this make the host `degraded`: their receiver is away or refuses. */
const RESULTS_LATE_SECONDS = 60;

export interface HealthSources {
  pool: SlotPool;
  orphans: OrphanCalls;
  draining: boolean;
  pressure: Refusal | null;
  /** Null where no media server is set up. */
  media: FleetMedia | null;
  results: { count: number; oldestSeconds: number };
  /** Handoffs of which the agent desk has not taken everything. */
  handoffs: number;
  /** Spool folders that wait: of another version, or failing to be taken in. */
  foreignFolders: number;
  failedFolders: number;
  /** By error code. */
  refusedCalls: NonNullable<FleetHealth['refused_calls']>;
  providers: readonly ProviderHealthEntry[];
  startedAt: string;
}

/** The answer of `GET /health/fleet` (R163, D-24). `detailed` adds what is not for everyone. */
export function fleetHealth(sources: HealthSources, detailed: boolean): FleetHealth {
  const { pool, orphans, draining } = sources;
  const slots = pool.slots();
  const reasons = reasonsOf(sources);
  const accepting = !draining && sources.pressure === null;
  const models: FleetHealth['models'] = {};
  for (const slot of slots) Object.assign(models, slot.models);
  const busy = slots.filter((slot) => slot.state === 'busy' || slot.state === 'leased').length;
  return {
    status: draining ? 'draining' : reasons.length > 0 ? 'degraded' : 'ok',
    fleet_available: accepting ? pool.idleCount() : 0,
    fleet_total: pool.size,
    fleet_busy: busy + orphans.count,
    fleet_reserved: slots.filter((slot) => slot.state === 'reserved').length,
    fleet_draining: slots.filter((slot) => slot.leaving).length,
    accepting,
    ...(detailed
      ? {
          workers: [...slots.map(worker), ...pool.deadPlaces().map(deadWorker), ...orphans.workers()],
          outbox: {
            results_pending: sources.results.count,
            results_oldest_seconds: sources.results.oldestSeconds,
            handoffs_pending: sources.handoffs,
          },
          media: sources.media,
          refused_calls: sources.refusedCalls,
          models,
          providers: fleetProviders(sources.providers, Date.now()),
        }
      : {}),
    version: PRODUCT_VERSION,
    started_at: sources.startedAt,
    server_time: new Date().toISOString(),
    reasons: detailed ? reasons : [],
  };
}

function reasonsOf(sources: HealthSources): string[] {
  const reasons: string[] = [];
  if (sources.pool.slots().some((slot) => slot.models['smart-turn'] === 'missing')) {
    reasons.push('The turn model is missing, so silence decides when a turn ends; run "trunkline models".');
  }
  const dead = sources.pool.deadPlaces().length;
  if (sources.draining) reasons.push('The host is draining and takes no new calls.');
  if (sources.pressure?.body.detail) reasons.push(sentence(sources.pressure.body.detail));
  if (sources.media?.sip === 'unreachable') {
    reasons.push(
      'The media server does not answer or refuses our key, so calls through rooms cannot be taken.',
    );
  }
  if (dead > 0) reasons.push(`${dead} slot${dead === 1 ? '' : 's'} failed and will be started again.`);
  if (sources.results.oldestSeconds > RESULTS_LATE_SECONDS) {
    reasons.push(
      `${sources.results.count} result${sources.results.count === 1 ? '' : 's'} could not be delivered yet, the oldest for ${sources.results.oldestSeconds} s.`,
    );
  }
  if (sources.foreignFolders > 0) {
    reasons.push(
      `${sources.foreignFolders} spool folders were written by another version and are left alone.`,
    );
  }
  if (sources.failedFolders > 0) {
    reasons.push(`${sources.failedFolders} finished calls could not be taken in yet; see the log.`);
  }
  return reasons;
}

function worker(slot: SlotProcess): FleetWorker {
  const roomName = slot.call?.roomName ?? null;
  return {
    id: String(slot.slotId),
    state: slot.state === 'leased' ? 'busy' : slot.state === 'ended' ? 'dead' : slot.state,
    pid: slot.pid,
    call_id: slot.call?.callId ?? null,
    bot_id: slot.call?.botId ?? null,
    ...(roomName === null ? {} : { room_name: roomName }),
    since: slot.call?.sinceIso ?? slot.sinceIso,
    rss_bytes: slot.rssBytes,
    version: PRODUCT_VERSION,
  };
}

function deadWorker(slotId: number): FleetWorker {
  return {
    id: String(slotId),
    state: 'dead',
    pid: null,
    call_id: null,
    bot_id: null,
    since: null,
    rss_bytes: null,
    version: PRODUCT_VERSION,
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The provider health as `GET /health/fleet` tells it. `wallMs` is the time of day. */
export function fleetProviders(entries: readonly ProviderHealthEntry[], wallMs: number): FleetProvider[] {
  return entries.map((entry) => {
    const [family = '', provider = '', ...origin] = entry.key.split(':');
    return {
      family: family as ProviderFamily,
      provider,
      origin: origin.join(':') || null,
      state: entry.state,
      open_until: entry.state === 'open' ? new Date(wallMs + entry.openForMs).toISOString() : null,
      p50_ms: entry.p50,
      p95_ms: entry.p95,
      p99_ms: entry.p99,
      error_rate: entry.errorRate,
    };
  });
}
