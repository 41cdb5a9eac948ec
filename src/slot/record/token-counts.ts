import type { UsageMetric } from '../../contracts/call-results.ts';
import type { LlmUsage } from '../../providers/contract/language-model.ts';

/** A model's counts as a usage entry tells them (R109, R110); the total is known where the prompt is. */
export function tokenCounts(
  usage: LlmUsage | null,
): Pick<
  UsageMetric,
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'total_tokens'
  | 'cache_read_input_tokens'
  | 'cache_creation_input_tokens'
> {
  const prompt = usage?.promptTokens ?? null;
  const completion = usage?.completionTokens ?? null;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt === null ? null : prompt + (completion ?? 0),
    cache_read_input_tokens: usage?.cacheReadTokens ?? null,
    cache_creation_input_tokens: usage?.cacheCreationTokens ?? null,
  };
}
