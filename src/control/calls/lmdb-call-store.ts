import { createHash, randomUUID } from 'node:crypto';
import type { CallResults } from '../../contracts/call-results.ts';
import { AppError } from '../../platform/app-error.ts';
import { canonicalJson } from '../../platform/canonical-json.ts';
import type { KeyValueStore, StoreKey, Transaction } from '../../platform/key-value-store.ts';
import { type AgentCall, agentRecord, agentSessionId } from './agent-record.ts';
import {
  type ActiveCall,
  type CallRecord,
  completedRecord,
  isWithoutResults,
  newRecord,
  type RefusedBy,
  refusedRecord,
  reopenedRecord,
  rowOf,
} from './call-record.ts';
import { type CallFilter, type CallPage, type CallQuery, countCalls, searchCalls } from './call-search.ts';
import type { CallEdit, CallRecordStore, CompleteOptions, Completion, OrphanResults } from './call-store.ts';
import {
  type CallTables,
  deadlineOf,
  forgetStream,
  LOST_GRACE_MS,
  laterIso,
  openCallTables,
  setRecordAside,
  streamKey,
  unlistRecord,
  writeRecord,
} from './call-tables.ts';
import { type DeletionReceipt, erasedRecord } from './erase-call.ts';
import { OrphanShelf } from './orphan-results.ts';

export interface CallStoreOptions {
  /**
   * Called within the commit that writes a record, so that what follows from it (a webhook, a push) is as durable as the
   * record itself. Must not throw. A deletion shows in `after.deleted_at`.
   */
  afterWrite?: (writes: Transaction, before: CallRecord | null, after: CallRecord) => void;
}

export function createCallRecordStore(store: KeyValueStore, options: CallStoreOptions = {}): CallRecordStore {
  return new LmdbCallRecords(store, options);
}

/** Entries of the integration log of one record; the oldest go first. */
const MAX_INTEGRATION_ENTRIES = 50;

class LmdbCallRecords implements CallRecordStore {
  private readonly store: KeyValueStore;
  private readonly tables: CallTables;
  private readonly orphans: OrphanShelf;
  private readonly afterWrite: CallStoreOptions['afterWrite'];

  constructor(store: KeyValueStore, options: CallStoreOptions) {
    this.store = store;
    this.afterWrite = options.afterWrite;
    this.tables = openCallTables(store);
    this.orphans = new OrphanShelf(store);
  }

  insertActive(call: ActiveCall): Promise<boolean> {
    return this.insert(newRecord(call));
  }

  insertRefused(call: ActiveCall, by: RefusedBy): Promise<boolean> {
    return this.store.transaction((writes) => {
      const earlier = writes.get(this.tables.records, call.session_id);
      if (!earlier) {
        this.write(writes, null, refusedRecord(call, by));
        return true;
      }
      if (earlier.status !== 'not_connected' || !isWithoutResults(earlier)) return false;
      this.takeOver(writes, earlier, refusedRecord(call, by));
      return true;
    });
  }

  reopen(call: ActiveCall, version: number): Promise<boolean> {
    return this.store.transaction((writes) => {
      const earlier = writes.get(this.tables.records, call.session_id);
      if (earlier?.version !== version || !isWithoutResults(earlier)) return false;
      this.takeOver(writes, earlier, newRecord(call));
      return true;
    });
  }

  complete(results: CallResults, nowIso: string, options: CompleteOptions = {}): Promise<Completion> {
    const sha256 = digest(results);
    return this.store.transaction((writes): Completion => {
      const record = this.recordFor(writes, results, options.matchStream === true);
      if (!record) {
        this.orphans.keep(writes, results, nowIso);
        return { outcome: 'orphan' };
      }
      const open = record.status === 'active' || record.status === 'lost';
      if (!open || record.deleted_at !== null) {
        return {
          outcome: 'duplicate',
          same: record.results_sha256 === sha256,
          deleted: record.deleted_at !== null,
        };
      }
      const { autoDisposition = null } = options;
      const completed = completedRecord(record, results, { sha256, nowIso, autoDisposition });
      this.write(writes, record, completed);
      forgetStream(writes, this.tables, record);
      if (record.session_id !== results.session_id) {
        writes.put(this.tables.aliases, results.session_id, record.session_id);
      }
      return { outcome: 'completed', record: completed };
    });
  }

  upsertAgentCall(call: AgentCall, nowIso: string): Promise<{ created: boolean; record: CallRecord }> {
    return this.store.transaction((writes) => {
      const standing = writes.get(this.tables.records, agentSessionId(call.parent_call_id));
      if (standing && standing.deleted_at !== null) return { created: false, record: standing };
      const record = agentRecord(standing, call, nowIso);
      this.write(writes, standing ?? null, record);
      return { created: standing === undefined, record };
    });
  }

  async get(sessionId: string): Promise<CallRecord | null> {
    return this.tables.records.get(sessionId) ?? null;
  }

  async getJson(sessionId: string): Promise<string | null> {
    return this.tables.records.text(sessionId) ?? null;
  }

  list(query: CallQuery): Promise<CallPage> {
    return searchCalls(this.tables, query);
  }

  count(filter: CallFilter): Promise<{ total: number; capped: boolean }> {
    return countCalls(this.tables, filter);
  }

