import type { FleetProvider } from '../../contracts/fleet.ts';
import type { ProviderFamily, ProviderHealthEntry } from '../../contracts/provider-health.ts';

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
