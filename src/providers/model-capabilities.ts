import type { ProviderConfig } from '../contracts/runtime-config.ts';

/**
 * What each language model accepts, in one table: the clients map settings by it, and a bot is checked by it when it
 * is saved, so that a setting which the vendor would refuse is found there and not on a caller's first turn.
 */
export type Reasoning = 'none' | 'minimal' | 'low' | 'medium' | 'high';
export type LlmVendor = 'gemini' | 'openai' | 'anthropic';

export interface ModelCapabilities {
  vendor: LlmVendor;
  /** Model names that the row holds for; the first row that matches counts. */
  pattern: RegExp;
  /** Accepted values of `llm.reasoning`; the first is the fastest, and what is used where the bot says nothing. */
  reasoning: readonly Reasoning[];
  /**
   * How `llm.reasoning` goes over the wire: thinking levels, a thinking budget in tokens, an effort, adaptive thinking
   * with an effort, a budget beside `thinking: enabled`; null for models without any.
   */
  reasoningWire: 'level' | 'budget' | 'effort' | 'adaptive' | 'enabled' | null;
  temperature: 'yes' | 'discouraged' | 'without_reasoning' | 'old_api_version' | 'no';
  /** Chat Completions refuses function tools together with an effort other than none. */
  chatToolsWithReasoning: boolean;
  /** `prompt_cache_retention` values (OpenAI). */
  retention: readonly string[];
  /** `prompt_cache_options` are understood (OpenAI). */
  cacheOptions: boolean;
  /** Smallest prefix that is cached, in tokens; null where the vendor tells it only when it refuses. */
  cacheFloorTokens: number | null;
  maxOutputTokens: number | null;
  /** Day from which the vendor refuses the model, YYYY-MM-DD. */
  retiredOn: string | null;
}

const GEMINI = {
  vendor: 'gemini',
  reasoningWire: 'level',
  temperature: 'discouraged',
  chatToolsWithReasoning: true,
  retention: [],
  cacheOptions: false,
  cacheFloorTokens: null,
  maxOutputTokens: 65_536,
  retiredOn: null,
} as const;