  edit(
    sessionId: string,
    change: CallEdit,
    nowIso: string,
    expected: (record: CallRecord) => void,
  ): Promise<{ before: CallRecord; after: CallRecord } | null> {
    return this.store.transaction((writes) => {
      const before = writes.get(this.tables.records, sessionId);
      if (!before) return null;
      expected(before);
      if (before.deleted_at !== null) throw new AppError('conflict', 'this call was deleted');
      const after: CallRecord = { ...before, ...change, updated_at: nowIso, version: before.version + 1 };
      this.write(writes, before, after);
      return { before, after };
    });
  }

  erase(sessionId: string, receipt: DeletionReceipt): Promise<DeletionReceipt | null> {
    return this.store.transaction((writes) => {
      const earlier = writes.get(this.tables.receipts, sessionId);
      if (earlier) return earlier;
      const record = writes.get(this.tables.records, sessionId);
      if (!record) return null;
      if (record.status === 'active') {
        throw new AppError('conflict', 'this call is still active; delete its record once it has ended');
      }
      unlistRecord(writes, this.tables, record);
      const erased = erasedRecord(record, receipt.deleted_at);
      writes.put(this.tables.records, sessionId, erased);
      writes.put(this.tables.receipts, sessionId, receipt);
      this.afterWrite?.(writes, record, erased);
      return receipt;
    });
  }

  async appendIntegration(sessionId: string, entry: Record<string, unknown>, nowIso: string): Promise<void> {
    await this.store.transaction((writes) => {
      const record = writes.get(this.tables.records, sessionId);
      if (!record || record.deleted_at !== null) return;
      const integration_log = [...record.integration_log, entry].slice(-MAX_INTEGRATION_ENTRIES);
      const version = record.version + 1;
      const after: CallRecord = { ...record, integration_log, updated_at: nowIso, version };
      writes.put(this.tables.records, sessionId, after);
      writes.put(this.tables.byTime, [after.created_at, after.session_id], rowOf(after));
    });
  }

  async receipt(sessionId: string): Promise<DeletionReceipt | null> {
    return this.tables.receipts.get(sessionId) ?? null;
  }

  async hasOverdue(nowIso: string): Promise<boolean> {
    return this.tables.deadlines.keys({ limit: 1, end: [nowIso] }).length > 0;
  }

  async markLost(
    nowIso: string,
    limit: number,
    isLive: (sessionId: string) => boolean,
  ): Promise<CallRecord[]> {
    const due = this.tables.deadlines.keys({ limit, end: [nowIso] });
    if (due.length === 0) return [];
    return this.store.transaction((writes) => {
      const lost: CallRecord[] = [];
      for (const key of due) {
        writes.remove(this.tables.deadlines, key);
        const record = writes.get(this.tables.records, sessionOf(key));
        if (record?.status !== 'active') continue;
        // A deadline that was put off for an earlier call of this session says nothing of the present one.
        if (deadlineOf(record)[0] > nowIso) continue;
        if (isLive(record.session_id)) {
          writes.put(this.tables.deadlines, [laterIso(nowIso, LOST_GRACE_MS), record.session_id], 0);
          continue;
        }
        const given: CallRecord = {
          ...record,
          status: 'lost',
          updated_at: nowIso,
          version: record.version + 1,
        };
        this.write(writes, record, given);
        lost.push(given);
      }
      return lost;
    });
  }

  async isRecordingShared(recordingKey: string, sessionId: string): Promise<boolean> {
    const { rows } = await this.list({ limit: 2, anyOf: { recording_key: [recordingKey] } });
    return rows.some((row) => row.session_id !== sessionId);
  }

  async listOrphans(limit: number): Promise<OrphanResults[]> {
    return this.orphans.list(limit);
  }

  private insert(record: CallRecord): Promise<boolean> {
    return this.store.transaction((writes) => {
      if (writes.get(this.tables.records, record.session_id)) return false;
      this.write(writes, null, record);
      return true;
    });
  }

  /**
   * The call that the results belong to. Only socket calls are matched by stream (D-49), only while they wait
   * for results, and only for a bot that fits, since diallers may use a stream id again.
   */
  private recordFor(writes: Transaction, results: CallResults, matchStream: boolean): CallRecord | undefined {
    const own = writes.get(this.tables.records, results.session_id);
    if (own) return own;
    const alias = writes.get(this.tables.aliases, results.session_id);
    if (alias) return writes.get(this.tables.records, alias);
    if (!matchStream || results.stream_id === '') return undefined;
    const session = writes.get(this.tables.byStream, streamKey(results.stream_id));
    const record = session === undefined ? undefined : writes.get(this.tables.records, session);
    const waits = record?.status === 'active' || record?.status === 'lost';
    const socket = [null, 'websocket', 'partner'].includes(record?.transport ?? null);
    const botFits = results.bot_id === undefined || results.bot_id === record?.bot_id;
    return waits && socket && botFits && record?.stream_id === results.stream_id ? record : undefined;
  }

  private takeOver(writes: Transaction, earlier: CallRecord, next: CallRecord): void {
    setRecordAside(writes, this.tables, earlier, randomUUID());
    this.write(writes, null, reopenedRecord(next, earlier));
  }

  private write(writes: Transaction, before: CallRecord | null, after: CallRecord): void {
    writeRecord(writes, this.tables, before, after);
    this.afterWrite?.(writes, before, after);
  }
}

function sessionOf(key: StoreKey): string {
  return Array.isArray(key) ? String(key[1]) : '';
}

/** Key order does not matter: a receiver in between may have parsed and written the payload again. */
function digest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
