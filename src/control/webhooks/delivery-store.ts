import type { RetryPolicy } from '../../platform/delivery-queue/retry-policy.ts';
import { type DeliveryProgress, DeliveryQueue, type DeliveryUse } from '../../platform/delivery-queue.ts';
import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';
import type { AttemptLog, Delivery } from './delivery.ts';

export interface DeliveryQuery {
  limit: number;
  state?: Delivery['state'];
  /** ISO 8601 UTC, both included. */
  from?: string;
  to?: string;
}

/** What an attempt leaves beside its outcome. */
export interface SentDelivery {
  /** Null where no request was made. */
  log: AttemptLog | null;
  /** The receiver could at least be put together, or failed to be: it counts as an attempt. */
  isAttempt: boolean;
  url: string;
}

export const MAX_LOGGED_ATTEMPTS = 50;
/** Finished messages can be replayed this long. */
const KEEP_FINISHED_DAYS = 30;
const MAX_FINISHED = 50_000;
/** Rows looked at or removed in one go, so that the event loop gets its turn. */
const BATCH = 500;
const DAY_MS = 86_400_000;

/**
 * When a message is tried again (D-51): after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. The first
 * attempt is made at once, the tenth is the last.
 */
export const MESSAGE_RETRIES: RetryPolicy = {
  quickWaitsMs: [],
  stepsMs: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1_000),
  givesUp: true,
  jitter: [0.8, 1.2],
  longestWaitMs: 1.2 * DAY_MS,
};

/** How a message is sent. */
export type DeliverySending = Pick<
  DeliveryUse<Delivery, SentDelivery>,
  'attempt' | 'afterwards' | 'logger' | 'clock'
>;

/**
 * WebhookService messages: the queue of those that wait, the finished ones that can be replayed, and a log of attempts. Every
 * promise resolves when what it says is on disk.
 */
export class DeliveryStore {
  readonly queue: DeliveryQueue<Delivery, SentDelivery>;
  private readonly store: KeyValueStore;
  private readonly rows: Table<Delivery>;
  /** `[endpoint, next attempt, id]`. */
  private readonly dueKeys: Table<1>;
  /** `[endpoint, created, id]`. */
  private readonly byEndpoint: Table<1>;
  /** `[finished, id]`. */
  private readonly finished: Table<1>;
  /** `[session, id]`. */
  private readonly bySession: Table<1>;
  /** `[endpoint, number]`, the number rising. */
  private readonly attemptLogs: Table<AttemptLog>;

  constructor(store: KeyValueStore, sending: DeliverySending) {
    this.store = store;
    this.dueKeys = store.table('deliveries-due');
    this.byEndpoint = store.table('deliveries-by-endpoint');
    this.finished = store.table('deliveries-finished');
    this.bySession = store.table('deliveries-by-session');
    this.attemptLogs = store.table('delivery-log');
    this.queue = new DeliveryQueue({
      name: 'message',
      table: 'deliveries',
      waiting: 'deliveries-due',
      keyOf: (row) => row.id,
      // A receiver hears of the end of a call only after its start.
      routeOf: ({ endpoint_id, session_id, id, after }) => ({
        lane: `${endpoint_id} ${session_id ?? id}`,
        position: after === null ? 0 : 1,
        receiver: endpoint_id,
      }),
      factsOf: ({ id, endpoint_id, type, session_id }) => ({
        delivery_id: id,
        endpoint_id,
        type,
        session_id,
      }),
      progress: {
        read: (row) => (row.state === 'pending' ? progressOf(row) : null),
        write: (_writes, row, { attempts, nextAttemptAtMs, lastError }) => ({
          ...row,
          attempts,
          next_attempt_ms: nextAttemptAtMs,
          last_error: lastError,
        }),
      },
      bounds: { inFlight: 32, perReceiver: 2 },
      retry: MESSAGE_RETRIES,
      settled: (writes, row, { kind, detail, ...said }) => {
        if (detail.log) this.append(writes, row.endpoint_id, detail.log);
        const tried = {
          ...row,
          attempts_total: row.attempts_total + (detail.isAttempt ? 1 : 0),
          last_status: detail.isAttempt ? (detail.log?.response?.status ?? null) : row.last_status,
          last_error: 'error' in said ? said.error : null,
        };
        if (kind === 'failed') return tried;
        const finished_at = new Date(sending.clock?.nowMs() ?? Date.now()).toISOString();
        return { ...tried, state: kind === 'delivered' ? 'delivered' : 'dead', finished_at };
      },
      written: (writes, before, after) => this.index(writes, before, after),
      ...sending,
      store,
    });
    this.rows = this.queue.rows;
  }

  /** Adds each unless its id exists; how many were new. */
  add(deliveries: readonly Delivery[]): Promise<number> {
    return this.queue.transaction(({ get, put }) => {
      const fresh = deliveries.filter(({ id }) => get(id) === undefined);
      for (const delivery of fresh) put(delivery);
      return fresh.length;
    });
  }

  async get(id: string): Promise<Delivery | null> {
    return this.rows.get(id) ?? null;
  }

  async pendingCount(): Promise<number> {
    return this.dueKeys.count();
  }

  /** Logs an attempt that belongs to no queued message. */
  log(endpointId: string, attempt: AttemptLog): Promise<void> {
    return this.store.transaction((writes) => this.append(writes, endpointId, attempt));
  }

  /** Newest first, at most {@link MAX_LOGGED_ATTEMPTS}. */
  async attempts(endpointId: string): Promise<AttemptLog[]> {
    return this.attemptLogs
      .range({
        limit: MAX_LOGGED_ATTEMPTS,
        start: [endpointId, Number.MAX_SAFE_INTEGER],
        end: [endpointId],
        reverse: true,
      })
      .map((entry) => entry.value);
  }