const OPENAI = {
  vendor: 'openai',
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

const OPENAI_PLAIN = {
  ...OPENAI,
  reasoning: ['none'],
  reasoningWire: null,
  temperature: 'yes',
  retiredOn: '2027-01-14',
} as const;

const ANTHROPIC = {
  vendor: 'anthropic',
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

/** Sources: the model pages of Gemini, OpenAI and Anthropic, as of November 2026. */
export const LLM_MODELS: readonly ModelCapabilities[] = [
  { ...GEMINI, pattern: /^gemini-3\.[78]-flash/, reasoning: ['low', 'medium', 'high'] },
  {
    ...GEMINI,
    pattern: /^gemini-3(\.[0-6])?-flash/,
    reasoning: ['minimal', 'low', 'medium', 'high'],
  },
  { ...GEMINI, pattern: /^gemini-3(\.\d+)?-pro/, reasoning: ['low', 'medium', 'high'] },
  {
    ...GEMINI,
    pattern: /^gemini-2\.5-flash/,
    reasoning: ['none', 'minimal', 'low', 'medium', 'high'],
    reasoningWire: 'budget',
    temperature: 'yes',
  },
  { ...OPENAI_PLAIN, pattern: /^gpt-4\.1-nano/, retiredOn: '2026-11-01' },
  { ...OPENAI_PLAIN, pattern: /^gpt-4\.1/, maxOutputTokens: 32_768 },
  { ...OPENAI_PLAIN, pattern: /^gpt-4o/, maxOutputTokens: 16_384, retention: [] },
  {
    ...OPENAI,
    pattern: /^gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/,
    reasoning: ['minimal', 'low', 'medium', 'high'],
    temperature: 'no',
    retiredOn: '2026-12-11',
  },
  { ...OPENAI, pattern: /^gpt-5\.[1-4]/ },
  { ...OPENAI, pattern: /^gpt-5\.5/, retention: ['24h'] },
  {
    ...OPENAI,
    pattern: /^gpt-(5\.[6-9]|6)/,
    retention: ['24h'],
    cacheOptions: true,
    chatToolsWithReasoning: false,
  },
  { ...ANTHROPIC, pattern: /^claude-haiku-5-5/, cacheFloorTokens: 512 },
  { ...ANTHROPIC, pattern: /^claude-opus-5/, cacheFloorTokens: 512 },
  { ...ANTHROPIC, pattern: /^claude-sonnet-5/ },
  { ...ANTHROPIC, pattern: /^claude-opus-4-8/ },
  { ...ANTHROPIC, pattern: /^claude-opus-4-7/, cacheFloorTokens: 2_048 },
  {
    ...ANTHROPIC,
    pattern: /^claude-(haiku-4-5|opus-4-[56])/,
    reasoningWire: 'enabled',
    temperature: 'old_api_version',
    cacheFloorTokens: 4_096,
    maxOutputTokens: 64_000,
  },
  {
    ...ANTHROPIC,
    pattern: /^claude-sonnet-4/,
    reasoningWire: 'enabled',
    temperature: 'old_api_version',
    maxOutputTokens: 64_000,
  },
];

/** Used where a bot names a provider but no model (docs/providers.md, "Language models"). */
export const DEFAULT_MODELS: Record<LlmVendor, string> = {
  gemini: 'gemini-3.5-flash-lite',
  openai: 'gpt-6-luna',
  anthropic: 'claude-haiku-5-5',
};

/** Null for a model that the table does not know: it is used as the bot says, and the vendor judges. */
export function capabilitiesOf(vendor: string, model: string): ModelCapabilities | null {
  return LLM_MODELS.find((row) => row.vendor === vendor && row.pattern.test(model)) ?? null;
}

export interface CapabilityFinding {
  /** An error is refused when the bot is saved and when a call opens the provider; a warning is only shown. */
  severity: 'error' | 'warning';
  /** Key within the `llm` block. */
  key: string;
  /** Goes on after the key, as in `llm.reasoning must be ...`. */
  sentence: string;
}

const REASONING: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high'];

/**
 * What a model of the bot's `llm` block would refuse. Other providers and servers with the `compat` profile have
 * models of their own, of which nothing is known here. `today` is a day as YYYY-MM-DD.
 */
export function checkLlmConfig(
  config: ProviderConfig | Record<string, unknown>,
  use: { hasTools: boolean; today: string },
): CapabilityFinding[] {
  const vendor = String(config.provider);
  if (!Object.hasOwn(DEFAULT_MODELS, vendor)) return [];
  const findings: CapabilityFinding[] = [];
  const error = (key: string, sentence: string) => findings.push({ severity: 'error', key, sentence });
  const warning = (key: string, sentence: string) => findings.push({ severity: 'warning', key, sentence });
  const reasoning = config.reasoning ?? null;
  if (reasoning !== null && !REASONING.includes(reasoning as string)) {
    error('reasoning', `must be one of ${REASONING.join(', ')}`);
    return findings;
  }
  if (vendor === 'openai' && config.profile === 'compat') {
    if (reasoning !== null && reasoning !== 'none') {
      error('reasoning', 'is not sent to servers with the compat profile; remove it');
    }
    return findings;
  }

  const model = String(config.model ?? DEFAULT_MODELS[vendor as LlmVendor]);
  const known = capabilitiesOf(vendor, model);
  if (!known) {
    warning('model', `"${model}" is not in the table of known models; its settings were not checked`);
    return findings;
  }
  if (known.retiredOn !== null) {
    if (known.retiredOn <= use.today) error('model', `"${model}" was shut down by its vendor`);
    else warning('model', `"${model}" is shut down by its vendor on ${known.retiredOn}; choose another`);
  }
  if (reasoning !== null && !known.reasoning.includes(reasoning as Reasoning)) {
    error('reasoning', `must be one of ${known.reasoning.join(', ')} with the model ${model}`);
  }
  const effective = (reasoning as Reasoning | null) ?? known.reasoning[0] ?? 'none';
  if (use.hasTools && !known.chatToolsWithReasoning && effective !== 'none' && config.api !== 'responses') {
    error('reasoning', `must be none where ${model} has tools, or llm.api must be responses`);
  }
  if ((config.temperature ?? null) !== null)
    checkTemperature(known, model, effective, config, error, warning);
  const limit = config.max_output_tokens ?? null;
  if (known.maxOutputTokens !== null && typeof limit === 'number' && limit > known.maxOutputTokens) {
    error('max_output_tokens', `must be at most ${known.maxOutputTokens} with the model ${model}`);
  }
  return findings;
}

function checkTemperature(
  known: ModelCapabilities,
  model: string,
  reasoning: Reasoning,
  config: Record<string, unknown>,
  error: (key: string, sentence: string) => void,
  warning: (key: string, sentence: string) => void,
): void {
  if (known.temperature === 'no') error('temperature', `is refused by the model ${model}; remove it`);
  if (known.temperature === 'without_reasoning' && reasoning !== 'none') {
    error('temperature', `is refused by ${model} unless llm.reasoning is none`);
  }
  if (known.temperature === 'old_api_version' && config.api_version !== '2023-06-01') {
    error('temperature', `is taken by ${model} only with llm.api_version "2023-06-01"`);
  }
  if (known.temperature === 'discouraged' && config.temperature !== 1) {
    warning('temperature', `other than 1 makes answers of ${model} worse, says its vendor`);
  }
}
