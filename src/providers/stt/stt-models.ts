/**
 * What each cloud speech-to-text engine takes, as validation of bots and the manual read it
 * (docs/providers.md, "Speech-to-text"). An unlisted model may be new, so it is worth a warning and no refusal.
 */
export interface SttProvider {
  /** Name of the key in the system settings; `deepgram_flux` uses the key of `deepgram`. */
  keySetting: string;
  defaultModel: string;
  models: readonly string[];
  /** Languages as the bot writes them; null where the vendor's list is longer than what is known here. */
  languages: readonly string[] | null;
  /** Hz; a line of another rate cannot be served. */
  sampleRates: readonly number[];
  /** Whether the engine itself decides when a turn is over. */
  detectsTurns: boolean;
  transport: 'ws' | 'http';
  /** Hosts of the vendor that may be sent its key (reference 7.2). */
  hosts: readonly string[];
  settings: Record<string, SttSettingRule>;
}

/** What a setting allows. `only` names models (by their beginning) that know it. */
export type SttSettingRule = { only?: string } & (
  | { kind: 'number'; minimum: number; maximum: number; fallback: number | null; whole?: boolean }
  | { kind: 'flag'; fallback: boolean }
  | { kind: 'choice'; values: readonly string[]; fallback: string | null }
  | { kind: 'texts'; maximumItems: number; maximumLength: number; values?: readonly string[] }
  | { kind: 'text'; maximumLength: number }
  | { kind: 'object' }
);

/** Settings that every engine of the table takes besides its own. */
export const COMMON_STT_SETTINGS: Record<string, SttSettingRule> = {
  base_url: { kind: 'text', maximumLength: 2_000 },
  sample_rate: { kind: 'number', minimum: 8_000, maximum: 48_000, fallback: null },
  timeout_ms: { kind: 'number', minimum: 500, maximum: 30_000, fallback: 4_000 },
  interim: { kind: 'flag', fallback: true },
  keyterms: { kind: 'texts', maximumItems: 100, maximumLength: 100 },
};

/** Languages of `sarvam` in the bot's spelling; its two sockets spell Odia in two ways and the client knows which. */
export const SARVAM_LANGUAGES = [
  'auto',
  ...['en', 'hi', 'bn', 'kn', 'ml', 'mr', 'or', 'pa', 'ta', 'te', 'gu', 'as', 'ur', 'ne', 'kok', 'ks', 'sd'],
  ...['sa', 'sat', 'mni', 'brx', 'mai', 'doi'],
].map((language) => (language === 'auto' ? language : `${language}-IN`));

/** Languages of `flux-general-multi`. */
export const FLUX_LANGUAGES = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'];

const DEEPGRAM_HOSTS = ['api.deepgram.com', 'api.eu.deepgram.com', 'api.au.deepgram.com'];

export type CloudSttName = 'deepgram' | 'deepgram_flux' | 'sarvam' | 'soniox' | 'openai';

