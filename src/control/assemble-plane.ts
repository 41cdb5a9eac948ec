import { join } from 'node:path';
import type { HostSessions } from '../contracts/fleet-sessions.ts';
import { isoNow, monotonicMs } from '../platform/clock.ts';
import { createGuardedHttp, type GuardedHttp } from '../platform/guarded-http.ts';
import type { KeyValueStore } from '../platform/key-value-store.ts';
import type { Logger } from '../platform/logger.ts';
import { hostPort, type Settings } from '../platform/settings.ts';
import { PRODUCT_VERSION } from '../platform/version.ts';
import { SPEECH_CACHE_FOLDER, SpeechCache } from '../providers/spoken-lines/speech-cache.ts';
import { createAccounts } from './accounts/create-accounts.ts';
import { docsRoutes } from './api-docs/docs-routes.ts';
import { createAuditLog } from './audit/audit-log.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { demoBot } from './bots/demo-bot.ts';
import { startRescueAudio } from './bots/rescue-audio.ts';
import { startBots } from './bots/start-bots.ts';
import { createCallRecordStore } from './calls/lmdb-call-store.ts';
import { settleCallback } from './campaigns/callback-requests.ts';
import { createCampaignStore } from './campaigns/campaign-store.ts';
import { crmSecretRoutes } from './crm/crm-secret-routes.ts';
import { createCrmSecrets } from './crm/crm-secrets.ts';
import { createCrmPrefetch } from './crm/prefetch.ts';
import { pushRoutes } from './crm/push-routes.ts';
import { pushTrialRoutes } from './crm/trial-routes.ts';
import { createSessionFinder } from './fleet/find-sessions.ts';
import { createFleet, fleetUrls } from './fleet/place-on-fleet.ts';
import { healthRoutes } from './health-routes.ts';
import type { Authenticator } from './http/authenticate.ts';
import { type CoreSecretGuard, createCoreSecretGuard } from './http/core-secret-guard.ts';
import { RateLimiter } from './http/rate-limit.ts';
import type { AnyRoute } from './http/route.ts';
import { migrateStore } from './migrations.ts';
import { outboundRoutes } from './outbound/outbound-routes.ts';
import { createOutboundStore } from './outbound/outbound-store.ts';
import { withProviderKey } from './runtime-config/provider-keys.ts';
import { configRoute } from './runtime-config/serve-config.ts';
import { systemVariables } from './runtime-config/variables.ts';
import { settingsRoutes } from './settings/settings-routes.ts';
import { startSettings } from './settings/settings-service.ts';
import { startCallRecords } from './start-call-records.ts';
import { type Media, startMedia } from './telephony/start-media.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import { createWebhookService } from './webhooks/webhook-service.ts';
import { widgetRoutes } from './widget/widget-routes.ts';

export interface PlaneParts {
  settings: Settings;
  store: KeyValueStore;
  logger: Logger;
  recordingsFolder: string;
  /** Known in full only once the plane listens. */
  baseUrl: () => string;
  /** Wall time as ISO 8601 UTC. */
  clock?: () => string;
  /** What reaches other people's servers; a test leads it to servers of its own. */
  outboundHttp?: GuardedHttp;
  /** The port of the fleet ingress in the same process, once it is open. */
  ownFleetPort?: () => number | null;
  /** What the slots of the same process have of calls; null while they are still starting. */
  ownSessions?: () => Promise<HostSessions | null>;
}

/** All features of the control plane, put together; what they have in common with the outside are their routes. */
export interface Plane {
  routes: readonly AnyRoute[];
  authenticator: Authenticator;
  guard: CoreSecretGuard;
  /** Whether the ticket opens a call to this bot; it does so once (D-17). */
  consumeTicket(ticket: string, botId: string): boolean;
  media: Pick<Media, 'setup' | 'botForNumber'>;
  /** `listeningUrl` is where a process of this machine reaches the plane. */
  open(listeningUrl: string): Promise<{ setupUrl: string | null }>;
  stop(): Promise<void>;
}

