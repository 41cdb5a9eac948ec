/**
 * What each text-to-speech vendor offers: one table for the clients' checks, for validation when a bot is saved, and
 * for the manual. Names of models and voices are not refused when the table does not know them, because vendors add
 * them faster than a release; ranges are. Source: vendors' documents and SDK types (reference 5.1 to 5.3, 5.6, 7.1).
 */
export interface TtsModel {
  name: string;
  /** What the model is for, as a clause for the manual. */
  note: string;
  /** Whether the request may name a language; null where the vendor reads it from the text. */
  takesLanguage: boolean;
  /** For live calls or not. */
  realtime: boolean;
}

export interface SettingRange {
  minimum: number;
  maximum: number;
  /** What holds where the bot says nothing; null where the vendor's or the voice's own value holds. */
  fallback: number | null;
  whole?: boolean;
  /** Models that know the setting, by prefix; all where absent. */
  models?: readonly string[];
}

export interface TtsProvider {
  provider: string;
  title: string;
  host: string;
  needsKey: boolean;
  defaultModel: string;
  models: readonly TtsModel[];
  /** Null where every bot must name its voice. */
  defaultVoice: string | null;
  /** Voices that the vendor names itself, by model; empty where voices are ids of the customer's account. */
  voices: Readonly<Record<string, readonly string[]>>;
  /** Language codes as the vendor writes them; empty where the list depends on the model and is not fixed. */
  languages: readonly string[];
  /** Rates of LINEAR16 mono that the vendor gives, in Hz. */
  sampleRates: readonly number[];
  wordTiming: 'characters' | 'words' | 'none';
  /** How a clause is stopped in the middle. */
  stops: string;
  /** Characters of one message or request; null where the vendor states no limit. */
  maxTextChars: number | null;
  settings: Readonly<Record<string, SettingRange>>;
  source: string;
}

const OFTEN_SPOKEN = ['en', 'hi', 'ta', 'te', 'kn', 'ml', 'mr', 'gu', 'bn', 'pa', 'or', 'ur'];

export const ELEVENLABS = {
  provider: 'elevenlabs',
  title: 'ElevenLabs',
  host: 'api.elevenlabs.io',
  needsKey: true,
  defaultModel: 'eleven_flash_v2_5',
  models: [
    { name: 'eleven_flash_v2_5', note: 'fastest, for live calls', takesLanguage: true, realtime: true },
    { name: 'eleven_turbo_v2_5', note: 'a little slower and fuller', takesLanguage: true, realtime: true },
    {
      name: 'eleven_multilingual_v2',
      note: 'fullest, half the concurrency',
      takesLanguage: false,
      realtime: true,
    },
    { name: 'eleven_v3', note: 'not for live calls', takesLanguage: true, realtime: false },
  ],
  defaultVoice: null,
  voices: {},
  languages: [],
  sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100],
  wordTiming: 'characters',
  stops: 'the context is closed, late audio is dropped by its id',
  maxTextChars: null,
  settings: {
    stability: { minimum: 0, maximum: 1, fallback: null },
    similarity_boost: { minimum: 0, maximum: 1, fallback: null },
    style: { minimum: 0, maximum: 1, fallback: null },
    speed: { minimum: 0.7, maximum: 1.2, fallback: null },
    inactivity_timeout: { minimum: 20, maximum: 180, fallback: 180, whole: true },
    seed: { minimum: 0, maximum: 4_294_967_295, fallback: null, whole: true },
  },
  source:
    'documentation only: SDK types and published API description; no official client for the socket exists',
} as const satisfies TtsProvider;

