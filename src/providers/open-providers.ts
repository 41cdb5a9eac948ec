import type { ProviderConfig } from '../contracts/runtime-config.ts';
import { AppError } from '../platform/app-error.ts';
import type { LanguageModel } from './language-model.ts';
import { type ProviderContext, plainContext } from './provider-context.ts';
import type { SpeechToText } from './speech-to-text.ts';
import type { TextToSpeech } from './text-to-speech.ts';

type Opener<T> = (config: ProviderConfig, context: ProviderContext) => Promise<T>;

/**
 * Provider names of a bot to clients. Each client is imported only when a call uses it, so a slot pays memory for its
 * own three and no others.
 */
const STT: Record<string, Opener<SpeechToText>> = {
  deepgram: async (...args) => (await import('./stt/deepgram.ts')).createDeepgram(...args),
  deepgram_flux: async (...args) => (await import('./stt/deepgram-flux.ts')).createDeepgramFlux(...args),
  sarvam: async (...args) => (await import('./stt/sarvam.ts')).createSarvamStt(...args),
  soniox: async (...args) => (await import('./stt/soniox.ts')).createSoniox(...args),
  openai: async (...args) =>
    (await import('./stt/openai-transcription.ts')).createOpenAiTranscription(...args),
  pocketsphinx: async (...args) => (await import('./stt/pocketsphinx.ts')).createPocketsphinx(...args),
  scripted: async (...args) => (await import('./stt/scripted.ts')).createScriptedStt(...args),
};

const LLM: Record<string, Opener<LanguageModel>> = {
  gemini: async (...args) => (await import('./llm/gemini.ts')).createGemini(...args),
  openai: async (...args) => (await import('./llm/openai.ts')).createOpenAi(...args),
  anthropic: async (...args) => (await import('./llm/anthropic.ts')).createAnthropic(...args),
  scripted: async (config) => (await import('./llm/scripted.ts')).createScriptedLlm(config),
};

const TTS: Record<string, Opener<TextToSpeech>> = {
  elevenlabs: async (...args) => (await import('./tts/elevenlabs.ts')).createElevenLabs(...args),
  cartesia: async (...args) => (await import('./tts/cartesia.ts')).createCartesia(...args),
  sarvam: async (...args) => (await import('./tts/sarvam.ts')).createSarvamTts(...args),
  openai: async (...args) => (await import('./tts/openai-speech.ts')).createOpenAiSpeech(...args),
  espeak: async (config) => (await import('./tts/espeak.ts')).createEspeak(config),
  scripted: async (config) => (await import('./tts/scripted.ts')).createScriptedTts(config),
};

/** Throws `bad_provider_config` for an unknown name or settings that the provider refuses. Connects to nobody yet. */
export function openStt(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<SpeechToText> {
  return choose('stt', STT, config, context);
}

export function openLlm(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<LanguageModel> {
  return choose('llm', LLM, config, context);
}

export function openTts(
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<TextToSpeech> {
  return choose('tts', TTS, config, context);
}

/** Whether a bot may name this provider; says nothing of its settings. */
export function isKnownProvider(family: 'stt' | 'llm' | 'tts', provider: string): boolean {
  return Object.hasOwn({ stt: STT, llm: LLM, tts: TTS }[family], provider);
}

async function choose<T>(
  family: string,
  table: Record<string, Opener<T>>,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<T> {
  const open = Object.hasOwn(table, config.provider) ? table[config.provider] : undefined;
  if (!open) {
    const known = Object.keys(table).join(', ');
    throw new AppError(
      'bad_provider_config',
      `${family}.provider "${config.provider}" is unknown; known are ${known}`,
    );
  }
  return open(config, context);
}
