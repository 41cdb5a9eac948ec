import type OpenAI from 'openai';
import type { LlmRequest } from '../../contract/language-model.ts';
import type { LlmSettings } from '../../llm/llm-settings.ts';

export interface OpenAiSettings extends LlmSettings {
  api: 'chat' | 'responses';
  /** `compat`: a server that speaks Chat Completions in its older, smaller form (docs/providers.md). */
  profile: 'openai' | 'compat';
}

/** What one request of either API needs. */
export interface OpenAiCall {
  client: OpenAI;
  settings: OpenAiSettings;
  request: LlmRequest;
  hints: CacheHints;
  signal: AbortSignal;
}

/** Cache fields of one request, the same in both APIs; empty where nothing is to be cached. */
export interface CacheHints {
  prompt_cache_key?: string;
  prompt_cache_retention?: 'in_memory' | '24h';
  prompt_cache_options?: { mode: 'implicit'; ttl: '30m' };
}

/** Bots ask for JSON in their own words; both APIs refuse the JSON mode unless the prompt holds the word. */
export function systemWithJsonWord(request: LlmRequest): string {
  if (!request.json || /json/i.test(request.system)) return request.system;
  return `${request.system}\n\nAnswer with one JSON object and nothing else.`.trim();
}
