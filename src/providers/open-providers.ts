import type { ProviderConfig } from '../contracts/runtime-config.ts';
import { AppError } from '../platform/app-error.ts';
import type { LanguageModel } from './language-model.ts';
import type { SpeechToText } from './speech-to-text.ts';
import type { TextToSpeech } from './text-to-speech.ts';

/**
 * Provider names of a bot to clients. Each client is imported only when a call uses it, so a slot pays memory for its
 * own three and no others.
 */
const STT: Record<string, (config: ProviderConfig) => Promise<SpeechToText>> = {
  pocketsphinx: async (config) => (await import('./stt/pocketsphinx.ts')).createPocketsphinx(config),
  scripted: async (config) => (await import('./stt/scripted.ts')).createScriptedStt(config),
};

const LLM: Record<string, (config: ProviderConfig) => Promise<LanguageModel>> = {
  scripted: async (config) => (await import('./llm/scripted.ts')).createScriptedLlm(config),
};

const TTS: Record<string, (config: ProviderConfig) => Promise<TextToSpeech>> = {
  espeak: async (config) => (await import('./tts/espeak.ts')).createEspeak(config),
  scripted: async (config) => (await import('./tts/scripted.ts')).createScriptedTts(config),
};

/** Throws `bad_provider_config` for an unknown name or settings that the provider refuses. */
export function openStt(config: ProviderConfig): Promise<SpeechToText> {
  return choose('stt', STT, config);
}

export function openLlm(config: ProviderConfig): Promise<LanguageModel> {
  return choose('llm', LLM, config);
}

export function openTts(config: ProviderConfig): Promise<TextToSpeech> {
  return choose('tts', TTS, config);
}

async function choose<T>(
  family: string,
  table: Record<string, (config: ProviderConfig) => Promise<T>>,
  config: ProviderConfig,
): Promise<T> {
  const open = Object.hasOwn(table, config.provider) ? table[config.provider] : undefined;
  if (!open) {
    const known = Object.keys(table).join(', ');
    throw new AppError(
      'bad_provider_config',
      `${family}.provider "${config.provider}" is unknown; known are ${known}`,
    );
  }
  return open(config);
}
