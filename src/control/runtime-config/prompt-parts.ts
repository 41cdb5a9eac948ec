import { createHash } from 'node:crypto';
import type { ConversationPolicy } from '../../contracts/bot/conversation.ts';
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

/**
 * The prompt of a policy bot as a template, section by section, the same order for every bot, so that two bots differ
 * only in what their editors wrote. Variables stay in it; the caller renders. `background` is the bot's system prompt.
 */
export function policyPrompt(policy: ConversationPolicy, background: string): string {
  const sections: (string | null)[] = [
    policy.role,
    section('Goal', [policy.goal]),
    section('Language', policy.language ? [policy.language] : []),
    section('How you speak', policy.style),
    section('Rules that always hold', policy.rules),
    section('Never say or promise', policy.forbidden),
    numbered(
      'Steps, in this order',
      policy.steps?.map(
        ({ name, instruction, tool }) => `${name}: ${instruction}${tool ? ` Use the tool ${tool}.` : ''}`,
      ),
    ),
    section('What you know', policy.facts),
    section(
      'When the caller objects',
      policy.objections?.map(({ when, answer }) => `${when} Answer: ${answer}`),
    ),
    escalation(policy.escalation),
    section('Ending', policy.closing ? [policy.closing] : []),
    background.trim() === '' ? null : `# Background\n${background.trim()}`,
  ];
  return sections.filter((text) => text !== null).join('\n\n');
}

function section(title: string, lines: readonly string[] | undefined): string | null {
  if (!lines || lines.length === 0) return null;
  return `# ${title}\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function numbered(title: string, lines: readonly string[] | undefined): string | null {
  if (!lines || lines.length === 0) return null;
  return `# ${title}\n${lines.map((line, index) => `${index + 1}. ${line}`).join('\n')}`;
}

function escalation(rule: ConversationPolicy['escalation']): string | null {
  if (!rule) return null;
  const target = rule.target ? `Transfer the caller to ${rule.target} when:` : 'Transfer the caller when:';
  return `# Passing on\n${target}\n${rule.when.map((line) => `- ${line}`).join('\n')}`;
}
