import { Type } from 'typebox';
import type { Bot } from '../../contracts/bot.ts';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import { TtlCache, type TtlCacheOptions } from '../../platform/ttl-cache.ts';
import { causedBy } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { type AnyRoute, route } from '../http/route.ts';

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

/** `DELETE /api/v1/caches/{key}`: the next call reads the store again (R177). */
export function cacheRoutes(parts: { caches: CacheRegistry; audit: Pick<AuditLog, 'record'> }): AnyRoute[] {
  return [
    route({
      method: 'DELETE',
      path: `${API_PREFIX}/caches/{key}`,
      operationId: 'clearCache',
      summary: 'Clear one cache entry',
      description:
        'Keys are `bot:{bot_id}` and `system:settings`. Needed only after a change that did not come through the API.',
      tag: 'caches',
      auth: { kind: 'users', roles: ['admin'], orCoreSecret: true },
      params: Type.Object({ key: Type.String({ minLength: 1, maxLength: 100 }) }),
      responses: {
        200: {
          description: 'The entry is gone; `cleared` says whether there was one',
          schema: Type.Object({ key: Type.String(), cleared: Type.Boolean() }),
        },
      },
      handler: async (request) => {
        const { key } = request.params;
        const cleared = parts.caches.clear(key);
        if (cleared === null) {
          throw new AppError('not_found', 'cache keys are bot:{bot_id} and system:settings');
        }
        await parts.audit.record({
          ...causedBy(request, 'cache.clear'),
          target: `cache:${key}`,
          before: null,
          after: { cleared },
        });
        return { status: 200, json: { key, cleared } };
      },
    }),
  ];
}
