import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { botAccessRoutes } from '../../../src/control/bots/access-routes.ts';
import { botRoutes } from '../../../src/control/bots/bot-routes.ts';
import { createCallTickets } from '../../../src/control/bots/call-tickets.ts';
import { botCopyRoutes } from '../../../src/control/bots/copy-routes.ts';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { ManageBots } from '../../../src/control/bots/manage-bots.ts';
import { botVersionRoutes } from '../../../src/control/bots/version-routes.ts';
import { createCacheRegistry } from '../../../src/control/caches/cache-registry.ts';
import { cacheRoutes } from '../../../src/control/caches/cache-routes.ts';
import { createCachedBots } from '../../../src/control/caches/cached-bots.ts';
import { createLivePromptCacheStore } from '../../../src/control/caches/live-prompt-cache.ts';
import type { Authenticator, Role } from '../../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../../src/control/http/rate-limit.ts';
import { serveRoutes } from '../../../src/control/http/serve-routes.ts';
import { createHttpServer } from '../../../src/platform/http-server.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { TtlCache } from '../../../src/platform/ttl-cache.ts';

export const CORE_SECRET = 'correct horse battery staple';

/** The bearer token is the role: who logs in how is not what these tests are about. */
const ROLES: Authenticator = {
  session: async () => null,
  bearer: async (token) => ({
    type: 'user',
    id: `usr_${token}`,
    name: token,
    role: token as Role,
    sessionId: null,
  }),
  apiKey: async (scope) => ({
    type: 'api_key',
    id: 'key_1',
    name: 'dialler',
    scopes: [scope as 'calls:write'],
  }),
};

/** The routes of bots and caches behind a real server, on a store of their own. */
export async function botServer(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bots-'));
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
  const server = createHttpServer({
    routes: serveRoutes(
      [
        ...botRoutes(parts),
        ...botVersionRoutes(parts),
        ...botCopyRoutes(parts),
        ...botAccessRoutes({ ...parts, socketUrl: () => 'wss://calls.example.com' }),
        ...cacheRoutes({ caches: createCacheRegistry({ bots: cached.cache, settings }), audit }),
      ],
      {
        authenticator: ROLES,
        baseUrl: () => 'http://127.0.0.1',
        guard: createCoreSecretGuard([CORE_SECRET], 'http://127.0.0.1'),
        limiter: new RateLimiter(() => 1),
        once: createIdempotencyGuard(createIdempotencyStore(store), () => clock.wallMs),
      },
    ),
    onError: (error) => void t.fail('a request failed inside', { cause: String(error) }),
  });
  const { port } = await server.listen('127.0.0.1', 0);
  t.teardown(async () => {
    await server.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    bots,
    cached,
    audit,
    tickets,
    clock,
    livePromptCaches,
    port,
    /** Asks as an admin unless the headers say otherwise. */
    async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method,
        headers: {
          ...('x-core-secret' in headers || 'x-api-key' in headers ? {} : { authorization: 'Bearer admin' }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, json: text === '' ? null : JSON.parse(text) };
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
