import type { LlmModels } from '../../llm/llm-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const CLAUDE = {
  reasoning: ['none', 'low', 'medium', 'high'],
  reasoningWire: 'adaptive',
  temperature: 'no',
  chatToolsWithReasoning: true,
  retention: [],
  cacheOptions: false,
  cacheFloorTokens: 1_024,
  maxOutputTokens: null,
  retiredOn: null,
} as const;

const OLDER_CLAUDE = {
  ...CLAUDE,
  reasoningWire: 'enabled',
  temperature: 'old_api_version',
  maxOutputTokens: 64_000,
} as const;

const MODELS: LlmModels = {
  provider: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  defaultModel: 'claude-haiku-5-5',
  models: [
    { ...CLAUDE, pattern: /^claude-haiku-5-5/, cacheFloorTokens: 512 },
    { ...CLAUDE, pattern: /^claude-opus-5/, cacheFloorTokens: 512 },
    { ...CLAUDE, pattern: /^claude-sonnet-5/ },
    { ...CLAUDE, pattern: /^claude-opus-4-8/ },
    { ...CLAUDE, pattern: /^claude-opus-4-7/, cacheFloorTokens: 2_048 },
    { ...OLDER_CLAUDE, pattern: /^claude-(haiku-4-5|opus-4-[56])/, cacheFloorTokens: 4_096 },
    { ...OLDER_CLAUDE, pattern: /^claude-sonnet-4/ },
  ],
};

export const anthropic: Vendor = {
  hosts: ['api.anthropic.com'],
  accounts: ['anthropic'],
  probe: {
    url: 'https://api.anthropic.com/v1/models',
    keyHeader: 'x-api-key',
    headers: { 'anthropic-version': '2023-06-01' },
  },
  llm: [cloudProvider(MODELS, async () => (await import('./llm.ts')).createAnthropic)],
};
