import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog, type TransactionalAuditLog } from '../../../src/control/audit/audit-log.ts';
import type { BotStore } from '../../../src/control/bots/bot-store.ts';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { createCachedBots } from '../../../src/control/caches/cached-bots.ts';
import type { CallRecordStore } from '../../../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../../../src/control/calls/lmdb-call-store.ts';
import { createFleet } from '../../../src/control/fleet/place-on-fleet.ts';
import type { Actor, Authenticator, Role, Scope } from '../../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../../src/control/http/rate-limit.ts';
import { serveRoutes } from '../../../src/control/http/serve-routes.ts';
import { outboundRoutes } from '../../../src/control/outbound/outbound-routes.ts';
import { createOutboundStore } from '../../../src/control/outbound/outbound-store.ts';
import type { KeyedSecretBox } from '../../../src/control/settings/secret-box.ts';
import { settingsRoutes } from '../../../src/control/settings/settings-routes.ts';
import type { SettingsService } from '../../../src/control/settings/settings-service.ts';
import { startSettings } from '../../../src/control/settings/start-settings.ts';
import { type Media, startMedia } from '../../../src/control/telephony/start-media.ts';
import { widgetRoutes } from '../../../src/control/widget/widget-routes.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { createGuardedHttp, type GuardedHttpOptions } from '../../../src/platform/guarded-http.ts';
import { createHttpServer } from '../../../src/platform/http-server.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';

export const FLEET_SECRET = 'the secret of the whole fleet';
export const NOON = Date.parse('2026-03-02T12:00:00.000Z');

const KEYS: Readonly<Record<string, readonly Scope[]>> = {
  dialler: ['calls:write'],
  'other-dialler': ['calls:write'],
  reader: ['records:read'],
  campaigner: ['campaigns:write'],
  'limited-dialler': ['calls:write'],
};

/** One person for each role and some keys, named after what they are; the accounts of the product have their own tests. */
const authenticator: Authenticator = {
  session: async () => null,
  bearer: async (token) =>
    ['admin', 'supervisor', 'agent', 'analyst'].includes(token)
      ? ({ type: 'user', id: token, name: token, role: token as Role, sessionId: null } satisfies Actor)
      : null,
  apiKey: async (key): Promise<Actor | null> => {
    const scopes = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (!scopes) return null;
    const limit = key === 'limited-dialler' ? { requestsPerMinute: 2 } : {};
    return { type: 'api_key', id: `key_${key}`, name: key, scopes, ...limit };
  },
};

export interface SettingsPlane {
  store: KeyValueStore;
  dataDir: string;
  box: KeyedSecretBox;
  settings: SettingsService;
  audit: TransactionalAuditLog;
  bots: BotStore;
  calls: CallRecordStore;
  media: Media;
  port: number;
  /** Wall clock and monotonic clock of settings and outbound calls. */
  clock: { nowMs: number };
  as: (who: string) => Record<string, string>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came back.
  json: any;
}

/** Settings and outbound calls behind the real table and server, on a store of their own. */
export async function startPlane(
  options: {
    seeds?: Record<string, string>;
    fleetUrls?: () => readonly string[];
    dataDir?: string;
    http?: Omit<GuardedHttpOptions, 'allowedNetworks'>;
  } = {},
): Promise<SettingsPlane> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'trunkline-settings-'));
  const store = openKeyValueStore(join(dataDir, 'store'));
  const clock = { nowMs: NOON };
  const nowIso = () => new Date(clock.nowMs).toISOString();
  const audit = createAuditLog(store, nowIso);
  const { box, settings } = await startSettings({
    dataDir,
    store,
    audit,
    seeds: options.seeds ?? {},
    nowIso,
    monotonicMs: () => clock.nowMs,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const http = createGuardedHttp({
    ...options.http,
    allowedNetworks: () => settings.latest().allowedNetworks,
  });
  const bots = createBotStore(store);
  const cached = createCachedBots(bots, { ttlMs: 1, now: () => clock.nowMs++ });
  const calls = createCallRecordStore(store);
  const logger = createLogger({ level: 'silent', role: 'test' });
  const fleet = createFleet(options.fleetUrls ?? (() => []));
  const media = startMedia({
    store,
    audit,
    box,
    settings: () => settings.current(),
    bot: (id) => bots.get(id),
    logger,
    nowIso,
  });
  const routes = [
    ...media.routes,
    ...widgetRoutes({
      bots: cached,
      settings: () => settings.current(),
      fleet,
      coreSecret: FLEET_SECRET,
      limiter: new RateLimiter(() => clock.nowMs),
      logger,
    }),
    ...settingsRoutes({ settings, box, store, audit, http }),
    ...outboundRoutes({
      bots: cached,
      outboundTrunk: () => media.outboundTrunk(),
      fleet,
      outbound: createOutboundStore(store),
      coreSecret: FLEET_SECRET,
      logger,
      nowIso,
      calls,
    }),
  ];
  const server = createHttpServer({
    routes: serveRoutes(routes, {
      authenticator,
      baseUrl: () => 'http://127.0.0.1',
      guard: createCoreSecretGuard(['the core secret'], 'http://127.0.0.1'),
      limiter: new RateLimiter(() => performance.now()),
      once: createIdempotencyGuard(createIdempotencyStore(store), () => clock.nowMs),
    }),
    onError: (error) => {
      if (!(error instanceof AppError)) process.stderr.write(`${String((error as Error).stack)}\n`);
    },
  });
  const { port } = await server.listen('127.0.0.1', 0);
  return {
    store,
    dataDir,
    box,
    settings,
    audit,
    bots,
    calls,
    media,
    port,
    clock,
    as: (who) => (Object.hasOwn(KEYS, who) ? { 'x-api-key': who } : { authorization: `Bearer ${who}` }),
    async call(method, path, { body, headers = {}, signal } = {}) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
      const text = await answer.text();
      const isJson = /json/.test(answer.headers.get('content-type') ?? '');
      return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
    },
    async stop({ keepData = false } = {}) {
      await server.close();
      await media.stop();
      await store.close();
      if (!keepData) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
