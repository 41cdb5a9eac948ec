import type { TtsModels } from '../../tts/tts-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const MODELS: TtsModels = {
  provider: 'cartesia',
  baseUrl: 'wss://api.cartesia.ai',
  needsKey: true,
  defaultModel: 'sonic-3.5',
  models: [
    { name: 'sonic-3.5', takesLanguage: true, realtime: true },
    { name: 'sonic-3', takesLanguage: true, realtime: true },
  ],
  defaultVoice: null,
  voices: {},
  languages: ['en', 'hi', 'ta', 'te', 'kn', 'ml', 'mr', 'gu', 'bn', 'pa', 'or', 'ur'],
  sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
  settings: {
    speed: { minimum: 0.6, maximum: 1.5, fallback: null },
    volume: { minimum: 0.5, maximum: 2, fallback: null },
    max_buffer_delay_ms: { minimum: 0, maximum: 5_000, fallback: 0, whole: true },
  },
};

export const cartesia: Vendor = {
  hosts: ['api.cartesia.ai'],
  accounts: ['cartesia'],
  probe: {
    url: 'https://api.cartesia.ai/voices?limit=1',
    keyHeader: 'x-api-key',
    headers: { 'cartesia-version': '2025-04-16' },
  },
  tts: [cloudProvider(MODELS, async () => (await import('./tts.ts')).createCartesia)],
};