export const STT_PROVIDERS: Record<CloudSttName, SttProvider> = {
  deepgram: {
    keySetting: 'deepgram',
    defaultModel: 'nova-3',
    models: ['nova-3', 'nova-3-general', 'nova-3-medical', 'nova-2', 'nova-2-general', 'nova-2-phonecall'],
    languages: null,
    sampleRates: [8_000, 16_000],
    detectsTurns: false,
    transport: 'ws',
    hosts: DEEPGRAM_HOSTS,
    settings: {
      endpointing_ms: { kind: 'number', minimum: 10, maximum: 5_000, fallback: 300, whole: true },
      utterance_end_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: 1_000, whole: true },
      smart_format: { kind: 'flag', fallback: true },
      numerals: { kind: 'flag', fallback: false },
      profanity_filter: { kind: 'flag', fallback: false },
      redact: {
        kind: 'texts',
        maximumItems: 4,
        maximumLength: 30,
        values: ['pci', 'numbers', 'aggressive_numbers', 'ssn'],
      },
      tag: { kind: 'texts', maximumItems: 10, maximumLength: 128 },
      mip_opt_out: { kind: 'flag', fallback: false },
    },
  },
  deepgram_flux: {
    keySetting: 'deepgram',
    defaultModel: 'flux-general-en',
    models: ['flux-general-en', 'flux-general-multi'],
    languages: FLUX_LANGUAGES,
    sampleRates: [8_000, 16_000],
    detectsTurns: true,
    transport: 'ws',
    hosts: DEEPGRAM_HOSTS,
    settings: {
      eot_threshold: { kind: 'number', minimum: 0.5, maximum: 1, fallback: 0.7 },
      eager_eot_threshold: { kind: 'number', minimum: 0.3, maximum: 0.9, fallback: null },
      eot_timeout_ms: { kind: 'number', minimum: 500, maximum: 60_000, fallback: 5_000, whole: true },
      language_hints: {
        kind: 'texts',
        maximumItems: 10,
        maximumLength: 10,
        values: FLUX_LANGUAGES,
        only: 'flux-general-multi',
      },
      numerals: { kind: 'flag', fallback: false },
      profanity_filter: { kind: 'flag', fallback: false },
      redact: {
        kind: 'texts',
        maximumItems: 2,
        maximumLength: 30,
        values: ['numbers', 'aggressive_numbers'],
      },
      force_end_turn: { kind: 'flag', fallback: false },
      tag: { kind: 'texts', maximumItems: 10, maximumLength: 128 },
      mip_opt_out: { kind: 'flag', fallback: false },
    },
  },
  sarvam: {
    keySetting: 'sarvam',
    defaultModel: 'saaras:v3-realtime',
    models: ['saaras:v3-realtime', 'saaras:v4-realtime', 'saaras:v3', 'saaras:v4'],
    languages: SARVAM_LANGUAGES,
    sampleRates: [8_000, 16_000],
    detectsTurns: false,
    transport: 'ws',
    hosts: ['api.sarvam.ai'],
    settings: {
      endpoint: { kind: 'choice', values: ['realtime', 'legacy'], fallback: 'realtime' },
      mode: {
        kind: 'choice',
        values: ['transcribe', 'translate', 'verbatim', 'translit', 'codemix'],
        fallback: 'transcribe',
      },
      stream_type: { kind: 'choice', values: ['fast', 'balanced', 'simulated'], fallback: 'balanced' },
      endpointing: { kind: 'choice', values: ['vad', 'manual'], fallback: 'vad' },
      threshold: { kind: 'number', minimum: 0, maximum: 1, fallback: null },
      prefix_padding_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: null, whole: true },
      silence_duration_ms: { kind: 'number', minimum: 50, maximum: 10_000, fallback: null, whole: true },
      min_speech_duration_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: null, whole: true },
      high_vad_sensitivity: { kind: 'flag', fallback: false },
      prompt: { kind: 'text', maximumLength: 2_000 },
    },
  },
  soniox: {
    keySetting: 'soniox',
    defaultModel: 'stt-rt-v5',
    models: ['stt-rt-v5'],
    languages: null,
    sampleRates: [8_000, 16_000],
    detectsTurns: false,
    transport: 'ws',
    hosts: ['stt-rt.soniox.com'],
    settings: {
      language_hints: { kind: 'texts', maximumItems: 20, maximumLength: 10 },
      strict_hints: { kind: 'flag', fallback: false },
      endpoint_detection: { kind: 'flag', fallback: true },
      max_endpoint_delay_ms: { kind: 'number', minimum: 500, maximum: 3_000, fallback: 1_000, whole: true },
      endpoint_sensitivity: { kind: 'number', minimum: -1, maximum: 1, fallback: 0 },
      context: { kind: 'object' },
    },
  },
  openai: {
    keySetting: 'openai',
    defaultModel: 'whisper-1',
    models: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'],
    languages: null,
    sampleRates: [8_000, 16_000],
    detectsTurns: false,
    transport: 'http',
    hosts: ['api.openai.com'],
    settings: {
      prompt: { kind: 'text', maximumLength: 2_000 },
      temperature: { kind: 'number', minimum: 0, maximum: 1, fallback: null },
    },
  },
};
