import { createHash } from 'node:crypto';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import { type CallRecord, type CallRow, rowOf, setAsideRecord } from './call-record.ts';
import type { DeletionReceipt } from './erase-call.ts';

/** The tables of the call records. Whatever a record can be found by is written in the same commit as the record. */
export interface CallTables {
  records: Table<CallRecord>;
  /** `[created_at, session_id]` to the line that a list shows, so that listing reads no transcripts. */
  byTime: Table<CallRow>;
  /** `[term, created_at, session_id]`, see {@link termsOf}. */
  byTerm: Table<0>;
  /** Hash of the stream to the last session that was opened under it and waits for results. */
  byStream: Table<string>;
  /** A foreign orchestrator's session to the one whose record took its results. */
  aliases: Table<string>;
  /** `[lost at, session_id]` of every active call. */
  deadlines: Table<0>;
  receipts: Table<DeletionReceipt>;
}

/** A call without results is given up so long after its maximum duration (D-48). */
export const LOST_GRACE_MS = 600_000;

export function openCallTables(store: KeyValueStore): CallTables {
  return {
    records: store.table<CallRecord>('call-records'),
    byTime: store.table<CallRow>('call-records-by-time'),
    byTerm: store.table<0>('call-records-by-term'),
    byStream: store.table<string>('call-records-by-stream'),
    aliases: store.table<string>('call-session-aliases'),
    deadlines: store.table<0>('call-deadlines'),
    receipts: store.table<DeletionReceipt>('call-deletion-receipts'),
  };
}

/** Writes the record and brings its line, its terms and its deadline up to date. `before` is null for a new one. */
export function writeRecord(
  writes: Transaction,
  tables: CallTables,
  before: CallRecord | null,
  after: CallRecord,
): void {
  const row = rowOf(after);
  writes.put(tables.records, after.session_id, after);
  writes.put(tables.byTime, [after.created_at, after.session_id], row);
  const terms = new Set(termsOf(row));
  for (const term of before ? termsOf(rowOf(before)) : []) {
    if (!terms.delete(term)) writes.remove(tables.byTerm, [term, after.created_at, after.session_id]);
  }
  for (const term of terms) writes.put(tables.byTerm, [term, after.created_at, after.session_id], 0);
  if (before?.status === 'active' && after.status !== 'active') {
    writes.remove(tables.deadlines, deadlineOf(before));
  }
  if (before === null && after.status === 'active') {
    writes.put(tables.deadlines, deadlineOf(after), 0);
    if (after.stream_id !== '') writes.put(tables.byStream, streamKey(after.stream_id), after.session_id);
  }
}

/** Takes the record out of everything that it can be found by, except its session. */
export function unlistRecord(writes: Transaction, tables: CallTables, record: CallRecord): void {
  writes.remove(tables.byTime, [record.created_at, record.session_id]);
  for (const term of termsOf(rowOf(record))) {
    writes.remove(tables.byTerm, [term, record.created_at, record.session_id]);
  }
  forgetStream(writes, tables, record);
}

/**
 * Writes the record of an attempt under an id of its own, so that another call can have its session. The record under the
 * session itself is the caller's to replace in the same commit.
 */
export function setRecordAside(
  writes: Transaction,
  tables: CallTables,
  earlier: CallRecord,
  id: string,
): void {
  unlistRecord(writes, tables, earlier);
  if (earlier.status === 'active') writes.remove(tables.deadlines, deadlineOf(earlier));
  writeRecord(writes, tables, null, setAsideRecord(earlier, id));
}

/** The stream of a call that has its results may be used for the next one. */
export function forgetStream(writes: Transaction, tables: CallTables, record: CallRecord): void {
  if (record.stream_id === '') return;
  const key = streamKey(record.stream_id);
  if (writes.get(tables.byStream, key) === record.session_id) writes.remove(tables.byStream, key);
}

/** Stream ids come from diallers in any length. */
export function streamKey(streamId: string): string {
  return createHash('sha256').update(streamId).digest('hex').slice(0, 32);
}

export function laterIso(iso: string, ms: number): string {
  return new Date(Date.parse(iso) + ms).toISOString();
}

/** When an active call is given up, as the key of its row. */
export function deadlineOf(record: CallRecord): [string, string] {
  const afterMs = record.max_call_duration_seconds * 1_000 + LOST_GRACE_MS;
  return [laterIso(record.created_at, afterMs), record.session_id];
}

/**
 * What a call can be found by. A term is one text, `b:demo` for the bot `demo`; the index holds
 * `[term, created_at, session_id]`, so that each term is a list of calls in the order of time.
 */
export type TermField = keyof typeof PREFIXES;

const PREFIXES = {
  bot_id: 'b',
  status: 's',
  disconnected_by: 'd',
  disposition: 'p',
  call_direction: 'i',
  caller_id: 'c',
  tag: 't',
  campaign_id: 'm',
  agent_id: 'a',
  duration: 'l',
  recording_key: 'r',
} as const;

/** All terms of a call. */
function termsOf(row: CallRow): string[] {
  const terms = [
    termOf('bot_id', row.bot_id),
    termOf('status', row.status),
    termOf('call_direction', row.call_direction),
    ...row.tags.map((tag) => termOf('tag', tag)),
  ];
  const optional: [TermField, string | null | undefined][] = [
    ['caller_id', row.caller_id],
    ['disconnected_by', row.disconnected_by],
    ['disposition', row.disposition],
    ['campaign_id', row.campaign_id],
    ['agent_id', row.agent?.id],
    ['recording_key', row.recording_key],
  ];
  for (const [field, value] of optional) if (value) terms.push(termOf(field, value));
  if (row.call_duration_seconds !== null) terms.push(durationTerm(bucketOf(row.call_duration_seconds)));
  return terms;
}

/**
 * The term of a value. Texts that are long or not plain come in as their hash: keys are bounded, and the row is compared
 * with the value itself anyway.
 */
export function termOf(field: TermField, value: string): string {
  const plain = value.length <= MAX_PLAIN_CHARS && /^[\x20-\x7d]*$/.test(value);
  return `${PREFIXES[field]}:${plain ? value : `#${createHash('sha256').update(value).digest('hex')}`}`;
}

/** The terms of every length of call that may lie in the range, in seconds, both ends included. */
export function durationTerms(min: number, max: number): string[] {
  const terms: string[] = [];
  for (let bucket = bucketOf(min); bucket <= bucketOf(max); bucket++) terms.push(durationTerm(bucket));
  return terms;
}

const MAX_PLAIN_CHARS = 80;

/** Lower ends of the lengths that share a term, in seconds: narrow where most calls are. */
const BUCKETS = [0, 1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1_200, 1_800, 3_600];

function bucketOf(seconds: number): number {
  return Math.max(
    0,
    BUCKETS.findLastIndex((low) => seconds >= low),
  );
}

function durationTerm(bucket: number): string {
  return `${PREFIXES.duration}:${bucket}`;
}
