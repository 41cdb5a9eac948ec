import type { TtlCache } from '../../platform/ttl-cache.ts';

/** Bots kept at once; an installation with more reads the rest from the store. */
export const MAX_CACHED_BOTS = 1_000;
export const SETTINGS_CACHE_KEY = 'system:settings';
const BOT_PREFIX = 'bot:';

/** The name of a bot's cache entry, as operators know it (R175). */
export function botCacheKey(botId: string): string {
  return `${BOT_PREFIX}${botId}`;
}

/** The caches of the plane by the names of their entries (R175 to R177). */
export interface CacheRegistry {
  /** Drops one entry by hand. Says whether there was one; null for a name that no cache uses. */
  clear(key: string): boolean | null;
}

/** Each cache keeps its entries under the full name. */
export function createCacheRegistry(caches: {
  bots: Pick<TtlCache<object>, 'invalidate'>;
  settings: Pick<TtlCache<object>, 'invalidate'>;
}): CacheRegistry {
  return {
    clear(key) {
      if (key === SETTINGS_CACHE_KEY) return caches.settings.invalidate(key);
      if (key.startsWith(BOT_PREFIX) && key.length > BOT_PREFIX.length) return caches.bots.invalidate(key);
      return null;
    },
  };
}
