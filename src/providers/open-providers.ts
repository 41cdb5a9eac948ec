import type { ProviderFamily } from '../contracts/provider-health.ts';
import type { ProviderConfig } from '../contracts/runtime-config.ts';
import { AppError } from '../platform/app-error.ts';
import type { LanguageModel } from './contract/language-model.ts';
import { type ProviderContext, plainContext } from './contract/provider-context.ts';
import type { SpeechToText } from './contract/speech-to-text.ts';
import type { TextToSpeech } from './contract/text-to-speech.ts';
import { findProvider, providersOf } from './vendors/all-vendors.ts';

/** Throws `bad_provider_config` for an unknown name or settings that the provider refuses. Connects to nobody yet. */
export async function openStt(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<SpeechToText> {
  return (findProvider('stt', config.provider) ?? refuse('stt', config)).open(config, context);
}

export async function openLlm(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<LanguageModel> {
  return (findProvider('llm', config.provider) ?? refuse('llm', config)).open(config, context);
}

export async function openTts(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<TextToSpeech> {
  return (findProvider('tts', config.provider) ?? refuse('tts', config)).open(config, context);
}

function refuse(family: ProviderFamily, { provider }: ProviderConfig): never {
  const known = providersOf(family).map(({ name }) => name);
  throw new AppError(
    'bad_provider_config',
    `${family}.provider "${provider}" is unknown; known are ${known.join(', ')}`,
  );
}
