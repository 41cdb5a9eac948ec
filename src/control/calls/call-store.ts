import type { CallResults } from '../../contracts/call-results.ts';
import type { AgentCall } from './agent-record.ts';
import type { ActiveCall, CallRecord, RefusedBy } from './call-record.ts';
import type { CallFilter, CallPage, CallQuery } from './call-search.ts';
import type { DeletionReceipt } from './erase-call.ts';

/**
 * The call records. Asynchronous like every business store; each promise resolves when what it says is durable. Every
 * implementation passes `test/control/call-store-conformance.ts`.
 */
export interface CallRecordStore {
  /** Adds the record unless the session has one; says whether it did. */
  insertActive(call: ActiveCall): Promise<boolean>;
  /**
   * Adds the ended record of a call that was turned away at the gate (D-20). An earlier one of the same session, also
   * turned away, stays under an id of its own; where the session has any other record, nothing is added.
   */
  insertRefused(call: ActiveCall, by: RefusedBy): Promise<boolean>;
  /**
   * Gives the session of an attempt that came to nothing to this call; the attempt's record stays under an id of its
   * own. `version` is that of the record that was judged so: false where another one stands there meanwhile, or none.
   */
  reopen(call: ActiveCall, version: number): Promise<boolean>;
  /**
   * Writes the results into the record of their session, once: a repeat changes nothing, whatever it carries. With
   * `matchStream` results of an unknown session go to the socket call that is open under their `stream_id`. What
   * belongs to no call is kept apart as an orphan.
   */
  complete(results: CallResults, nowIso: string, options?: CompleteOptions): Promise<Completion>;
  /**
   * Writes the record of a call at the agent desk, one per `parent_call_id`; a repeat adds what has become known and
   * blanks nothing.
   */
  upsertAgentCall(call: AgentCall, nowIso: string): Promise<{ created: boolean; record: CallRecord }>;
  get(sessionId: string): Promise<CallRecord | null>;
  /** The record as one line of JSON, for those who only pass it on: reading millions of words is left to them. */
  getJson(sessionId: string): Promise<string | null>;
  /** By the time the config was served, newest first unless the query says otherwise. */
  list(query: CallQuery): Promise<CallPage>;
  /** How many calls fit; `capped` where there are at least so many. */
  count(filter: CallFilter): Promise<{ total: number; capped: boolean }>;
  /**
   * Changes what people may change. `expected` is checked against the record within the same commit and may throw.
   * Null where there is no such record.
   */
  edit(
    sessionId: string,
    change: CallEdit,
    nowIso: string,
    expected: (record: CallRecord) => void,
  ): Promise<{ before: CallRecord; after: CallRecord } | null>;
  /** Adds to the integration log, the last 50 entries stay. An unknown session is passed over. */
  appendIntegration(sessionId: string, entry: Record<string, unknown>, nowIso: string): Promise<void>;
  /**
   * Takes everything personal out of an ended call, for good, and keeps the receipt. A repeat returns the first receipt.
   * Throws `conflict` while the call is active; null where there is no such record.
   */
  erase(sessionId: string, receipt: DeletionReceipt): Promise<DeletionReceipt | null>;
  receipt(sessionId: string): Promise<DeletionReceipt | null>;
  /** Whether the deadline of any call has passed. */
  hasOverdue(nowIso: string): Promise<boolean>;
  /** Gives up calls whose deadline has passed, oldest first, unless they live; returns them. */
  markLost(nowIso: string, limit: number, isLive: (sessionId: string) => boolean): Promise<CallRecord[]>;
  /** Whether another call than this one names the recording. */
  isRecordingShared(recordingKey: string, sessionId: string): Promise<boolean>;
  /** Newest first. */
  listOrphans(limit: number): Promise<OrphanResults[]>;
}

export interface CompleteOptions {
  matchStream?: boolean;
  /** What the bot's rules make of the results; what a person has set stays, what the analysis says comes behind it. */
  autoDisposition?: string | null;
}

export type Completion =
  | { outcome: 'completed'; record: CallRecord }
  /** `same` is false where the repeat carries another payload than the first. */
  | { outcome: 'duplicate'; same: boolean; deleted: boolean }
  | { outcome: 'orphan' };

/** What people may change in a record; absent fields stay. */
export interface CallEdit {
  tags?: string[];
  disposition?: string | null;
}

/** Results whose session this control plane never opened (D-47). */
export interface OrphanResults {
  session_id: string;
  received_at: string;
  /** Null where the payload was larger than what is kept of a stranger's mistake. */
  results: CallResults | null;
  bytes: number;
}
