import type { LlmModels } from '../../llm/llm-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const GEMINI = {
  reasoningWire: 'level',
  temperature: 'discouraged',
  chatToolsWithReasoning: true,
  retention: [],
  cacheOptions: false,
  cacheFloorTokens: null,
  maxOutputTokens: 65_536,
  retiredOn: null,
} as const;

const MODELS: LlmModels = {
  provider: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com',
  defaultModel: 'gemini-3.5-flash-lite',
  models: [
    { ...GEMINI, pattern: /^gemini-3\.[78]-flash/, reasoning: ['low', 'medium', 'high'] },
    { ...GEMINI, pattern: /^gemini-3(\.[0-6])?-flash/, reasoning: ['minimal', 'low', 'medium', 'high'] },
    { ...GEMINI, pattern: /^gemini-3(\.\d+)?-pro/, reasoning: ['low', 'medium', 'high'] },
    {
      ...GEMINI,
      pattern: /^gemini-2\.5-flash/,
      reasoning: ['none', 'minimal', 'low', 'medium', 'high'],
      reasoningWire: 'budget',
      temperature: 'yes',
    },
  ],
};

export const gemini: Vendor = {
  hosts: ['generativelanguage.googleapis.com'],
  // Installations that keep the key under the vendor's name go on with it.
  accounts: ['gemini', 'google'],
  probe: {
    url: 'https://generativelanguage.googleapis.com/v1beta/models',
    keyHeader: 'x-goog-api-key',
  },
  llm: [cloudProvider(MODELS, async () => (await import('./llm.ts')).createGemini)],
};