  /** Messages of one receiver by the time they arose, newest first. */
  async list(endpointId: string, query: DeliveryQuery): Promise<Delivery[]> {
    const found: Delivery[] = [];
    // "~" sorts behind every date and every id.
    let start: string[] = [endpointId, query.to ?? '~', '~'];
    for (;;) {
      const keys = this.byEndpoint.keys({
        limit: BATCH,
        start,
        exclusiveStart: true,
        end: [endpointId, query.from ?? ''],
        reverse: true,
      });
      for (const row of this.load(keys, 2)) {
        if (query.state !== undefined && row.state !== query.state) continue;
        found.push(row);
        if (found.length >= query.limit) return found;
      }
      const last = keys.at(-1);
      if (keys.length < BATCH || !Array.isArray(last)) return found;
      start = last.map(String);
    }
  }

  /** Makes finished messages pending again, from the first attempt; how many were. */
  replay(ids: readonly string[], nowMs: number): Promise<number> {
    return this.queue.transaction(({ get, put }) => {
      let replayed = 0;
      for (const id of ids) {
        const row = get(id);
        if (!row || row.state === 'pending' || row.body === '') continue;
        put({ ...row, state: 'pending', attempts: 0, next_attempt_ms: nowMs, finished_at: null });
        replayed++;
      }
      return replayed;
    });
  }

  /** Removes everything of one receiver. */
  async removeEndpoint(endpointId: string): Promise<void> {
    for (;;) {
      const rows = await this.list(endpointId, { limit: BATCH });
      if (rows.length === 0) break;
      await this.remove(rows);
    }
    await this.remove(
      [],
      this.attemptLogs.keys({ limit: BATCH, start: [endpointId], end: logEnd(endpointId) }),
    );
  }

  /** Removes every message and log line of one call, sent or not; how many messages. */
  async forgetCall(sessionId: string): Promise<number> {
    const rows = this.load(
      this.bySession.keys({ limit: BATCH, start: [sessionId], end: [sessionId, '~'] }),
      1,
    );
    const endpoints = [...new Set(rows.map((row) => row.endpoint_id))];
    const lines = endpoints
      .flatMap((id) => this.attemptLogs.range({ limit: BATCH, start: [id], end: logEnd(id) }))
      .filter(({ value }) => value.session_id === sessionId);
    await this.remove(
      rows,
      lines.map((line) => line.key),
    );
    return rows.length;
  }

  /** Removes finished messages that are too old or too many; how many. */
  async prune(nowMs: number): Promise<number> {
    const oldest = new Date(nowMs - KEEP_FINISHED_DAYS * DAY_MS).toISOString();
    const tooOld = this.finished.keys({ limit: BATCH, end: [oldest] });
    const surplus = Math.min(BATCH, this.finished.count() - tooOld.length - MAX_FINISHED);
    const tooMany = surplus > 0 ? this.finished.keys({ limit: surplus, start: [oldest] }) : [];
    const rows = this.load([...tooOld, ...tooMany], 1);
    await this.remove(rows);
    return rows.length;
  }

  private load(keys: readonly unknown[], idPart: number): Delivery[] {
    const rows: Delivery[] = [];
    for (const key of keys) {
      const row = this.rows.get(String((key as unknown[])[idPart]));
      if (row) rows.push(row);
    }
    return rows;
  }

  private index(writes: Transaction, before: Delivery | undefined, after: Delivery | null): void {
    if (before) {
      writes.remove(this.dueKeys, [before.endpoint_id, before.next_attempt_ms, before.id]);
      writes.remove(this.finished, [before.finished_at ?? before.created_at, before.id]);
    }
    const row = after ?? before;
    if (!row) return;
    const made = [row.endpoint_id, row.created_at, row.id];
    if (after) writes.put(this.byEndpoint, made, 1);
    else writes.remove(this.byEndpoint, made);
    const ofCall = [row.session_id ?? '', row.id];
    if (row.session_id !== null && after) writes.put(this.bySession, ofCall, 1);
    else writes.remove(this.bySession, ofCall);
    if (after?.state === 'pending')
      writes.put(this.dueKeys, [row.endpoint_id, row.next_attempt_ms, row.id], 1);
    else if (after) writes.put(this.finished, [row.finished_at ?? row.created_at, row.id], 1);
  }

  private remove(rows: readonly Delivery[], lines: readonly StoreKey[] = []): Promise<void> {
    return this.queue.transaction(({ writes, remove }) => {
      for (const key of lines) writes.remove(this.attemptLogs, key);
      for (const { id } of rows) remove(id);
    });
  }

  private append(writes: Transaction, endpointId: string, attempt: AttemptLog): void {
    const keys = this.attemptLogs.keys({
      limit: MAX_LOGGED_ATTEMPTS * 2,
      start: logEnd(endpointId),
      end: [endpointId],
      reverse: true,
    });
    const newest = keys[0];
    // Ranges do not see what this commit wrote before, so a number that is taken moves on.
    let number = Array.isArray(newest) ? Number(newest[1]) + 1 : 1;
    while (writes.get(this.attemptLogs, [endpointId, number])) number++;
    writes.put(this.attemptLogs, [endpointId, number], attempt);
    for (const key of keys.slice(MAX_LOGGED_ATTEMPTS - 1)) writes.remove(this.attemptLogs, key);
  }
}

function logEnd(endpointId: string): [string, number] {
  return [endpointId, Number.MAX_SAFE_INTEGER];
}

function progressOf(row: Delivery): DeliveryProgress {
  return {
    createdAtMs: Date.parse(row.created_at),
    attempts: row.attempts,
    nextAttemptAtMs: row.next_attempt_ms,
    lastError: row.last_error,
  };
}
