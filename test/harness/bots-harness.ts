import type { Test } from 'tap';
import { createAuditLog } from '../../src/control/audit/audit-log.ts';
import { botAccessRoutes } from '../../src/control/bots/access-routes.ts';
import { botRoutes } from '../../src/control/bots/bot-routes.ts';
import { createCallTickets } from '../../src/control/bots/call-tickets.ts';
import { botCopyRoutes } from '../../src/control/bots/copy-routes.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { ManageBots } from '../../src/control/bots/manage-bots.ts';
import { botVersionRoutes } from '../../src/control/bots/version-routes.ts';
import {
  cacheRoutes,
  createCachedBots,
  createCacheRegistry,
} from '../../src/control/caches/cache-registry.ts';
import { createLivePromptCacheStore } from '../../src/control/caches/live-prompt-cache.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { TtlCache } from '../../src/platform/ttl-cache.ts';
import { namedPeople, serveApi } from './served-api.ts';
import { tempFolder } from './temp-folder.ts';

/** The routes of bots and caches behind a real server, on a store of their own. */
export async function botServer(t: Test) {
  const folder = tempFolder();
  const store = openKeyValueStore(folder);
  const clock = { wallMs: Date.parse('2026-03-02T06:30:00.000Z') };
  const nowIso = () => new Date(clock.wallMs).toISOString();
  const audit = createAuditLog(store, nowIso);
  const bots = createBotStore(store, audit);
  const cached = createCachedBots(bots, { ttlMs: 3_600_000, now: () => 1 });
  const livePromptCaches = createLivePromptCacheStore(store);
  const tickets = createCallTickets(() => clock.wallMs);
  const manage = new ManageBots({
    store: bots,
    cached,
    onRemoved: (botId) => livePromptCaches.remove(botId),
    world: { hasProviderKey: async () => false, providerOrigins: async () => [] },
    nowIso,
  });
  const settings = new TtlCache<object>({ ttlMs: 1, now: () => 1, max: 1 });
  const parts = { store: bots, bots: manage, tickets, livePromptCaches, audit, nowIso };
  const api = await serveApi(
    [
      ...botRoutes(parts),
      ...botVersionRoutes(parts),
      ...botCopyRoutes(parts),
      ...botAccessRoutes({ ...parts, socketUrl: () => 'wss://calls.example.com' }),
      ...cacheRoutes({ caches: createCacheRegistry({ bots: cached.cache, settings }), audit }),
    ],
    {
      store,
      authenticator: namedPeople({
        'calls:write': { scopes: ['calls:write'] },
        'records:read': { scopes: ['records:read'] },
      }),
      nowMs: () => clock.wallMs,
      limiterMs: () => 1,
      onError: (error) => void t.fail('a request failed inside', { cause: String(error) }),
    },
  );
  t.teardown(async () => {
    await api.close();
    await store.close();
  });
  return {
    bots,
    cached,
    audit,
    tickets,
    clock,
    livePromptCaches,
    port: api.port,
    /** Asks as an admin unless the headers say otherwise. */
    ask: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const isMachine = 'x-core-secret' in headers || 'x-api-key' in headers;
      const who: Record<string, string> = isMachine ? {} : { authorization: 'Bearer admin' };
      return api.call(method, `/api/v1${path}`, {
        body,
        headers: { ...who, ...headers },
      });
    },
  };
}

export const NEW_BOT = {
  bot_id: 'clinic',
  name: 'Clinic',
  opening_message: 'Namaste {{call.name}}.',
  stt: { provider: 'scripted' },
  llm: { provider: 'scripted', rules: [] },
  tts: { provider: 'scripted' },
};
