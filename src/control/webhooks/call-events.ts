import type { PostCallPush } from '../../contracts/crm.ts';
import { describeError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  afterCallVariables,
  type RecordFacts,
  renderPush,
  type SystemVariables,
} from '../calls/after-call.ts';
import { type Delivery, deliveryId, type EventType, newDelivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { BOT_PUSH_PREFIX, type Endpoint, type EndpointStore } from './endpoint-store.ts';
import { eventBody } from './event-body.ts';

/**
 * From a call record to the messages about it, without a gap: the transaction that writes the record also notes that
 * something happened, and the notes are worked off behind it. A process that dies in between finds them at its next
 * start, and a note that is worked off twice makes the same messages (see `deliveryId`).
 */
export interface CallEvents {
  /** For the store of the call records, inside the transaction that writes one. `before` is null for a new record. */
  afterWrite(writes: Transaction, before: RecordFacts | null, after: RecordFacts): void;
  /** Works off what is noted; several calls at once are one. Rejects never. */
  workOff(): Promise<void>;
  /** Waits for the work under way. */
  stop(): Promise<void>;
}

export interface CallEventParts {
  store: KeyValueStore;
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  call: (sessionId: string) => Promise<RecordFacts | null>;
  /** The push of the bot as calls get it now; null where the bot has none or is gone. */
  pushOf: (botId: string) => Promise<PostCallPush | null>;
  system: SystemVariables;
  logger: Logger;
  nowMs: () => number;
}

interface Note {
  session_id: string;
  bot_id: string;
  skip_post_push: boolean;
  type: EventType | typeof DELETED;
  at: string;
  /** Which call of the session it is about, where there were attempts before it. */
  reopened?: number | undefined;
}

/** Not an event that anyone is told: what waits or was logged about this call goes too. */
const DELETED = 'deleted';

/** Notes that are worked off between two turns of the event loop. */
const BATCH = 50;
/** With so many unsent messages no further ones are made; the notes wait, which costs some bytes each. */
export const MAX_PENDING_DELIVERIES = 100_000;
/** After a failure or at the bound the notes are looked at again after this. */
const LOOK_AGAIN_MS = 5_000;

export function createCallEvents(parts: CallEventParts): CallEvents {
  const notes: Table<Note> = parts.store.table('call-event-notes');
  let working: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const workOff = (): Promise<void> => {
    if (stopped) return working ?? Promise.resolve();
    again = true;
    working ??= run().finally(() => {
      working = null;
    });
    return working;
  };

  const run = async () => {
    clearTimeout(timer);
    while (again && !stopped) {
      again = false;
      try {
        while (!stopped && (await workOffBatch(parts, notes)));
      } catch (error) {
        parts.logger.error(
          { err: describeError(error) },
          'messages about calls cannot be queued; they are tried again',
        );
        timer = setTimeout(() => void workOff(), LOOK_AGAIN_MS).unref();
      }
    }
    if (!stopped && notes.count() > 0) timer = setTimeout(() => void workOff(), LOOK_AGAIN_MS).unref();
  };

  return {
    afterWrite(writes, before, after) {
      const deleted = after.deleted_at != null && before?.deleted_at == null;
      const type = deleted ? DELETED : eventOf(before, after);
      if (type === null || (type === 'call.started' && !isWanted(parts.endpoints, type, after))) return;
      const { session_id, bot_id, skip_post_push, reopened } = after;
      const at = new Date(parts.nowMs()).toISOString();
      // By time, so that a start is worked off before its end.
      writes.put(notes, [at, session_id, type], { session_id, bot_id, skip_post_push, type, at, reopened });
      // The commit is over by then; a note of a failed commit is not there.
      setImmediate(() => void workOff());
    },
    workOff,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };
}

/** A `lost` call has no results yet: its messages go out when they come, however late. */
function eventOf(before: RecordFacts | null, after: RecordFacts): EventType | null {
  if (before?.status === after.status) return null;
  if (after.status === 'active') return before === null ? 'call.started' : null;
  if (after.status === 'lost') return null;
  if (before !== null && before.status !== 'active' && before.status !== 'lost') return null;
  return after.status === 'not_connected' ? 'call.not_connected' : 'call.ended';
}

/** One batch; says whether there may be more. */
async function workOffBatch(parts: CallEventParts, notes: Table<Note>): Promise<boolean> {
  const batch = notes.range({ limit: BATCH });
  if (batch.length === 0) return false;
  if ((await parts.deliveries.pendingCount()) >= MAX_PENDING_DELIVERIES) {
    parts.logger.error({ pending: MAX_PENDING_DELIVERIES }, 'too many messages wait for their receivers');
    return false;
  }
  const messages: Delivery[] = [];
  for (const { value: note } of batch) {
    if (note.type === DELETED) await parts.deliveries.forgetCall(note.session_id);
    else messages.push(...(await messagesAbout(parts, note, note.type)));
  }
  // First the messages, then the notes: the other way round a death in between would lose them.
  if (messages.length > 0) await parts.deliveries.add(messages);
  await parts.store.transaction((writes) => {
    for (const { key } of batch) writes.remove(notes, key);
  });
  return batch.length === BATCH;
}

/** The record is read only where someone wants to know: most calls are nobody's message. */
async function messagesAbout(parts: CallEventParts, note: Note, type: EventType): Promise<Delivery[]> {
  const listeners = parts.endpoints.all().filter((endpoint) => listens(endpoint, type, note.bot_id));
  const push = type === 'call.started' || note.skip_post_push ? null : await parts.pushOf(note.bot_id);
  if (listeners.length === 0 && !push?.enabled) return [];
  const call = await parts.call(note.session_id);
  // Another call has the session meanwhile: what stands there is not what the note is about.
  if (!call || call.deleted_at != null || call.reopened !== note.reopened) return [];
  const nowMs = parts.nowMs();
  const body = listeners.length === 0 ? '' : eventBody(type, call, note.at);
  const messages = listeners.map((endpoint) =>
    newDelivery(
      {
        id: deliveryId(endpoint.id, type, nameOf(call)),
        endpoint_id: endpoint.id,
        type,
        session_id: call.session_id,
        body,
        after: type === 'call.started' ? null : deliveryId(endpoint.id, 'call.started', nameOf(call)),
      },
      nowMs,
    ),
  );
  if (push?.enabled) messages.push(pushMessage(parts, push, call, nowMs));
  return messages;
}

function pushMessage(parts: CallEventParts, push: PostCallPush, call: RecordFacts, nowMs: number): Delivery {
  const variables = afterCallVariables(call, parts.system, new Date(nowMs).toISOString());
  const endpointId = `${BOT_PUSH_PREFIX}${call.bot_id}`;
  return newDelivery(
    {
      id: deliveryId(endpointId, 'crm.push', nameOf(call)),
      endpoint_id: endpointId,
      type: 'crm.push',
      session_id: call.session_id,
      body: JSON.stringify(renderPush(push, call, variables).body),
    },
    nowMs,
  );
}

/** The session, and which call of it: what is told of an attempt must not pass for a repeat of it. */
function nameOf({ session_id: sessionId, reopened }: RecordFacts): string {
  return reopened === undefined ? sessionId : `${sessionId}#${reopened}`;
}

function isWanted(endpoints: EndpointStore, type: EventType, call: RecordFacts): boolean {
  return endpoints.all().some((endpoint) => listens(endpoint, type, call.bot_id));
}

function listens(endpoint: Endpoint, type: EventType, botId: string): boolean {
  return (
    endpoint.enabled &&
    endpoint.types.includes(type) &&
    (endpoint.bot_ids === null || endpoint.bot_ids.includes(botId))
  );
}
