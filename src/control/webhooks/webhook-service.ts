import type { IntegrationLogEntry, PostCallPush } from '../../contracts/crm.ts';
import { describeError } from '../../platform/app-error.ts';
import type { QueueClock } from '../../platform/delivery-queue.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RecordFacts, SystemVariables } from '../calls/after-call.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import { type CallEvents, createCallEvents } from './call-events.ts';
import { messageSending } from './deliver-message.ts';
import { DeliveryStore } from './delivery-store.ts';
import { BOT_PUSH_PREFIX, createEndpointStore } from './endpoint-store.ts';
import type { TargetParts } from './targets.ts';

export interface WebhookServiceParts {
  store: KeyValueStore;
  http: GuardedHttp;
  box: SecretBox;
  /** The push of the bot as calls get it now; null where the bot has none or is gone. */
  pushOf: (botId: string) => Promise<PostCallPush | null>;
  /** Values of `{{secret.NAME}}` of a bot. */
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  call: (sessionId: string) => Promise<RecordFacts | null>;
  noteIntegration: (sessionId: string, entry: IntegrationLogEntry) => Promise<void>;
  system: SystemVariables;
  logger: Logger;
  clock?: QueueClock;
  timeoutMs?: number;
}

/** Everything that tells other systems about calls: webhooks and the post-call push, behind one queue. */
export interface WebhookService extends TargetParts {
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

const PRUNE_EVERY_MS = 3_600_000;
/** A queue that could not be read at the start is read again after this. */
const READ_AGAIN_MS = 5_000;

export function createWebhookService(parts: WebhookServiceParts): WebhookService {
  const { store, http, box, pushOf, secretsOf, call, system, noteIntegration, logger, clock, timeoutMs } =
    parts;
  const nowMs = () => clock?.nowMs() ?? Date.now();
  const target: TargetParts = { endpoints: createEndpointStore(store), box, pushOf, secretsOf, call, system };
  const sending = messageSending({ ...target, http, noteIntegration, logger, nowMs, timeoutMs });
  const deliveries = new DeliveryStore(store, { ...sending, logger, clock });
  const { endpoints } = target;
  const events = createCallEvents({ store, endpoints, deliveries, call, pushOf, system, logger, nowMs });
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** Goes on with what lies there, then removes once an hour what has been finished for long. */
  const tend = async (isRead: boolean) => {
    let hasRead = isRead;
    try {
      if (!hasRead) await deliveries.queue.start();
      hasRead = true;
      while (!isStopped && (await deliveries.prune(nowMs())) > 0);
    } catch (error) {
      logger.error({ err: describeError(error) }, 'the messages that are kept cannot be read or removed');
    }
    if (!isStopped)
      timer = setTimeout(() => void tend(hasRead), hasRead ? PRUNE_EVERY_MS : READ_AGAIN_MS).unref();
  };

  return {
    ...target,
    http,
    deliveries,
    afterWrite: events.afterWrite,
    nowMs,
    start() {
      void tend(false);
      void events.workOff();
    },
    wake: () => deliveries.queue.wake(),
    async forgetBot(botId) {
      const id = `${BOT_PUSH_PREFIX}${botId}`;
      await endpoints.remove(id);
      await deliveries.removeEndpoint(id);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await events.stop();
      await deliveries.queue.stop();
    },
  };
}
