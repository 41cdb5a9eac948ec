import type { Bot } from '../../contracts/bot.ts';
import { TtlCache, type TtlCacheOptions } from '../../platform/ttl-cache.ts';
import { botCacheKey, MAX_CACHED_BOTS } from './cache-registry.ts';

/** The bots as calls read them: published, and up to `BOT_CACHE_TTL` old unless an edit came through the API. */
export interface CachedBots {
  /** Null for a bot that does not exist or was never published. */
  get(botId: string): Promise<Bot | null>;
  /** After every edit through the API (R176). */
  invalidate(botId: string): void;
  readonly cache: TtlCache<Bot>;
}

export function createCachedBots(
  bots: { get(botId: string): Promise<Bot | null> },
  options: Omit<TtlCacheOptions, 'max'>,
): CachedBots {
  const cache = new TtlCache<Bot>({ ...options, max: MAX_CACHED_BOTS });
  return {
    cache,
    get: (botId) => cache.get(botCacheKey(botId), () => bots.get(botId)),
    invalidate: (botId) => void cache.invalidate(botCacheKey(botId)),
  };
}
