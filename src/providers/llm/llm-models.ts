import type { ProviderConfig } from '../../contracts/runtime-config.ts';

export type Reasoning = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/**
 * What the language models of one vendor accept: its client maps settings by it, and a bot is checked by it when it is
 * saved, so that a setting which the vendor would refuse is found there and not on a caller's first turn.
 */
export interface LlmModels {
  /** As a bot names the vendor. */
  provider: string;
  /** Where it is asked unless the bot names a `base_url`. */
  baseUrl: string;
  /** Used where a bot names no model. */
  defaultModel: string;
  models: readonly ModelCapabilities[];
  /** Servers with the `compat` profile speak its interface, with models of their own. */
  hasCompatProfile?: true;
}

export interface ModelCapabilities {
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

/** Null for a model that nobody listed: it is used as the bot says, and the vendor judges. */
export function capabilitiesOf(known: LlmModels, model: string): ModelCapabilities | null {
  return known.models.find((row) => row.pattern.test(model)) ?? null;
}

interface CapabilityFinding {
  /** An error is refused when the bot is saved and when a call opens the provider; a warning is only shown. */
  severity: 'error' | 'warning';
  /** Key within the `llm` block. */
  key: string;
  /** Goes on after the key, as in `llm.reasoning must be ...`. */
  sentence: string;
}

const REASONING: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high'];

/**
 * What a model of the bot's `llm` block would refuse. Servers with the `compat` profile have models of their own, of
 * which nothing is known here. `today` is a day as YYYY-MM-DD.
 */
export function checkLlmConfig(
  vendor: LlmModels,
  config: ProviderConfig | Record<string, unknown>,
  use: { hasTools: boolean; today: string },
): CapabilityFinding[] {
  const findings: CapabilityFinding[] = [];
  const error = (key: string, sentence: string) => findings.push({ severity: 'error', key, sentence });
  const warning = (key: string, sentence: string) => findings.push({ severity: 'warning', key, sentence });
  const reasoning = config.reasoning ?? null;
  if (reasoning !== null && !REASONING.includes(reasoning as string)) {
    error('reasoning', `must be one of ${REASONING.join(', ')}`);
    return findings;
  }
  if (vendor.hasCompatProfile && config.profile === 'compat') {
    if (reasoning !== null && reasoning !== 'none') {
      error('reasoning', 'is not sent to servers with the compat profile; remove it');
    }
    return findings;
  }

  const model = String(config.model ?? vendor.defaultModel);
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
