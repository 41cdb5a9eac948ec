import type { TtsModels } from '../../tts/tts-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const MODELS: TtsModels = {
  provider: 'elevenlabs',
  baseUrl: 'wss://api.elevenlabs.io',
  needsKey: true,
  defaultModel: 'eleven_flash_v2_5',
  models: [
    { name: 'eleven_flash_v2_5', takesLanguage: true, realtime: true },
    { name: 'eleven_turbo_v2_5', takesLanguage: true, realtime: true },
    { name: 'eleven_multilingual_v2', takesLanguage: false, realtime: true },
    { name: 'eleven_v3', takesLanguage: true, realtime: false },
  ],
  defaultVoice: null,
  voices: {},
  languages: [],
  sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100],
  settings: {
    stability: { minimum: 0, maximum: 1, fallback: null },
    similarity_boost: { minimum: 0, maximum: 1, fallback: null },
    style: { minimum: 0, maximum: 1, fallback: null },
    speed: { minimum: 0.7, maximum: 1.2, fallback: null },
    inactivity_timeout: { minimum: 20, maximum: 180, fallback: 180, whole: true },
    seed: { minimum: 0, maximum: 4_294_967_295, fallback: null, whole: true },
  },
};

export const elevenLabs: Vendor = {
  hosts: [
    'api.elevenlabs.io',
    'api.us.elevenlabs.io',
    'api.eu.residency.elevenlabs.io',
    'api.in.residency.elevenlabs.io',
    'api.sg.residency.elevenlabs.io',
  ],
  accounts: ['elevenlabs'],
  probe: { url: 'https://api.elevenlabs.io/v1/models', keyHeader: 'xi-api-key' },
  tts: [cloudProvider(MODELS, async () => (await import('./tts.ts')).createElevenLabs)],
};
