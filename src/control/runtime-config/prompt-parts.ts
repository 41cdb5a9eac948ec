import { createHash } from 'node:crypto';
import type { Bot } from '../../contracts/bot.ts';
import type { PromptParts } from '../../contracts/runtime-config.ts';
import { renderTemplate, staticPart, type Variables } from '../../platform/render-template.ts';
import { servedTools } from './served-tools.ts';

/**
 * A direct prompt as the part that is the same for every call of the bot, which a provider can cache, and the part
 * that is this call's own. Together they are the system prompt.
 */
export function promptParts(bot: Bot, variables: Variables, knowledge: boolean): PromptParts {
  const template = bot.system_prompt;
  const fixed = staticPart(template);
  const version = livePromptVersion(bot, knowledge);
  const cache = bot.live_prompt_cache?.enabled ? bot.live_prompt_cache : null;
  return {
    mode: 'direct',
    cache_enabled: cache !== null,
    static_system_prompt: fixed,
    dynamic_runtime_prompt: renderTemplate(template.slice(fixed.length), variables),
    static_version: version,
    cache_key: cache ? `${bot.bot_id}:${version}` : null,
    cache_retention: cache?.retention ?? null,
    cache_ttl_seconds: cache ? (cache.ttl_seconds ?? DEFAULT_CACHE_TTL_SECONDS) : null,
  };
}

/**
 * Names what a provider's cache entry for the live prompt holds: the static text, the tools folded in with it, and the
 * model that reads them (R16). `knowledge`: whether `search_knowledge` is offered.
 */
export function livePromptVersion(bot: Bot, knowledge: boolean): string {
  const { provider, model = null, base_url: baseUrl = null } = bot.llm;
  const tools = servedTools(bot, { knowledge, secrets: {} }).map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  return contentVersion(
    staticPart(bot.system_prompt),
    JSON.stringify([provider, model, baseUrl]),
    JSON.stringify(tools),
  );
}

/** Vendors keep an explicit cache entry for an hour where nothing is said (Gemini's documentation). */
export const DEFAULT_CACHE_TTL_SECONDS = 3_600;

/** 64 bits of SHA-256: changes whenever one of the texts does. */
export function contentVersion(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  // One text is hashed as it is; several are told apart by their lengths.
  for (const text of texts) hash.update(texts.length === 1 ? text : `${text.length}:${text}`);
  return hash.digest('hex').slice(0, 16);
}
