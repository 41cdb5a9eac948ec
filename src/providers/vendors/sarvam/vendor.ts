import type { SttModels } from '../../stt/stt-models.ts';
import type { TtsModels } from '../../tts/tts-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';
import { SARVAM_SPEAKERS } from './speakers.ts';

const BASE_URL = 'wss://api.sarvam.ai';

/** In the bot's spelling; the two sockets spell Odia in two ways, and the client knows which. */
const HEARD_LANGUAGES = [
  ...['en', 'hi', 'bn', 'kn', 'ml', 'mr', 'or', 'pa', 'ta', 'te', 'gu', 'as', 'ur', 'ne', 'kok', 'ks', 'sd'],
  ...['sa', 'sat', 'mni', 'brx', 'mai', 'doi'],
].map((language) => `${language}-IN`);
const SPOKEN_LANGUAGES = ['bn', 'en', 'gu', 'hi', 'kn', 'ml', 'mr', 'od', 'pa', 'ta', 'te'].map(
  (language) => `${language}-IN`,
);

const SAARAS: SttModels = {
  provider: 'sarvam',
  account: 'sarvam',
  baseUrl: BASE_URL,
  defaultModel: 'saaras:v3-realtime',
  models: ['saaras:v3-realtime', 'saaras:v4', 'saaras:v3'],
  languages: ['auto', ...HEARD_LANGUAGES],
  sampleRates: [8_000, 16_000],
  isStreaming: true,
  isSilentUntilEnd: ({ endpoint, stream_type }) => endpoint === 'legacy' || stream_type === 'simulated',
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
};

const BULBUL: TtsModels = {
  provider: 'sarvam',
  baseUrl: BASE_URL,
  needsKey: true,
  defaultModel: 'bulbul:v3',
  models: [
    { name: 'bulbul:v3', takesLanguage: true, realtime: true },
    { name: 'bulbul:v4-flash', takesLanguage: true, realtime: true },
    { name: 'bulbul:v2', takesLanguage: true, realtime: true },
  ],
  defaultVoice: 'shubh',
  voices: SARVAM_SPEAKERS,
  languages: SPOKEN_LANGUAGES,
  sampleRates: [8_000, 16_000, 22_050, 24_000],
  // `pace` and `temperature` are those of v3; what the other models have in their place stands in tts.ts.
  settings: {
    pace: { minimum: 0.5, maximum: 2, fallback: 1 },
    temperature: { minimum: 0.01, maximum: 1, fallback: 0.6 },
    pitch: { minimum: -0.75, maximum: 0.75, fallback: null },
    loudness: { minimum: 0.3, maximum: 3, fallback: null },
    min_buffer_size: { minimum: 1, maximum: 2_500, fallback: 50, whole: true },
    max_chunk_length: { minimum: 1, maximum: 2_500, fallback: 150, whole: true },
  },
};

export const sarvam: Vendor = {
  hosts: ['api.sarvam.ai'],
  accounts: ['sarvam'],
  // It documents no address that a key can be tried at without cost.
  probe: { url: 'https://api.sarvam.ai/', keyHeader: null },
  stt: [cloudProvider(SAARAS, async () => (await import('./stt.ts')).createSarvamStt)],
  tts: [cloudProvider(BULBUL, async () => (await import('./tts.ts')).createSarvamTts)],
};
