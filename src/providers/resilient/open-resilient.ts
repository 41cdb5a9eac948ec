import type { ProviderFamily } from '../../contracts/provider-health.ts';
import type { ProviderConfig, RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { LanguageModel } from '../contract/language-model.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import type { TextToSpeech } from '../contract/text-to-speech.ts';
import { openLlm, openStt, openTts } from '../open-providers.ts';
import { findProvider } from '../vendors/all-vendors.ts';
import { type ChainedClient, type ChainOptions, ProviderChain } from './provider-chain.ts';
import type { ProviderHealth } from './provider-health.ts';
import { createResilientLlm } from './resilient-llm.ts';
import { type CallSpeechToText, createResilientStt } from './resilient-stt.ts';
import { createResilientTts } from './resilient-tts.ts';

/** Fallbacks of one step (contracts/runtime-config.ts). */
const MAX_FALLBACKS = 3;

export interface CallProviders {
  stt: CallSpeechToText;
  llm: LanguageModel;
  tts: TextToSpeech;
}

/**
 * The three steps of a call, each over the bot's provider and its fallbacks. The first of each is opened here, which
 * connects to nobody; a fallback is opened when it is needed. Where the first cannot be made of its settings, a
 * fallback begins. Speech to text is fed at `hearHz`, where that is not the rate of the voices too. Throws
 * `bad_provider_config` where none can.
 */
export async function openResilientProviders(
  config: Pick<RuntimeConfig, 'stt' | 'llm' | 'tts'>,
  context: ProviderContext,
  providerHealth: ProviderHealth,
  hearHz: number = context.sampleRate,
): Promise<CallProviders> {
  const hearing = { ...context, sampleRate: hearHz };
  const [stt, llm, tts] = await Promise.all([
    openChain({ family: 'stt', config: config.stt, context: hearing, providerHealth, open: openStt }),
    openChain({ family: 'llm', config: config.llm, context, providerHealth, open: openLlm }),
    openChain({ family: 'tts', config: config.tts, context, providerHealth, open: openTts }),
  ]);
  return {
    stt: createResilientStt(stt.chain, stt.first),
    llm: createResilientLlm(llm.chain, llm.first),
    tts: createResilientTts(tts.chain, tts.first),
  };
}

async function openChain<T extends ChainedClient>(
  options: ChainOptions<T>,
): Promise<{ chain: ProviderChain<T>; first: T }> {
  const { family, config, context } = options;
  const fallbacks = (config.fallbacks ?? [])
    .slice(0, MAX_FALLBACKS)
    .filter((fallback) => isUsable(family, fallback, context));
  const chain = new ProviderChain({ ...options, config: { ...config, fallbacks } });
  let firstError: unknown;
  for (const link of chain.order()) {
    try {
      return { chain, first: await chain.client(link.index) };
    } catch (error) {
      firstError ??= error;
      chain.begin(link.index);
      chain.failed(link.index, error);
    }
  }
  throw firstError;
}

/** A fallback that nobody knows is left out now, and said so, rather than found out in the middle of a call. */
function isUsable(family: ProviderFamily, fallback: ProviderConfig, context: ProviderContext): boolean {
  if (findProvider(family, fallback.provider)) return true;
  context.report({
    event: 'provider_failed',
    provider: String(fallback.provider),
    family,
    class: 'config',
    error: `the fallback ${family}.provider "${fallback.provider}" is unknown`,
  });
  return false;
}
