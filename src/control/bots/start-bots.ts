import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { TtlCache } from '../../platform/ttl-cache.ts';
import type { TransactionalAuditLog } from '../audit/audit-log.ts';
import {
  type CachedBots,
  cacheRoutes,
  createCachedBots,
  createCacheRegistry,
} from '../caches/cache-registry.ts';
import { createLivePromptCacheStore, type LivePromptCacheStore } from '../caches/live-prompt-cache.ts';
import type { AnyRoute } from '../http/route.ts';
import { botAccessRoutes } from './access-routes.ts';
import { botRoutes } from './bot-routes.ts';
import type { BotStore } from './bot-store.ts';
import { type CallTickets, createCallTickets } from './call-tickets.ts';
import { botCopyRoutes } from './copy-routes.ts';
import { createBotStore } from './lmdb-bot-store.ts';
import { ManageBots } from './manage-bots.ts';
import { botVersionRoutes } from './version-routes.ts';

export interface StartBotsParts {
  store: KeyValueStore;
  audit: TransactionalAuditLog;
  nowIso: () => string;
  /** Wall time, for tickets. */
  nowMs: () => number;
  /** Milliseconds that only go forward, for the cache. */
  monotonicMs: () => number;
  /** `BOT_CACHE_TTL` in milliseconds. */
  cacheTtlMs: number;
  /** The cache of the system settings, which is cleared by hand through the same route. */
  settingsCache: Pick<TtlCache<object>, 'invalidate'>;
  /** Whether the system settings hold a key under this name. */
  hasProviderKey: (name: string) => Promise<boolean>;
  providerOrigins: () => Promise<readonly string[]>;
  /** Where others open call sockets, `wss://calls.example.com`. */
  socketUrl: () => string;
  /** What other features keep of a bot goes with it. */
  onRemoved?: (botId: string) => Promise<void>;
  /** Calls get another content of the bot from now on. */
  onPublished?: (botId: string) => void;
}

/** Everything around bots: the store, what calls read, the tickets that the ingress takes, and the routes. */
export interface Bots {
  store: BotStore;
  cached: CachedBots;
  livePromptCaches: LivePromptCacheStore;
  tickets: CallTickets;
  routes: AnyRoute[];
}

export function startBots(parts: StartBotsParts): Bots {
  const { audit, nowIso } = parts;
  const store = createBotStore(parts.store, audit);
  const cached = createCachedBots(store, { ttlMs: parts.cacheTtlMs, now: parts.monotonicMs });
  const livePromptCaches = createLivePromptCacheStore(parts.store);
  const tickets = createCallTickets(parts.nowMs);
  const bots = new ManageBots({
    store,
    cached,
    world: { hasProviderKey: parts.hasProviderKey, providerOrigins: parts.providerOrigins },
    nowIso,
    async onRemoved(botId) {
      await livePromptCaches.remove(botId);
      await parts.onRemoved?.(botId);
    },
    onPublished: (botId) => parts.onPublished?.(botId),
  });
  const caches = createCacheRegistry({ bots: cached.cache, settings: parts.settingsCache });
  return {
    store,
    cached,
    livePromptCaches,
    tickets,
    routes: [
      ...botRoutes({ store, bots }),
      ...botVersionRoutes({ store, bots }),
      ...botCopyRoutes({ bots, nowIso }),
      ...botAccessRoutes({ store, bots, tickets, livePromptCaches, audit, socketUrl: parts.socketUrl }),
      ...cacheRoutes({ caches, audit }),
    ],
  };
}
