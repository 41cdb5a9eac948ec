import { join } from 'node:path';
import { createAuditLog, type TransactionalAuditLog } from '../../src/control/audit/audit-log.ts';
import type { BotStore } from '../../src/control/bots/bot-store.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { createCachedBots } from '../../src/control/caches/cache-registry.ts';
import type { CallRecordStore } from '../../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { createFleet } from '../../src/control/fleet/place-on-fleet.ts';
import type { Scope } from '../../src/control/http/authenticate.ts';
import { RateLimiter } from '../../src/control/http/rate-limit.ts';
import { outboundRoutes } from '../../src/control/outbound/outbound-routes.ts';
import { createOutboundStore } from '../../src/control/outbound/outbound-store.ts';
import type { KeyedSecretBox } from '../../src/control/settings/secret-box.ts';
import { settingsRoutes } from '../../src/control/settings/settings-routes.ts';
import { type SettingsService, startSettings } from '../../src/control/settings/settings-service.ts';
import { type Media, startMedia } from '../../src/control/telephony/start-media.ts';
import { widgetRoutes } from '../../src/control/widget/widget-routes.ts';
import { createGuardedHttp, type GuardedHttpOptions } from '../../src/platform/guarded-http.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { type Answer, type CallOptions, namedPeople, serveApi } from './served-api.ts';
import { tempFolder } from './temp-folder.ts';

export const FLEET_SECRET = 'the secret of the whole fleet';
export const NOON = Date.parse('2026-03-02T12:00:00.000Z');

const KEYS: Record<string, { scopes: Scope[]; requestsPerMinute?: number }> = {
  dialler: { scopes: ['calls:write'] },
  'other-dialler': { scopes: ['calls:write'] },
  reader: { scopes: ['records:read'] },
  campaigner: { scopes: ['campaigns:write'] },
  'limited-dialler': { scopes: ['calls:write'], requestsPerMinute: 2 },
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
  stop(): Promise<void>;
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
  const dataDir = options.dataDir ?? tempFolder();
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
  const api = await serveApi(routes, {
    store,
    authenticator: namedPeople(KEYS),
    coreSecrets: ['the core secret'],
    nowMs: () => clock.nowMs,
    limiterMs: () => performance.now(),
  });
  return {
    store,
    dataDir,
    box,
    settings,
    audit,
    bots,
    calls,
    media,
    port: api.port,
    clock,
    as: (who) => (Object.hasOwn(KEYS, who) ? { 'x-api-key': who } : { authorization: `Bearer ${who}` }),
    call: api.call,
    async stop() {
      await api.close();
      await media.stop();
      await store.close();
    },
  };
}
