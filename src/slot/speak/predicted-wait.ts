import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { type ProviderHealth, providerKey } from '../../providers/resilient/provider-health.ts';

/** A voice of which too little is known begins within this, mostly (performance of the vendors' streaming voices). */
const UNKNOWN_VOICE_MS = 300;

/**
 * How long the bot will take from a turn's text to the first sound of its answer: what its model and its voice mostly
 * took on this host lately, in milliseconds. Null while too little is known of the model.
 */
export function predictedWaitMs(
  config: Pick<RuntimeConfig, 'llm' | 'tts'>,
  providerHealth: Pick<ProviderHealth, 'latency'>,
): number | null {
  const model = providerHealth.latency(providerKey('llm', config.llm));
  if (!model) return null;
  const voice = providerHealth.latency(providerKey('tts', config.tts));
  return model.p50 + (voice?.p50 ?? UNKNOWN_VOICE_MS);
}
