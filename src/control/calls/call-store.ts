import { createHash } from 'node:crypto';
import type { CallResults } from '../../contracts/call-results.ts';
import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';
import {
  type ActiveCall,
  type CallRecord,
  type CallSummary,
  completedRecord,
  newRecord,
  summaryOf,
} from './call-record.ts';

/**
 * The call records. Asynchronous like every business store; each promise resolves when what it says is durable. Every
 * implementation passes `test/control/call-store-conformance.ts`.
 */
export interface CallRecordStore {
  /** Adds the record unless the session has one; says whether it did. */
  insertActive(call: ActiveCall): Promise<boolean>;
  /**
   * Writes the results into the record of their session, once: a repeat changes nothing, whatever it carries. Results
   * of an unknown session are kept apart as orphans.
   */
  complete(results: CallResults, nowIso: string): Promise<Completion>;
  get(sessionId: string): Promise<CallRecord | null>;
  /** Newest first, by the time the config was served. */
  list(page: { limit: number; after?: ListPosition }): Promise<CallSummary[]>;
  /** Newest first. */
  listOrphans(limit: number): Promise<OrphanResults[]>;
}

export type Completion =
  | { outcome: 'completed'; record: CallRecord }
  /** `same` is false where the repeat carries another payload than the first. */
  | { outcome: 'duplicate'; same: boolean }
  | { outcome: 'orphan' };

/** Where a list goes on: behind this call. */
export interface ListPosition {
  created_at: string;
  session_id: string;
}

/** Results whose session this control plane never opened (control-plane.md 2.8, Result merge). */
export interface OrphanResults {
  session_id: string;
  received_at: string;
  /** Null where the payload was larger than what is kept of a stranger's mistake. */
  results: CallResults | null;
  bytes: number;
}

/** Orphans are kept this long, and at most this many; the oldest go first. */
const ORPHAN_DAYS = 7;
const MAX_ORPHANS = 500;
/** Of a larger orphan only the fact is kept, so that strangers cannot fill the disk: 32 MB at most in all. */
const MAX_ORPHAN_BYTES = 65_536;

const DAY_MS = 86_400_000;

export function createCallRecordStore(store: KeyValueStore): CallRecordStore {
  return new LmdbCallRecords(store);
}

class LmdbCallRecords implements CallRecordStore {
  readonly #store: KeyValueStore;
  readonly #records: Table<CallRecord>;
  /** `[created_at, session_id]` to the line that a list shows, so that listing reads no transcripts. */
  readonly #byTime: Table<CallSummary>;
  readonly #orphans: Table<OrphanResults>;
  /** Session to the key of its orphan. */
  readonly #orphanKeys: Table<[string, string]>;

  constructor(store: KeyValueStore) {
    this.#store = store;
    this.#records = store.table<CallRecord>('call-records');
    this.#byTime = store.table<CallSummary>('call-records-by-time');
    this.#orphans = store.table<OrphanResults>('orphan-results');
    this.#orphanKeys = store.table<[string, string]>('orphan-results-by-session');
  }

  insertActive(call: ActiveCall): Promise<boolean> {
    return this.#store.transaction((writes) => {
      if (writes.get(this.#records, call.session_id)) return false;
      this.#write(writes, newRecord(call));
      return true;
    });
  }

  complete(results: CallResults, nowIso: string): Promise<Completion> {
    const sha256 = digest(results);
    return this.#store.transaction((writes): Completion => {
      const record = writes.get(this.#records, results.session_id);
      if (!record) return this.#keepOrphan(writes, results, nowIso);
      if (record.status !== 'active') {
        return { outcome: 'duplicate', same: record.results_sha256 === sha256 };
      }
      const completed = completedRecord(record, results, sha256, nowIso);
      this.#write(writes, completed);
      return { outcome: 'completed', record: completed };
    });
  }

  async get(sessionId: string): Promise<CallRecord | null> {
    return this.#records.get(sessionId) ?? null;
  }

  async list(page: { limit: number; after?: ListPosition }): Promise<CallSummary[]> {
    const position = page.after
      ? { start: [page.after.created_at, page.after.session_id], exclusiveStart: true }
      : {};
    return this.#byTime.range({ limit: page.limit, reverse: true, ...position }).map((entry) => entry.value);
  }

  async listOrphans(limit: number): Promise<OrphanResults[]> {
    return this.#orphans.range({ limit, reverse: true }).map((entry) => entry.value);
  }

  #write(writes: Transaction, record: CallRecord): void {
    writes.put(this.#records, record.session_id, record);
    writes.put(this.#byTime, [record.created_at, record.session_id], summaryOf(record));
  }

  #keepOrphan(writes: Transaction, results: CallResults, nowIso: string): Completion {
    const earlier = writes.get(this.#orphanKeys, results.session_id);
    if (earlier) writes.remove(this.#orphans, earlier);
    else this.#pruneOrphans(writes, nowIso);
    const bytes = Buffer.byteLength(JSON.stringify(results));
    writes.put(this.#orphans, [nowIso, results.session_id], {
      session_id: results.session_id,
      received_at: nowIso,
      results: bytes <= MAX_ORPHAN_BYTES ? results : null,
      bytes,
    });
    writes.put(this.#orphanKeys, results.session_id, [nowIso, results.session_id]);
    return { outcome: 'orphan' };
  }

  #pruneOrphans(writes: Transaction, nowIso: string): void {
    const oldest = new Date(Date.parse(nowIso) - ORPHAN_DAYS * DAY_MS).toISOString();
    const tooOld = this.#orphans.keys({ limit: MAX_ORPHANS, end: [oldest] });
    const surplus = this.#orphans.count() - tooOld.length - MAX_ORPHANS + 1;
    const oneTooMany = surplus > 0 ? this.#orphans.keys({ limit: surplus, start: [oldest] }) : [];
    for (const key of [...tooOld, ...oneTooMany]) {
      writes.remove(this.#orphans, key);
      writes.remove(this.#orphanKeys, sessionOf(key));
    }
  }
}

function sessionOf(orphanKey: StoreKey): string {
  return Array.isArray(orphanKey) ? String(orphanKey[1]) : '';
}

/** Key order does not matter: a receiver in between may have parsed and written the payload again. */
function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
