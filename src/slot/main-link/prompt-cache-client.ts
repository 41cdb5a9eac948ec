import { createHash, randomUUID } from 'node:crypto';
import type { PromptParts, ProviderConfig, RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SharedCacheEntry, SlotToMain } from '../../contracts/slot-messages.ts';
import type { LlmRequest } from '../../providers/contract/language-model.ts';
import type { PromptCacheEntry, PromptCachePort } from '../../providers/contract/provider-context.ts';
import { onMain, tellMain } from './slot-channel.ts';

/**
 * Main answers from memory; without an answer by then the caller does not wait for a cache any longer, the request
 * goes out uncached.
 */
const CLAIM_TIMEOUT_MS = 250;
/** Vendors keep an explicit cache entry for an hour where nothing is said (Gemini's documentation). */
const DEFAULT_TTL_SECONDS = 3_600;

type News = Extract<SlotToMain, { type: 'prompt_cache_news' }>['news'];

export interface SharedPromptCache extends PromptCachePort {
  /** The call no longer needs it. Idempotent. */
  close(): void;
}

/** What makes an entry usable: two calls with the same of these may share one. */
export interface CachedPrompt {
  /** Told to the vendor's client and named in the metrics. */
  version: string;
  staticText: string;
  tools: readonly Record<string, unknown>[];
  llm: ProviderConfig;
  ttlSeconds: number;
  /** The entry that the config names. */
  known: PromptCacheEntry | null;
  /** Whose live prompt it is; null for prompts of which the control plane keeps no entry. */
  plane: { botId: string; staticVersion: string } | null;
}

/**
 * The prompt cache entries of this host as one call sees them (PromptCachePort): main keeps the newest and lets one slot
 * at a time create one. Without main the call uses what it knows and creates nothing.
 */
export function openPromptCache(prompt: CachedPrompt): SharedPromptCache {
  const key = cacheKey(prompt);
  let entry: SharedCacheEntry | null = alive(prompt.known);
  let isOpen = true;
  const stopListening = onMain('prompt_cache_entry', (message) => {
    if (message.key === key) entry = message.entry;
  });
  tellMain({ type: 'prompt_cache_watch', key, known: entry });
  const tell = (news: News) => {
    if (isOpen) tellMain({ type: 'prompt_cache_news', key, news, plane: prompt.plane });
  };

  return {
    version: prompt.version,
    ttlSeconds: prompt.ttlSeconds,
    current: () => alive(entry),
    claim: (signal) => claim(key, signal),
    created(made) {
      entry = made;
      tell({ kind: 'created', entry: made });
    },
    extended(renewed) {
      entry = renewed;
      tell({ kind: 'extended', entry: renewed });
    },
    lost(name) {
      if (entry?.name === name) entry = null;
      tell({ kind: 'lost', name });
    },
    failed: (reason) => tell({ kind: 'failed', reason }),
    close() {
      if (!isOpen) return;
      isOpen = false;
      stopListening();
      tellMain({ type: 'prompt_cache_unwatch', key });
    },
  };
}

/** The cache of the bot's live prompt; undefined where the bot caches nothing. */
export function openLivePromptCache(config: RuntimeConfig): SharedPromptCache | undefined {
  const parts = cachedParts(config);
  if (!parts) return undefined;
  const { cache_name: name, expires_at: expiresAt } = config.live_prompt_cache_state;
  const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN;
  return openPromptCache({
    version: parts.static_version,
    staticText: parts.static_system_prompt,
    tools: config.tools,
    llm: config.llm,
    ttlSeconds: parts.cache_ttl_seconds ?? DEFAULT_TTL_SECONDS,
    known:
      typeof name === 'string' && name !== '' && !Number.isNaN(expiresAtMs)
        ? { name, expiresAtMs, version: parts.static_version }
        : null,
    plane: { botId: config.bot_id, staticVersion: parts.static_version },
  });
}

/** The halves of the live prompt as a language model takes them; undefined where the bot caches nothing. */
export function liveSystemParts(config: RuntimeConfig): LlmRequest['systemParts'] {
  const parts = cachedParts(config);
  if (!parts) return undefined;
  return {
    staticText: parts.static_system_prompt,
    dynamicText: parts.dynamic_runtime_prompt,
    version: parts.static_version,
    cacheKey: parts.cache_key,
    retention: parts.cache_retention,
    ttlSeconds: parts.cache_ttl_seconds,
  };
}

/** A foreign control plane may leave out what it has no use for. */
function cachedParts(config: RuntimeConfig): PromptParts | null {
  const parts = config.prompt_parts;
  const usable =
    parts?.cache_enabled === true &&
    typeof parts.static_system_prompt === 'string' &&
    typeof parts.static_version === 'string' &&
    parts.static_system_prompt !== '';
  if (!usable) return null;
  return {
    ...parts,
    dynamic_runtime_prompt: parts.dynamic_runtime_prompt ?? '',
    cache_key: parts.cache_key ?? null,
    cache_retention: parts.cache_retention ?? null,
    cache_ttl_seconds: parts.cache_ttl_seconds ?? null,
  };
}

async function claim(key: string, signal: AbortSignal): Promise<'create' | 'skip' | PromptCacheEntry> {
  if (!process.connected || signal.aborted) return 'skip';
  const claimId = randomUUID();
  const { promise, resolve } = Promise.withResolvers<'create' | 'skip' | PromptCacheEntry>();
  const stopListening = onMain('prompt_cache_answer', (message) => {
    if (message.claimId === claimId) resolve(message.answer);
  });
  const giveUp = () => resolve('skip');
  const timer = setTimeout(giveUp, CLAIM_TIMEOUT_MS);
  signal.addEventListener('abort', giveUp, { once: true });
  tellMain({ type: 'prompt_cache_claim', key, claimId });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    stopListening();
  }
}

/**
 * Names everything that an entry at the vendor depends on: what it holds, the model that reads it, the account and the
 * address that it belongs to. A hash, so that main learns none of it.
 */
function cacheKey(prompt: CachedPrompt): string {
  const { provider, model, base_url: baseUrl, api_key: apiKey } = prompt.llm;
  const tools = prompt.tools.map(({ name, description, parameters, function: declared }) => ({
    name,
    description,
    parameters,
    declared,
  }));
  return createHash('sha256')
    .update(JSON.stringify([provider, model, baseUrl, apiKey, prompt.staticText, tools]))
    .digest('base64url')
    .slice(0, 32);
}

function alive(entry: SharedCacheEntry | null): SharedCacheEntry | null {
  return entry && entry.expiresAtMs > Date.now() ? entry : null;
}
