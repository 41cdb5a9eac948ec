import type { ProviderConfig } from '../src/contracts/runtime-config.ts';
import { startAnthropic } from '../test/emulators/anthropic.ts';
import { startCartesia } from '../test/emulators/cartesia.ts';
import { startDeepgram } from '../test/emulators/deepgram.ts';
import { startFlux } from '../test/emulators/deepgram-flux.ts';
import { startElevenLabs } from '../test/emulators/elevenlabs.ts';
import { startGemini } from '../test/emulators/gemini.ts';
import type { Emulator } from '../test/emulators/kit/emulator.ts';
import { startOpenAi } from '../test/emulators/openai.ts';
import { startOpenAiSpeech } from '../test/emulators/openai-speech.ts';
import { startTranscription } from '../test/emulators/openai-transcription.ts';
import { startSarvamStt } from '../test/emulators/sarvam-stt.ts';
import { startSarvamTts } from '../test/emulators/sarvam-tts.ts';
import { startSoniox } from '../test/emulators/soniox.ts';
import type { Family } from './provider-slot.ts';

/** One vendor as a bot names it, emulated in this process. */
export interface BenchVendor {
  family: Family;
  emulator: Emulator;
  config: ProviderConfig;
  /** When the first content of the latest answer left the emulator, where its log does not tell it; monotonic. */
  firstContentMs?: () => number | null;
}

/** Every vendor of every step with the settings that a bot would have. The caller closes the emulators. */
export async function startVendors(): Promise<BenchVendor[]> {
  return [...(await startEars()), ...(await startModels()), ...(await startVoices())];
}

const HEARD = { texts: Array.from({ length: 2_000 }, (_, index) => `sentence ${index}`) };

async function startEars(): Promise<BenchVendor[]> {
  const deepgram = await startDeepgram({ hearing: HEARD });
  const flux = await startFlux({ hearing: HEARD, connectedAfterMs: 0 });
  const sarvam = await startSarvamStt({ hearing: HEARD });
  const soniox = await startSoniox({ hearing: HEARD });
  const local = await startTranscription({ hearing: HEARD });
  const stt = (emulator: Emulator & { key: string | null }, config: ProviderConfig): BenchVendor => ({
    family: 'stt',
    emulator,
    config: {
      base_url: emulator.wsUrl,
      ...(emulator.key === null ? {} : { api_key: emulator.key }),
      ...config,
    },
  });
  return [
    stt(deepgram, { provider: 'deepgram', model: 'nova-3', language: 'en' }),
    stt(flux, { provider: 'deepgram_flux' }),
    stt(sarvam, { provider: 'sarvam', language: 'en-IN' }),
    stt(soniox, { provider: 'soniox' }),
    stt(local, { provider: 'openai', model: 'whisper-1', base_url: `${local.httpUrl}/v1` }),
  ];
}

async function startModels(): Promise<BenchVendor[]> {
  const answers = { respond: () => ({ text: 'One two three four five six.' }) };
  const gemini = await startGemini(answers);
  const openai = await startOpenAi(answers);
  const anthropic = await startAnthropic(answers);
  const llm = (emulator: typeof gemini | typeof openai | typeof anthropic, config: ProviderConfig) => ({
    family: 'llm' as const,
    emulator,
    config: { base_url: emulator.url, api_key: emulator.apiKey, ...config },
    firstContentMs: () => emulator.desk.served.at(-1)?.firstContentAtMs ?? null,
  });
  return [
    llm(gemini, { provider: 'gemini', model: 'gemini-3.5-flash-lite' }),
    llm(openai, { provider: 'openai', model: 'gpt-6-luna' }),
    llm(anthropic, { provider: 'anthropic', model: 'claude-haiku-5-5' }),
  ];
}

async function startVoices(): Promise<BenchVendor[]> {
  const voice = { msPerChar: 10, firstAudioMs: 20 };
  const elevenlabs = await startElevenLabs({ voice });
  const cartesia = await startCartesia({ voice });
  const sarvam = await startSarvamTts({ voice });
  const local = await startOpenAiSpeech({ voice });
  const tts = (emulator: Emulator & { apiKey: string | null }, config: ProviderConfig): BenchVendor => ({
    family: 'tts',
    emulator,
    config: {
      base_url: emulator.wsUrl,
      ...(emulator.apiKey === null ? {} : { api_key: emulator.apiKey }),
      ...config,
    },
  });
  return [
    tts(elevenlabs, { provider: 'elevenlabs', voice: 'rachel' }),
    tts(cartesia, { provider: 'cartesia', voice: 'v-1', language: 'en' }),
    tts(sarvam, { provider: 'sarvam', language: 'en-IN' }),
    tts(local, { provider: 'openai', base_url: local.baseUrl, voice: 'alloy' }),
  ];
}
