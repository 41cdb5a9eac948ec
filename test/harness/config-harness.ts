import type { Test } from 'tap';
import type { Bot } from '../../src/contracts/bot.ts';
import type { RuntimeConfig } from '../../src/contracts/runtime-config.ts';
import { createAuditLog } from '../../src/control/audit/audit-log.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { createCachedBots } from '../../src/control/caches/cache-registry.ts';
import { createLivePromptCacheStore } from '../../src/control/caches/live-prompt-cache.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { createCampaignStore } from '../../src/control/campaigns/campaign-store.ts';
import type { CrmPrefetch } from '../../src/control/crm/prefetch.ts';
import {
  type ConfigSettings,
  type OpenCallParts,
  openCall,
} from '../../src/control/runtime-config/resolve-config.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readConfig } from '../../src/slot/call/fetch-config.ts';
import { testBot } from './control.ts';
import { tempFolder } from './temp-folder.ts';

export const HOUR_MS = 3_600_000;

/** Everything that opens calls, on a store and clocks of its own. */
export function configHarness(
  t: Test,
  change: {
    prefetch?: CrmPrefetch;
    settings?: Partial<ConfigSettings>;
    /** What the hosts have of calls; nothing by default. */
    sessions?: () => Awaited<ReturnType<OpenCallParts['sessions']['ask']>>;
  } = {},
) {
  const folder = tempFolder();
  const store = openKeyValueStore(folder);
  t.teardown(async () => {
    await store.close();
  });
  const clock = { wallIso: '2026-03-02T06:30:00.000Z', monotonicMs: 1_000 };
  const nowIso = () => clock.wallIso;
  const audit = createAuditLog(store, nowIso);
  const bots = createBotStore(store, audit);
  const cached = createCachedBots(bots, { ttlMs: HOUR_MS, now: () => clock.monotonicMs });
  const records = createCallRecordStore(store);
  const knowledgeBases = new Set<string>();
  const parts: OpenCallParts = {
    bots: cached,
    calls: records,
    sessions: {
      ask: async () => (change.sessions ? change.sessions() : { live: new Set(), owed: new Set() }),
    },
    campaigns: createCampaignStore(store),
    livePromptCaches: createLivePromptCacheStore(store),
    settings: async () => ({
      providerKey: () => null,
      objectStorage: () => null,
      knowledgeEnabled: () => false,
      outboundNetworks: () => [],
      providerOrigins: () => [],
      ...change.settings,
    }),
    secretsOf: async (): Promise<Record<string, string>> => ({ crm_token: 'token-of-the-crm' }),
    knowledgeBasesExist: async (ids) => ids.every((id) => knowledgeBases.has(id)),
    prefetch:
      change.prefetch ??
      (async () => {
        throw new Error('this bot asks no CRM');
      }),
    logger: createLogger({ level: 'silent', role: 'test' }),
    baseUrl: () => 'https://calls.example.com',
    nowIso,
  };
  return {
    ...parts,
    parts,
    store,
    bots,
    records,
    cached,
    audit,
    clock,
    knowledgeBases,
    /** Publishes the bot and opens one call to it. */
    async call(bot: Partial<Bot>, event: unknown = {}, callerId = ''): Promise<RuntimeConfig> {
      const put = testBot(bot);
      await bots.put(put);
      cached.invalidate(put.bot_id);
      return await this.open(put.bot_id, event, callerId);
    },
    async open(botId: string, event: unknown = {}, callerId = ''): Promise<RuntimeConfig> {
      const config = await openCall(parts, {
        botId,
        callerId,
        streamId: 'stream-1',
        connectedEvent: typeof event === 'string' ? event : JSON.stringify(event),
        signal: new AbortController().signal,
      });
      // Whatever bot a test publishes, a slot takes its config as it comes over the wire.
      const read = readConfig(JSON.stringify(config), botId);
      if ('refusal' in read) throw new Error(`a slot refuses the config: ${read.refusal.reason}`);
      return config;
    },
  };
}
