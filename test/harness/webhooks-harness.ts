import { join } from 'node:path';
import type { PostCallPush } from '../../src/contracts/crm.ts';
import type { ActiveCall } from '../../src/control/calls/call-record.ts';
import type { CallRecordStore } from '../../src/control/calls/call-store.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { systemVariables } from '../../src/control/runtime-config/variables.ts';
import type { SecretBox } from '../../src/control/settings/secret-box.ts';
import { type Endpoint, newEndpoint } from '../../src/control/webhooks/endpoint-store.ts';
import { createWebhookService, type WebhookService } from '../../src/control/webhooks/webhook-service.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { testResults } from './control.ts';
import { HandClock } from './hand-clock.ts';
import { localHttp } from './receiver.ts';
import { tempFolder } from './temp-folder.ts';
import { until } from './wait.ts';

/** Turns texts round, which is enough to tell sealed from plain. */
export const testBox: SecretBox = {
  seal: (plain) => `sealed:${Buffer.from(plain).toString('base64url')}`,
  open: (sealed) => Buffer.from(sealed.slice('sealed:'.length), 'base64url').toString(),
};

export interface WebhooksHarness {
  store: KeyValueStore;
  calls: CallRecordStore;
  webhookService: WebhookService;
  clock: HandClock;
  /** Pushes by bot; tests change it at will. */
  pushes: Map<string, PostCallPush>;
  secrets: Record<string, string>;
  webhook: (url: string, change?: Partial<Endpoint>) => Promise<Endpoint>;
  startCall: (sessionId: string, change?: Partial<ActiveCall>) => Promise<void>;
  /** Turned away at the gate. */
  refuseCall: (sessionId: string) => Promise<void>;
  endCall: (sessionId: string, change?: Parameters<typeof testResults>[1]) => Promise<void>;
  close: () => Promise<void>;
}

export const SIGNING_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

/** `isIdle`: messages are queued, and none is sent before `webhookService.start()`. */
export function startWebhooks({ isIdle } = { isIdle: false }): WebhooksHarness {
  const folder = tempFolder();
  const store = openKeyValueStore(join(folder, 'store'));
  const clock = new HandClock(Date.parse('2026-03-01T08:00:00.000Z'));
  const pushes = new Map<string, PostCallPush>();
  const secrets: Record<string, string> = {};
  const nowIso = () => new Date(clock.nowMs()).toISOString();
  const webhookService = createWebhookService({
    store,
    http: localHttp(),
    box: testBox,
    pushOf: async (botId) => pushes.get(botId) ?? null,
    secretsOf: async () => secrets,
    call: (sessionId) => calls.get(sessionId),
    noteIntegration: (sessionId, entry) => calls.appendIntegration(sessionId, entry, nowIso()),
    system: systemVariables,
    logger: createLogger({ level: 'silent', role: 'test' }),
    clock,
    timeoutMs: 2_000,
  });
  const calls = createCallRecordStore(store, { afterWrite: webhookService.afterWrite });
  if (!isIdle) webhookService.start();
  return {
    store,
    calls,
    webhookService,
    clock,
    pushes,
    secrets,
    async webhook(url, change = {}) {
      const id = `whk_${String(webhookService.endpoints.all().length).padStart(24, '0')}`;
      const fresh = newEndpoint(
        { id, url, types: ['call.ended'] },
        testBox.seal(SIGNING_SECRET),
        clock.nowMs(),
      );
      const endpoint = { ...fresh, ...change };
      await webhookService.endpoints.put(endpoint, 0);
      return endpoint;
    },
    async startCall(sessionId, change = {}) {
      await calls.insertActive({ ...activeCall(sessionId, nowIso()), ...change });
    },
    async refuseCall(sessionId) {
      await calls.insertRefused(activeCall(sessionId, nowIso()), 'outside_hours');
    },
    async endCall(sessionId, change = {}) {
      await calls.complete(testResults(sessionId, change), nowIso());
    },
    async close() {
      await webhookService.stop();
      await store.close();
    },
  };
}

function activeCall(sessionId: string, nowIso: string): ActiveCall {
  return {
    session_id: sessionId,
    bot_id: 'clinic',
    bot_name: 'Clinic',
    call_type: 'bot',
    stream_id: 'stream-1',
    caller_id: '+911234567890',
    from_number: null,
    call_direction: 'inbound',
    timezone: 'Asia/Kolkata',
    created_at: nowIso,
    connected_event: { city: 'Pune' },
    sip_context: {},
    crm_data: { CUSTOMERNAME: 'Asha', loans: [{ due: 1200 }] },
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  };
}

/**
 * Resolves when the condition holds while the hand clock goes on by a second at each look. A single move would be lost
 * when the worker had not yet written down what it waits for.
 */
export async function untilWithTime(clock: HandClock, condition: () => boolean): Promise<void> {
  await until(() => {
    clock.move(1_000);
    return condition();
  });
}

/** Nothing more is going to happen by itself: three turns with time for a request to loopback in each. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 30));
}
