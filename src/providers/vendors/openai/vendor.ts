import type { LlmModels } from '../../llm/llm-models.ts';
import type { SttModels } from '../../stt/stt-models.ts';
import type { TtsModels } from '../../tts/tts-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const BASE_URL = 'https://api.openai.com/v1';

const TRANSCRIPTION: SttModels = {
  provider: 'openai',
  account: 'openai',
  baseUrl: BASE_URL,
  defaultModel: 'whisper-1',
  models: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'],
  languages: null,
  sampleRates: [8_000, 16_000],
  isStreaming: false,
  settings: {
    prompt: { kind: 'text', maximumLength: 2_000 },
    temperature: { kind: 'number', minimum: 0, maximum: 1, fallback: null },
  },
};

const GPT = {
  reasoning: ['none', 'low', 'medium', 'high'],
  reasoningWire: 'effort',
  temperature: 'without_reasoning',
  chatToolsWithReasoning: true,
  retention: ['in_memory', '24h'],
  cacheOptions: false,
  cacheFloorTokens: 1_024,
  maxOutputTokens: 128_000,
  retiredOn: null,
} as const;

const GPT_WITHOUT_REASONING = {
  ...GPT,
  reasoning: ['none'],
  reasoningWire: null,
  temperature: 'yes',
  retiredOn: '2027-01-14',
} as const;

const LANGUAGE_MODELS: LlmModels = {
  provider: 'openai',
  baseUrl: BASE_URL,
  defaultModel: 'gpt-6-luna',
  hasCompatProfile: true,
  models: [
    { ...GPT_WITHOUT_REASONING, pattern: /^gpt-4\.1-nano/, retiredOn: '2026-11-01' },
    { ...GPT_WITHOUT_REASONING, pattern: /^gpt-4\.1/, maxOutputTokens: 32_768 },
    { ...GPT_WITHOUT_REASONING, pattern: /^gpt-4o/, maxOutputTokens: 16_384, retention: [] },
    {
      ...GPT,
      pattern: /^gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/,
      reasoning: ['minimal', 'low', 'medium', 'high'],
      temperature: 'no',
      retiredOn: '2026-12-11',
    },
    { ...GPT, pattern: /^gpt-5\.[1-4]/ },
    { ...GPT, pattern: /^gpt-5\.5/, retention: ['24h'] },
    {
      ...GPT,
      pattern: /^gpt-(5\.[6-9]|6)/,
      retention: ['24h'],
      cacheOptions: true,
      chatToolsWithReasoning: false,
    },
  ],
};

const SPEECH: TtsModels = {
  provider: 'openai',
  baseUrl: BASE_URL,
  needsKey: false,
  defaultModel: 'gpt-4o-mini-tts',
  models: [
    { name: 'gpt-4o-mini-tts', takesLanguage: false, realtime: true },
    // The name that local servers often use.
    { name: 'tts-1', takesLanguage: false, realtime: true },
  ],
  defaultVoice: 'alloy',
  voices: {},
  languages: [],
  sampleRates: [24_000],
  settings: { speed: { minimum: 0.25, maximum: 4, fallback: null } },
};

export const openAi: Vendor = {
  hosts: ['api.openai.com'],
  accounts: ['openai'],
  probe: { url: 'https://api.openai.com/v1/models', keyHeader: 'authorization', keyPrefix: 'Bearer ' },
  hasLocalServers: true,
  stt: [
    cloudProvider(TRANSCRIPTION, async () => (await import('./transcription.ts')).createOpenAiTranscription),
  ],
  llm: [cloudProvider(LANGUAGE_MODELS, async () => (await import('./llm.ts')).createOpenAi)],
  tts: [cloudProvider(SPEECH, async () => (await import('./speech.ts')).createOpenAiSpeech)],
};
