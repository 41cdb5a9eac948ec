import type { SttModels } from '../../stt/stt-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const MODELS: SttModels = {
  provider: 'soniox',
  account: 'soniox',
  baseUrl: 'wss://stt-rt.soniox.com',
  defaultModel: 'stt-rt-v5',
  models: ['stt-rt-v5'],
  languages: null,
  sampleRates: [8_000, 16_000],
  isStreaming: true,
  settings: {
    language_hints: { kind: 'texts', maximumItems: 20, maximumLength: 10 },
    strict_hints: { kind: 'flag', fallback: false },
    endpoint_detection: { kind: 'flag', fallback: true },
    max_endpoint_delay_ms: { kind: 'number', minimum: 500, maximum: 3_000, fallback: 1_000, whole: true },
    // The vendor's own is 0, and models that know no such setting refuse it.
    endpoint_sensitivity: { kind: 'number', minimum: -1, maximum: 1, fallback: null },
    context: { kind: 'object' },
  },
};

export const soniox: Vendor = {
  hosts: ['stt-rt.soniox.com'],
  accounts: ['soniox'],
  probe: { url: 'https://api.soniox.com/v1/models', keyHeader: 'authorization', keyPrefix: 'Bearer ' },
  stt: [cloudProvider(MODELS, async () => (await import('./stt.ts')).createSoniox)],
};
