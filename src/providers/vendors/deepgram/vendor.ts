import type { SttModels, SttSettingRule } from '../../stt/stt-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

/** What both engines take. */
const COMMON = {
  account: 'deepgram',
  baseUrl: 'wss://api.deepgram.com',
  sampleRates: [8_000, 16_000],
  isStreaming: true,
} as const;

const COMMON_SETTINGS: Readonly<Record<string, SttSettingRule>> = {
  numerals: { kind: 'flag', fallback: false },
  profanity_filter: { kind: 'flag', fallback: false },
  tag: { kind: 'texts', maximumItems: 10, maximumLength: 128 },
  mip_opt_out: { kind: 'flag', fallback: false },
};

const NOVA: SttModels = {
  ...COMMON,
  provider: 'deepgram',
  defaultModel: 'nova-3',
  models: ['nova-3', 'nova-3-general', 'nova-3-medical', 'nova-2', 'nova-2-general', 'nova-2-phonecall'],
  languages: null,
  settings: {
    ...COMMON_SETTINGS,
    endpointing_ms: { kind: 'number', minimum: 10, maximum: 5_000, fallback: 300, whole: true },
    utterance_end_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: 1_000, whole: true },
    smart_format: { kind: 'flag', fallback: true },
    redact: {
      kind: 'texts',
      maximumItems: 4,
      maximumLength: 30,
      values: ['pci', 'numbers', 'aggressive_numbers', 'ssn'],
    },
  },
};

const FLUX_LANGUAGES = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'];

const FLUX: SttModels = {
  ...COMMON,
  provider: 'deepgram_flux',
  defaultModel: 'flux-general-en',
  models: ['flux-general-en', 'flux-general-multi'],
  languages: FLUX_LANGUAGES,
  settings: {
    ...COMMON_SETTINGS,
    eot_threshold: { kind: 'number', minimum: 0.5, maximum: 1, fallback: 0.7 },
    eager_eot_threshold: { kind: 'number', minimum: 0.3, maximum: 0.9, fallback: null },
    eot_timeout_ms: { kind: 'number', minimum: 500, maximum: 60_000, fallback: 5_000, whole: true },
    language_hints: {
      kind: 'texts',
      maximumItems: 10,
      maximumLength: 10,
      values: FLUX_LANGUAGES,
    },
    redact: {
      kind: 'texts',
      maximumItems: 2,
      maximumLength: 30,
      values: ['numbers', 'aggressive_numbers'],
    },
    force_end_turn: { kind: 'flag', fallback: false },
  },
};

export const deepgram: Vendor = {
  hosts: ['api.deepgram.com', 'api.eu.deepgram.com', 'api.au.deepgram.com'],
  accounts: ['deepgram'],
  probe: { url: 'https://api.deepgram.com/v1/projects', keyHeader: 'authorization', keyPrefix: 'Token ' },
  stt: [
    cloudProvider(NOVA, async () => (await import('./stt.ts')).createDeepgram),
    cloudProvider(FLUX, async () => (await import('./flux.ts')).createDeepgramFlux),
  ],
};
