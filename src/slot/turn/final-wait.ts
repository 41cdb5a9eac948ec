import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { type ProviderHealth, providerKey } from '../../providers/resilient/provider-health.ts';
import { samplesOf } from './turn-rules.ts';

/** Until enough was measured on this host (RT-06). */
const UNKNOWN_MS = 1_000;
const MIN_MS = 300;
/** Beyond the slowest of a hundred lies the network of another minute. */
const MARGIN = 1.25;
const MARGIN_MS = 100;

/**
 * How long the text of a finished turn is waited for (RT-06): what the slowest of a hundred took with this engine on
 * this host, in samples. `engineName` is who listens now, which may be a fallback.
 */
export function finalWaitSamples(
  config: Pick<RuntimeConfig, 'stt'>,
  providerHealth: Pick<ProviderHealth, 'latency'>,
  engineName: string,
): number {
  const all = [config.stt, ...(config.stt.fallbacks ?? [])];
  const engine = all.find(({ provider }) => provider === engineName) ?? config.stt;
  const measured = providerHealth.latency(providerKey('stt', engine));
  const ms = measured ? measured.p99 * MARGIN + MARGIN_MS : UNKNOWN_MS;
  return samplesOf(Math.max(MIN_MS, ms));
}
