import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { type AuditEntry, FIRST_PREV_HASH, hashOf } from './audit-entry.ts';

/** The newest entry as the log remembers it, apart from the entries themselves: it gives a cut-off end away. */
export interface AuditHead {
  seq: number;
  hash: string;
}

export interface VerifyOptions {
  /**
   * A head that was written down outside the machine. The chain alone cannot show that somebody with the store in hand
   * wrote all of it anew; an anchor can.
   */
  anchor?: AuditHead;
}

export interface AuditProof {
  ok: boolean;
  /** Entries that were read. */
  checked: number;
  /** What to write down as the anchor of the next check; null for an empty log. */
  head: AuditHead | null;
  /** The first {@link MAX_PROBLEMS}, in the order of the log. */
  problems: AuditProblem[];
}

export interface AuditProblem {
  seq: number;
  kind: 'altered' | 'missing' | 'moved' | 'truncated' | 'head_wrong' | 'anchor_differs';
  sentence: string;
}

/** More problems are counted by nobody: the log is broken. */
export const MAX_PROBLEMS = 20;
/** Some milliseconds of work; then other work gets its turn. */
const ENTRIES_PER_TURN = 50;

export function auditTables(store: KeyValueStore): { entries: Table<AuditEntry>; head: Table<AuditHead> } {
  return { entries: store.table<AuditEntry>('audit-log'), head: store.table<AuditHead>('audit-head') };
}

/** Walks the chain from its first entry to the head that stood when the walk began. Works on an open store, too. */
export async function verifyChain(store: KeyValueStore, options: VerifyOptions = {}): Promise<AuditProof> {
  const tables = auditTables(store);
  const head = tables.head.get('head') ?? null;
  const problems: AuditProblem[] = [];
  const found = (seq: number, kind: AuditProblem['kind'], sentence: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ seq, kind, sentence });
  };
  const { anchor } = options;
  let checked = 0;
  let expectedSeq = 1;
  let expectedPrev = FIRST_PREV_HASH;
  let anchored: string | null = null;
  const end = head === null ? {} : { end: head.seq + 1 };
  for (;;) {
    const page = tables.entries.range({ limit: ENTRIES_PER_TURN, start: expectedSeq, ...end });
    for (const { key, value: entry } of page) {
      const seq = Number(key);
      checked++;
      if (seq > expectedSeq) {
        found(expectedSeq, 'missing', `entries ${expectedSeq} to ${seq - 1} are missing`);
      }
      if (entry.seq !== seq) {
        found(seq, 'moved', `entry ${entry.seq} stands in place ${seq}`);
      } else if (hashOf(entry) !== entry.hash) {
        found(seq, 'altered', `entry ${seq} was changed after it was written`);
      } else if (seq === expectedSeq && entry.prev_hash !== expectedPrev) {
        found(seq, 'altered', `entry ${seq} does not follow from entry ${seq - 1}`);
      }
      if (anchor?.seq === seq) anchored = entry.hash;
      expectedSeq = seq + 1;
      expectedPrev = entry.hash;
    }
    if (page.length < ENTRIES_PER_TURN) break;
    await nextTurn();
  }
  const lastSeq = expectedSeq - 1;
  if (head === null && lastSeq > 0) found(lastSeq, 'head_wrong', 'the record of the newest entry is missing');
  if (head !== null && head.seq > lastSeq) {
    found(lastSeq + 1, 'truncated', `the log ends with entry ${lastSeq}, ${head.seq} were written`);
  }
  if (head !== null && head.seq === lastSeq && head.hash !== expectedPrev) {
    found(lastSeq, 'head_wrong', 'the newest entry is not the one that was written last');
  }
  // Both are read in one turn, so nothing can be appended between them.
  const newest = Number(tables.entries.keys({ limit: 1, reverse: true })[0] ?? 0);
  if (head !== null && newest > (tables.head.get('head')?.seq ?? 0)) {
    found(newest, 'head_wrong', `entry ${newest} was added behind the log's back`);
  }
  if (anchor && anchored !== anchor.hash) {
    found(anchor.seq, 'anchor_differs', `entry ${anchor.seq} is not the one that was written down`);
  }
  return { ok: problems.length === 0, checked, head, problems };
}
