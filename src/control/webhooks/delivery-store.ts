import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';
import type { AttemptLog, Delivery } from './delivery.ts';
import { MAX_WAIT_MS } from './retry-plan.ts';

/**
 * The durable queue of outbound messages and its log. Every promise resolves when what it says is on disk. Every
 * implementation passes `test/control/crm/delivery-store-conformance.ts`.
 */
export interface DeliveryStore {
  /** Adds each unless its id exists; how many were new. */
  add(deliveries: readonly Delivery[]): Promise<number>;
  get(id: string): Promise<Delivery | null>;
  /** Receivers with something pending. */
  busyEndpoints(): Promise<string[]>;
  /** Messages of one receiver that are due, the one that is longest so in front. */
  due(endpointId: string, nowMs: number, limit: number): Promise<Delivery[]>;
  /** When the next one of this receiver will be due that is not yet; null without any. */
  nextDueMs(endpointId: string, nowMs: number): Promise<number | null>;
  pendingCount(): Promise<number>;
  /** Notes what became of a message, with the attempt where one was made. A message that is gone stays gone. */
  settle(delivery: Delivery, attempt: AttemptLog | null): Promise<void>;
  /** Logs an attempt that belongs to no queued message. */
  log(endpointId: string, attempt: AttemptLog): Promise<void>;
  /** Newest first, at most {@link MAX_LOGGED_ATTEMPTS}. */
  attempts(endpointId: string): Promise<AttemptLog[]>;
  /** Messages of one receiver by the time they arose, newest first. */
  list(endpointId: string, query: DeliveryQuery): Promise<Delivery[]>;
  /** Makes finished messages pending again, from the first attempt; how many were. */
  replay(ids: readonly string[], nowMs: number): Promise<number>;
  /** Removes everything of one receiver. */
  removeEndpoint(endpointId: string): Promise<void>;
  /** Removes every message and log line of one call, sent or not; how many messages. */
  forgetCall(sessionId: string): Promise<number>;
  /** Removes finished messages that are too old or too many; how many. */
  prune(nowMs: number): Promise<number>;
}

export interface DeliveryQuery {
  limit: number;
  state?: Delivery['state'];
  /** ISO 8601 UTC, both included. */
  from?: string;
  to?: string;
}

export const MAX_LOGGED_ATTEMPTS = 50;
/** Finished messages can be replayed this long. */
const KEEP_FINISHED_DAYS = 30;
const MAX_FINISHED = 50_000;
/** Rows looked at or removed in one go, so that the event loop gets its turn. */
const BATCH = 500;
const DAY_MS = 86_400_000;

export function createDeliveryStore(store: KeyValueStore): DeliveryStore {
  return new LmdbDeliveries(store);
}

class LmdbDeliveries implements DeliveryStore {
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

  constructor(store: KeyValueStore) {
    this.store = store;
    this.rows = store.table('deliveries');
    this.dueKeys = store.table('deliveries-due');
    this.byEndpoint = store.table('deliveries-by-endpoint');
    this.finished = store.table('deliveries-finished');
    this.bySession = store.table('deliveries-by-session');
    this.attemptLogs = store.table('delivery-log');
  }

  add(deliveries: readonly Delivery[]): Promise<number> {
    return this.store.transaction((writes) => {
      let added = 0;
      for (const delivery of deliveries) {
        if (writes.get(this.rows, delivery.id)) continue;
        this.write(writes, undefined, delivery);
        added++;
      }
      return added;
    });
  }

  async get(id: string): Promise<Delivery | null> {
    return this.rows.get(id) ?? null;
  }

  async busyEndpoints(): Promise<string[]> {
    const found: string[] = [];
    let from: [string] | [string, number] | undefined;
    for (;;) {
      const [key] = this.dueKeys.keys({ limit: 1, ...(from ? { start: from } : {}) });
      if (!Array.isArray(key)) return found;
      const endpoint = String(key[0]);
      found.push(endpoint);
      from = [endpoint, Number.MAX_SAFE_INTEGER];
    }
  }

  async due(endpointId: string, nowMs: number, limit: number): Promise<Delivery[]> {
    const keys = this.dueKeys.keys({ limit, start: [endpointId], end: [endpointId, nowMs + 1] });
    // A clock that was set back must not keep a message waiting for longer than the longest plan.
    const tooFar = this.dueKeys.keys({
      limit: Math.max(1, limit - keys.length),
      start: [endpointId, nowMs + MAX_WAIT_MS + 1],
      end: [endpointId, Number.MAX_SAFE_INTEGER],
    });
    return this.load([...keys, ...tooFar].slice(0, limit), 2);
  }

  async nextDueMs(endpointId: string, nowMs: number): Promise<number | null> {
    const [key] = this.dueKeys.keys({
      limit: 1,
      start: [endpointId, nowMs + 1],
      end: [endpointId, Number.MAX_SAFE_INTEGER],
    });
    return Array.isArray(key) ? Number(key[1]) : null;
  }

  async pendingCount(): Promise<number> {
    return this.dueKeys.count();
  }

  settle(delivery: Delivery, attempt: AttemptLog | null): Promise<void> {
    return this.store.transaction((writes) => {
      const before = writes.get(this.rows, delivery.id);
      if (!before) return;
      this.write(writes, before, delivery);
      if (attempt) this.append(writes, delivery.endpoint_id, attempt);
    });
  }

  log(endpointId: string, attempt: AttemptLog): Promise<void> {
    return this.store.transaction((writes) => this.append(writes, endpointId, attempt));
  }

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

  replay(ids: readonly string[], nowMs: number): Promise<number> {
    return this.store.transaction((writes) => {
      let replayed = 0;
      for (const id of ids) {
        const row = writes.get(this.rows, id);
        if (!row || row.state === 'pending' || row.body === '') continue;
        this.write(writes, row, {
          ...row,
          state: 'pending',
          attempts: 0,
          next_attempt_ms: nowMs,
          finished_at: null,
        });
        replayed++;
      }
      return replayed;
    });
  }

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

  private write(writes: Transaction, before: Delivery | undefined, after: Delivery): void {
    if (before) this.unindex(writes, before);
    writes.put(this.rows, after.id, after);
    writes.put(this.byEndpoint, [after.endpoint_id, after.created_at, after.id], 1);
    if (after.session_id !== null) writes.put(this.bySession, [after.session_id, after.id], 1);
    if (after.state === 'pending') {
      writes.put(this.dueKeys, [after.endpoint_id, after.next_attempt_ms, after.id], 1);
    } else {
      writes.put(this.finished, [after.finished_at ?? after.created_at, after.id], 1);
    }
  }

  private unindex(writes: Transaction, row: Delivery): void {
    writes.remove(this.dueKeys, [row.endpoint_id, row.next_attempt_ms, row.id]);
    writes.remove(this.finished, [row.finished_at ?? row.created_at, row.id]);
  }

  private remove(rows: readonly Delivery[], lines: readonly StoreKey[] = []): Promise<void> {
    return this.store.transaction((writes) => {
      for (const key of lines) writes.remove(this.attemptLogs, key);
      for (const row of rows) {
        const now = writes.get(this.rows, row.id) ?? row;
        this.unindex(writes, now);
        writes.remove(this.byEndpoint, [row.endpoint_id, row.created_at, row.id]);
        if (row.session_id !== null) writes.remove(this.bySession, [row.session_id, row.id]);
        writes.remove(this.rows, row.id);
      }
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
