import { createHash, createHmac } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';
import { newId, newSecret } from '../../platform/secret-token.ts';
import { type AuditEntry, type AuditNote, auditActor, FIRST_PREV_HASH, hashOf } from './audit-entry.ts';
import {
  type AuditHead,
  type AuditProof,
  auditTables,
  type VerifyOptions,
  verifyChain,
} from './verify-chain.ts';

export type { AuditCause, AuditEntry, AuditNote } from './audit-entry.ts';

/** Who did what to what: append-only, hash-chained. Every implementation passes `audit-log-conformance.ts`. */
export interface AuditLog {
  /** Resolves once the entry is on disk. */
  record(note: AuditNote): Promise<void>;
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Walks the whole chain; other work gets its turn in between. */
  verify(options?: VerifyOptions): Promise<AuditProof>;
}

/** The log of the store that the business data lies in: an entry commits together with the write that it tells of. */
export interface TransactionalAuditLog extends AuditLog {
  append(writes: Transaction, note: AuditNote): void;
}

export interface AuditQuery {
  actorId?: string;
  action?: string;
  target?: string;
  /** ISO 8601 UTC, both included. */
  from?: string;
  to?: string;
  limit: number;
  /** Only entries before this one. */
  beforeSeq?: number;
}

export interface AuditPage {
  items: AuditEntry[];
  /** Where the next page begins; null at the end of the log. */
  nextBeforeSeq: number | null;
}

/** Entries that one request looks at; a filter that matches little goes on with the next page. */
const MAX_SCANNED = 1_000;
/** Other work gets its turn after so many. */
const ENTRIES_PER_TURN = 50;
const MAX_SEQ = Number.MAX_SAFE_INTEGER;

export function createAuditLog(store: KeyValueStore, nowIso: () => string): TransactionalAuditLog {
  return new LmdbAuditLog(store, nowIso);
}

class LmdbAuditLog implements TransactionalAuditLog {
  private readonly store: KeyValueStore;
  private readonly nowIso: () => string;
  private readonly entries: Table<AuditEntry>;
  private readonly head: Table<AuditHead>;
  /** `[value, seq]` of actor, action and target. */
  private readonly byActor: Table<1>;
  private readonly byAction: Table<1>;
  private readonly byTarget: Table<1>;
  private readonly keys: Table<string>;

  constructor(store: KeyValueStore, nowIso: () => string) {
    this.store = store;
    this.nowIso = nowIso;
    ({ entries: this.entries, head: this.head } = auditTables(store));
    this.byActor = store.table('audit-by-actor');
    this.byAction = store.table('audit-by-action');
    this.byTarget = store.table('audit-by-target');
    this.keys = store.table('audit-keys');
  }

  async record(note: AuditNote): Promise<void> {
    await this.store.transaction((writes) => this.append(writes, note));
  }

  append(writes: Transaction, note: AuditNote): void {
    const head = writes.get(this.head, 'head');
    const key = this.hashKey(writes);
    const seq = (head?.seq ?? 0) + 1;
    const unsealed = {
      id: newId('aud_'),
      seq,
      at: this.nowIso(),
      actor: auditActor(note.actor, note.ip),
      action: note.action,
      target: note.target,
      before: hideSecrets(note.before, key),
      after: hideSecrets(note.after, key),
      request_id: note.requestId,
      prev_hash: head?.hash ?? FIRST_PREV_HASH,
    };
    const entry: AuditEntry = { ...unsealed, hash: hashOf(unsealed) };
    writes.put(this.entries, seq, entry);
    writes.put(this.head, 'head', { seq, hash: entry.hash });
    if (entry.actor.id !== null) writes.put(this.byActor, [entry.actor.id, seq], 1);
    writes.put(this.byAction, [entry.action, seq], 1);
    writes.put(this.byTarget, [entry.target, seq], 1);
  }

  async list(query: AuditQuery): Promise<AuditPage> {
    const items: AuditEntry[] = [];
    const seqs = this.candidates(query);
    let last: number | null = null;
    for (const [index, seq] of seqs.entries()) {
      if (index > 0 && index % ENTRIES_PER_TURN === 0) await nextTurn();
      const entry = this.entries.get(seq);
      last = seq;
      if (entry && matches(entry, query)) items.push(entry);
      if (items.length >= query.limit) break;
    }
    const exhausted = last === null || (seqs.length < MAX_SCANNED && last === seqs.at(-1));
    return { items, nextBeforeSeq: exhausted ? null : last };
  }

  verify(options: VerifyOptions = {}): Promise<AuditProof> {
    return verifyChain(this.store, options);
  }

  /** Sequence numbers, newest first, by the index that narrows most. */
  private candidates(query: AuditQuery): number[] {
    const before = query.beforeSeq ?? MAX_SEQ;
    const [index, value] =
      query.target !== undefined
        ? [this.byTarget, query.target]
        : query.actorId !== undefined
          ? [this.byActor, query.actorId]
          : query.action !== undefined
            ? [this.byAction, query.action]
            : [null, ''];
    const range = { limit: MAX_SCANNED, reverse: true, exclusiveStart: true };
    if (index === null) return this.entries.keys({ ...range, start: before, end: 0 }).map(Number);
    return index.keys({ ...range, start: [value, before], end: [value, 0] }).map(seqOf);
  }

  /** Made with the first entry; it never leaves the store. */
  private hashKey(writes: Transaction): string {
    const known = writes.get(this.keys, 'hash-key');
    if (known !== undefined) return known;
    const made = newSecret('');
    writes.put(this.keys, 'hash-key', made);
    return made;
  }
}

function seqOf(key: StoreKey): number {
  return Array.isArray(key) ? Number(key[1]) : Number(key);
}

function matches(entry: AuditEntry, query: AuditQuery): boolean {
  return (
    (query.actorId === undefined || entry.actor.id === query.actorId) &&
    (query.action === undefined || entry.action === query.action) &&
    (query.target === undefined || entry.target === query.target) &&
    (query.from === undefined || entry.at >= query.from) &&
    (query.to === undefined || entry.at <= query.to)
  );
}

/** Fields whose text never reaches the log, whatever resource they belong to. */
const SECRET_NAME =
  /password|secret|token|api_?key|private_?key|access_?key|authorization|cookie|credential|recovery/i;
/** A larger state is kept as its size and hash: the log says that it changed, the versions of the resource say how. */
const MAX_STATE_BYTES = 32_768;
const MAX_DEPTH = 12;
/** Enough to see that two values differ, too little to search for the value behind it. */
const HASH_CHARS = 16;

/**
 * A state as the audit log may keep it: texts in fields with a secret's name become a keyed hash, so that one sees that
 * a secret was changed, but can neither read it nor try guesses without `key`.
 */
function hideSecrets(state: unknown, key: string): unknown {
  if (state === undefined || state === null) return null;
  const text = JSON.stringify(state);
  if (text === undefined) return null;
  if (Buffer.byteLength(text) > MAX_STATE_BYTES) {
    return {
      omitted: 'larger than the audit log keeps',
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  }
  return hidden(JSON.parse(text), key, false, 0);
}

function hidden(value: unknown, key: string, secret: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) return 'nested too deeply for the audit log';
  if (typeof value === 'string') return secret && value !== '' ? keyed(value, key) : value;
  if (Array.isArray(value)) return value.map((item) => hidden(item, key, secret, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      hidden(inner, key, secret || SECRET_NAME.test(name), depth + 1),
    ]),
  );
}

function keyed(value: string, key: string): string {
  return `hash:${createHmac('sha256', key).update(value).digest('hex').slice(0, HASH_CHARS)}`;
}
