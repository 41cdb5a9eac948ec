import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import type { ProviderContext, ProviderTrouble } from '../../../src/providers/contract/provider-context.ts';
import { type ChainedClient, ProviderChain } from '../../../src/providers/resilient/provider-chain.ts';
import { LocalProviderHealth } from '../../../src/providers/resilient/provider-health.ts';
import { HandClock } from '../../harness/hand-clock.ts';

/** A call's config inputs: a clock moved by hand, a provider health of its own, and the troubles that were reported. */
export function configInputs(clock = new HandClock(1_000), sampleRate = 8_000) {
  const troubles: ProviderTrouble[] = [];
  const context: ProviderContext = {
    sampleRate,
    clock,
    report: (trouble) => void troubles.push(trouble),
  };
  const providerHealth = new LocalProviderHealth({ clock, random: () => 0 });
  const named = (event: string) => troubles.filter((trouble) => trouble.event === event);
  return { clock, context, providerHealth, troubles, named };
}

/** A chain over clients that exist already; their names are the providers of the config. */
export function chainOf<T extends ChainedClient>(
  family: 'stt' | 'llm' | 'tts',
  clients: readonly T[],
  around: ReturnType<typeof configInputs>,
  settings: Partial<ProviderConfig> = {},
): ProviderChain<T> {
  const [config, ...fallbacks] = clients.map((client) => ({ provider: client.name, ...settings }));
  if (!config) throw new Error('a chain has at least one client');
  return new ProviderChain<T>({
    family,
    config: { ...config, fallbacks },
    context: around.context,
    providerHealth: around.providerHealth,
    open: async ({ provider }) => {
      const client = clients.find((candidate) => candidate.name === provider);
      if (!client) throw new Error(`no client is named ${provider}`);
      return client;
    },
  });
}