/** Brings the store to the present version first: everything else reads it. */
export async function assemblePlane(parts: PlaneParts): Promise<Plane> {
  const { settings, store, logger, recordingsFolder, baseUrl } = parts;
  const nowIso = parts.clock ?? isoNow;
  await migrateStore(store, logger);
  const audit = createAuditLog(store, nowIso);
  const { box, settings: system } = await startSettings({
    dataDir: settings.dataDir,
    store,
    audit,
    seeds: settings.seeds,
    nowIso,
    monotonicMs,
  });
  const http =
    parts.outboundHttp ?? createGuardedHttp({ allowedNetworks: () => system.latest().allowedNetworks });
  const guard = createCoreSecretGuard(settings.coreSecrets, settings.baseUrl);
  const accounts = createAccounts({
    store,
    audit,
    secretBox: box,
    logger,
    dataDir: settings.dataDir,
    baseUrl,
    nowIso,
  });
  const bots = startBots({
    store,
    audit,
    nowIso,
    nowMs: Date.now,
    monotonicMs,
    cacheTtlMs: settings.botCacheTtlSeconds * 1_000,
    settingsCache: system.cache,
    hasProviderKey: async (name) => (await system.current()).providerKey(name) !== null,
    providerOrigins: async () => (await system.current()).providerOrigins(),
    socketUrl: () => `ws://${hostPort(settings.fleetListen)}`,
    onRemoved: async (id) => {
      // A later bot of the same id must not inherit what this one signed and logged in with.
      await webhookService.forgetBot(id);
      await secrets.removeAll(id);
    },
    onPublished: (id) => rescueAudio?.published(id),
  });
  if (await bots.store.isEmpty()) {
    await bots.store.put(demoBot(nowIso()));
    logger.info({ bot_id: 'demo' }, 'empty store, bot created');
  }
  // The slots of another host keep their own: what a plane without slots renders, nobody plays.
  const rescueAudio =
    settings.role === 'control'
      ? null
      : startRescueAudio({
          cache: new SpeechCache(join(settings.dataDir, SPEECH_CACHE_FOLDER)),
          bot: (id) => bots.cached.get(id),
          async voiceOf(bot) {
            const values = await system.current();
            const keyOf = (provider: string) => values.providerKey(provider);
            return withProviderKey(bot.tts, { keyOf, origins: values.providerOrigins() });
          },
          logger,
        });
  const secrets = createCrmSecrets(store, box, nowIso);
  const prefetch = createCrmPrefetch({ http, secretsOf: (id) => secrets.valuesOf(id), nowIso });
  const webhookService = createWebhookService({
    store,
    http,
    box,
    logger,
    pushOf: async (id) => (await bots.cached.get(id))?.post_call_push ?? null,
    secretsOf: (id) => secrets.valuesOf(id),
    call: (sessionId) => calls.get(sessionId),
    noteIntegration: (sessionId, entry) => calls.appendIntegration(sessionId, entry, nowIso()),
    system: systemVariables,
  });
  const calls = createCallRecordStore(store, { afterWrite: webhookService.afterWrite });
  const campaigns = createCampaignStore(store);
  const sessions = createSessionFinder({
    own: parts.ownSessions,
    urls: () => (settings.role === 'control' ? fleetUrls(settings, null) : settings.fleetUrls),
    coreSecret: settings.coreSecret,
    nowMs: monotonicMs,
  });
  const records = await startCallRecords({
    store,
    calls,
    audit,
    guard,
    logger,
    nowIso,
    recordingsFolder,
    exportsFolder: join(settings.dataDir, 'exports'),
    dispositionRules: async (id) => (await bots.cached.get(id))?.auto_dispositions ?? [],
    settleCallback: (record) => settleCallback(campaigns, record),
    strict: settings.strictResults,
    liveSessions: async () => (await sessions.ask())?.live ?? null,
  });
  const media = startMedia({
    store,
    audit,
    box,
    settings: () => system.current(),
    bot: (id) => bots.cached.get(id),
    logger,
    nowIso,
  });
  const fleet = createFleet(() => fleetUrls(settings, parts.ownFleetPort?.() ?? null));
  const crm = { webhookService, prefetch, secrets, audit, bot: (id: string) => bots.cached.get(id) };
  const routes: AnyRoute[] = [
    configRoute({
      bots: bots.cached,
      calls,
      sessions,
      campaigns,
      livePromptCaches: bots.livePromptCaches,
      prefetch,
      settings: () => system.current(),
      secretsOf: (id) => secrets.valuesOf(id),
      knowledgeBasesExist: async () => false,
      logger,
      nowIso,
      baseUrl,
    }),
    ...records.routes,
    ...bots.routes,
    ...accounts.routes,
    ...auditRoutes(audit),
    ...webhookRoutes({ webhookService, audit }),
    ...crmSecretRoutes(crm),
    ...pushRoutes(crm),
    ...pushTrialRoutes(crm),
    ...settingsRoutes({ settings: system, box, store, audit, http }),
    ...media.routes,
    ...outboundRoutes({
      bots: bots.cached,
      outboundTrunk: () => media.outboundTrunk(),
      fleet,
      outbound: createOutboundStore(store),
      coreSecret: settings.coreSecret,
      logger,
      nowIso,
      calls,
    }),
    ...widgetRoutes({
      bots: bots.cached,
      settings: () => system.current(),
      fleet,
      coreSecret: settings.coreSecret,
      limiter: new RateLimiter(monotonicMs),
      logger,
    }),
    ...healthRoutes(store),
    ...docsRoutes({
      routes: () => routes,
      version: PRODUCT_VERSION,
      baseUrl,
      fleetUrl: `http://${hostPort(settings.fleetListen)}`,
    }),
  ];
  return {
    routes,
    authenticator: accounts.authenticator,
    guard,
    consumeTicket: (ticket, botId) => bots.tickets.consume(ticket, botId),
    media,
    open(listeningUrl) {
      webhookService.start();
      media.start();
      return accounts.open(listeningUrl);
    },
    async stop() {
      await rescueAudio?.stop();
      await media.stop();
      await webhookService.stop();
      await records.stop();
    },
  };
}
