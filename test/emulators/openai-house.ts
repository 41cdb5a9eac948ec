import type { HttpExchange } from './kit/http-exchange.ts';
import type { Complaint } from './llm/complaint.ts';
import type { LlmEmulatorOptions, LlmHouse } from './llm/llm-emulator.ts';
import type { PrefixCache } from './llm/prefix-cache.ts';
import type { OpenAiModelRules } from './openai-models.ts';

export interface OpenAiOptions extends LlmEmulatorOptions {
  /** Rules of models by name, instead of the vendor's. */
  models?: Readonly<Record<string, OpenAiModelRules>>;
  /** Parameters that every model refuses, such as `prompt_cache_retention`. */
  refuseParameters?: readonly string[];
}

/** What the two APIs of the vendor share. */
export interface OpenAiHouse extends LlmHouse {
  options: OpenAiOptions;
  cache: PrefixCache;
  rulesOf(model: string): OpenAiModelRules | undefined;
  /** Why this caller or this model is turned away; null where both are known. */
  entryComplaint(exchange: HttpExchange, body: Record<string, unknown>): Complaint | null;
  refuse(exchange: HttpExchange, complaint: Complaint, body: unknown): void;
}

export function bearerComplaint(exchange: HttpExchange, apiKey: string): Complaint | null {
  const given = exchange.headers.authorization;
  if (given === `Bearer ${apiKey}`) return null;
  const message = given
    ? 'Incorrect API key provided.'
    : "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.";
  return { status: 401, code: 'invalid_api_key', message, violation: false };
}

/** Where prompt caching keeps a prefix, by what the request asked for. */
export function cacheTtlMs(body: Record<string, unknown>): number {
  if (body.prompt_cache_retention === '24h') return 86_400_000;
  // In memory a prefix lives 5 to 10 minutes of disuse; with options it is 30.
  return body.prompt_cache_options === undefined ? 600_000 : 1_800_000;
}
