import { DeliveryQueue, type QueueClock } from '../../platform/delivery-queue.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import { ENDLESS_RETRIES, type PostTerms, postJson } from './post-json.ts';

/** Of all deliveries under way, those to one receiver. */
export const MAX_PER_RECEIVER = 4;
/** Only the status of the answer counts; a longer text is cut off. */
const MAX_ANSWER_BYTES = 65_536;

/** One result on its way to a receiver. The payload lies apart, so that noting an attempt does not rewrite it. */
export interface OutboxRow {
  callId: string;
  sessionId: string;
  webhookUrl: string;
  createdAtMs: number;
  attempts: number;
  /** Wall-clock ms of the next attempt. */
  nextAttemptAtMs: number;
  lastError: string | null;
}

export interface ResultsOutboxOptions extends PostTerms {
  store: KeyValueStore;
  logger: Logger;
  clock?: QueueClock;
}

/**
 * The durable results outbox (R3): a row per call, kept until a receiver has acknowledged it.
 * Nothing is ever dropped (D-46).
 */
export class ResultsOutbox {
  readonly queue: DeliveryQueue<OutboxRow, string>;
  private readonly bodies: Table<string>;

  constructor(options: ResultsOutboxOptions) {
    const { store, logger, clock } = options;
    const bodies = store.table<string>('results-outbox-bodies');
    this.bodies = bodies;
    this.queue = new DeliveryQueue({
      name: 'result',
      table: 'results-outbox',
      keyOf: (row) => row.callId,
      routeOf: ({ callId, webhookUrl }) => ({ lane: callId, position: 0, receiver: originOf(webhookUrl) }),
      factsOf: ({ callId, sessionId }) => ({ call_id: callId, session_id: sessionId }),
      bounds: { inFlight: 16, perReceiver: MAX_PER_RECEIVER },
      retry: ENDLESS_RETRIES,
      attempt({ callId, webhookUrl: url }, signal) {
        const body = bodies.get(callId) ?? '';
        return postJson({ to: 'receiver', url, body, maxAnswerBytes: MAX_ANSWER_BYTES }, options, signal);
      },
      written(writes, before, after) {
        if (before && after === null) writes.remove(bodies, before.callId);
      },
      store,
      logger,
      clock,
    });
  }

  /**
   * Adds the row unless the call has one already; resolves with the row that stands once it is on disk. It is delivered
   * only after it was offered to the queue, when its spool folder is gone.
   */
  add(row: OutboxRow, body: string): Promise<{ row: OutboxRow; added: boolean }> {
    return this.queue.transaction(({ writes, get, put }) => {
      const standing = get(row.callId);
      if (standing) return { row: standing, added: false };
      put(row, { isPaused: true });
      writes.put(this.bodies, row.callId, body);
      return { row, added: true };
    });
  }
}

/** Receivers are told apart by origin. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