export const CARTESIA = {
  provider: 'cartesia',
  title: 'Cartesia',
  host: 'api.cartesia.ai',
  needsKey: true,
  defaultModel: 'sonic-3.5',
  models: [
    { name: 'sonic-3.5', note: 'for live calls', takesLanguage: true, realtime: true },
    { name: 'sonic-3', note: 'the model before it', takesLanguage: true, realtime: true },
  ],
  defaultVoice: null,
  voices: {},
  languages: OFTEN_SPOKEN,
  sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
  wordTiming: 'words',
  stops: 'the context is cancelled, late audio is dropped by its id',
  maxTextChars: null,
  settings: {
    speed: { minimum: 0.6, maximum: 1.5, fallback: null, models: ['sonic-3'] },
    volume: { minimum: 0.5, maximum: 2, fallback: null, models: ['sonic-3'] },
    max_buffer_delay_ms: { minimum: 0, maximum: 5_000, fallback: 0, whole: true },
  },
  source: 'official SDK, run against the emulator',
} as const satisfies TtsProvider;

export const SARVAM_TTS = {
  provider: 'sarvam',
  title: 'Sarvam',
  host: 'api.sarvam.ai',
  needsKey: true,
  defaultModel: 'bulbul:v3',
  models: [
    { name: 'bulbul:v3', note: 'for live calls', takesLanguage: true, realtime: true },
    { name: 'bulbul:v2', note: 'is being retired by the vendor', takesLanguage: true, realtime: true },
  ],
  defaultVoice: 'shubh',
  voices: {
    'bulbul:v3': ['shubh', 'aditya', 'ritu', 'priya', 'neha', 'rahul'],
    'bulbul:v2': ['anushka', 'manisha', 'vidya', 'arya', 'abhilash', 'karun', 'hitesh'],
  },
  languages: [
    'bn-IN',
    'en-IN',
    'gu-IN',
    'hi-IN',
    'kn-IN',
    'ml-IN',
    'mr-IN',
    'od-IN',
    'pa-IN',
    'ta-IN',
    'te-IN',
  ],
  sampleRates: [8_000, 16_000, 22_050, 24_000],
  wordTiming: 'none',
  stops: 'the socket is closed and a warm spare takes over',
  maxTextChars: 2_500,
  settings: {
    pace: { minimum: 0.5, maximum: 2, fallback: 1, models: ['bulbul:v3'] },
    temperature: { minimum: 0.01, maximum: 1, fallback: 0.6, models: ['bulbul:v3'] },
    pitch: { minimum: -0.75, maximum: 0.75, fallback: null, models: ['bulbul:v2'] },
    loudness: { minimum: 0.3, maximum: 3, fallback: null, models: ['bulbul:v2'] },
    min_buffer_size: { minimum: 1, maximum: 2_500, fallback: 50, whole: true },
    max_chunk_length: { minimum: 1, maximum: 2_500, fallback: 150, whole: true },
  },
  source: 'official SDK, run against the emulator; the name of the language field is not confirmed',
} as const satisfies TtsProvider;

/** `pace` of the older model, which has a wider range. */
export const BULBUL_V2_PACE = { minimum: 0.3, maximum: 3, fallback: 1 } as const satisfies SettingRange;

export const OPENAI_SPEECH = {
  provider: 'openai',
  title: 'OpenAI speech and compatible servers',
  host: 'api.openai.com',
  needsKey: false,
  defaultModel: 'gpt-4o-mini-tts',
  models: [
    {
      name: 'gpt-4o-mini-tts',
      note: 'takes instructions about the tone',
      takesLanguage: false,
      realtime: true,
    },
    { name: 'tts-1', note: 'the name that local servers often use', takesLanguage: false, realtime: true },
  ],
  defaultVoice: 'alloy',
  voices: {},
  languages: [],
  sampleRates: [24_000],
  wordTiming: 'none',
  stops: 'the request is aborted',
  maxTextChars: 4_096,
  settings: { speed: { minimum: 0.25, maximum: 4, fallback: null } },
  source: 'official SDK, run against the emulator; for on-prem servers with the same interface',
} as const satisfies TtsProvider;

export const TTS_PROVIDERS: readonly TtsProvider[] = [ELEVENLABS, CARTESIA, SARVAM_TTS, OPENAI_SPEECH];

/** The model's row, or null where the table does not know it. */
export function ttsModel(provider: TtsProvider, name: string): TtsModel | null {
  return provider.models.find((model) => model.name === name) ?? null;
}
