import type { IntegrationLogEntry, PostCallPush } from '../../contracts/crm.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallFacts, SystemVariables } from '../calls/after-call.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import { type CallEvents, createCallEvents } from './call-events.ts';
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts';
import { type DeliveryClock, DeliveryWorker, SYSTEM_CLOCK } from './delivery-worker.ts';
import { BOT_PUSH_PREFIX, createEndpointStore } from './endpoint-store.ts';
import type { TargetParts } from './targets.ts';

export interface OutboundParts {
  store: KeyValueStore;
  http: GuardedHttp;
  box: SecretBox;
  /** The push of the bot as calls get it now; null where the bot has none or is gone. */
  pushOf: (botId: string) => Promise<PostCallPush | null>;
  /** Values of `{{secret.NAME}}` of a bot. */
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  call: (sessionId: string) => Promise<CallFacts | null>;
  noteIntegration: (sessionId: string, entry: IntegrationLogEntry) => Promise<void>;
  system: SystemVariables;
  logger: Logger;
  clock?: DeliveryClock;
  timeoutMs?: number;
}

/** Everything that tells other systems about calls: webhooks and the post-call push, behind one queue. */
export interface Outbound extends TargetParts {
  http: GuardedHttp;
  deliveries: DeliveryStore;
  /** For the store of the call records. */
  afterWrite: CallEvents['afterWrite'];
  nowMs: () => number;
  /** Goes on with what an earlier process left. */
  start(): void;
  /** Looks at the queue now. */
  wake(): void;
  /** What is kept about the push of a bot that has been removed; a later bot of that id begins anew. */
  forgetBot(botId: string): Promise<void>;
  stop(): Promise<void>;
}

export function createOutbound(parts: OutboundParts): Outbound {
  const clock = parts.clock ?? SYSTEM_CLOCK;
  const { store, http, box, pushOf, secretsOf, call, system, noteIntegration, logger } = parts;
  const endpoints = createEndpointStore(store);
  const deliveries = createDeliveryStore(store);
  const target: TargetParts = { endpoints, box, pushOf, secretsOf, call, system };
  const worker = new DeliveryWorker({
    ...target,
    http,
    deliveries,
    noteIntegration,
    logger,
    clock,
    ...(parts.timeoutMs === undefined ? {} : { timeoutMs: parts.timeoutMs }),
  });
  const events = createCallEvents({
    store,
    endpoints,
    deliveries,
    call,
    pushOf,
    system,
    queued: () => worker.wake(),
    logger,
    nowMs: () => clock.nowMs(),
  });
  return {
    ...target,
    http,
    deliveries,
    afterWrite: events.afterWrite,
    nowMs: () => clock.nowMs(),
    start() {
      void events.workOff();
      worker.wake();
    },
    wake: () => worker.wake(),
    async forgetBot(botId) {
      const id = `${BOT_PUSH_PREFIX}${botId}`;
      await endpoints.remove(id);
      await deliveries.removeEndpoint(id);
    },
    async stop() {
      await events.stop();
      await worker.stop();
    },
  };
}
