import type { CallResults } from '../../contracts/call-results.ts';
import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';
import type { OrphanResults } from './call-store.ts';

/** Orphans are kept this long, and at most this many; the oldest go first. */
const ORPHAN_DAYS = 7;
const MAX_ORPHANS = 500;
/** Of a larger orphan only the fact is kept, so that strangers cannot fill the disk: 32 MB at most in all. */
const MAX_ORPHAN_BYTES = 65_536;

const DAY_MS = 86_400_000;

/** Results that belong to no call, so that an external orchestrator's mistakes can be seen. */
export class OrphanShelf {
  private readonly orphans: Table<OrphanResults>;
  /** Session to the key of its orphan. */
  private readonly bySession: Table<[string, string]>;

  constructor(store: KeyValueStore) {
    this.orphans = store.table<OrphanResults>('orphan-results');
    this.bySession = store.table<[string, string]>('orphan-results-by-session');
  }

  /** Keeps it, one per session: the last one. */
  keep(writes: Transaction, results: CallResults, nowIso: string): void {
    const earlier = writes.get(this.bySession, results.session_id);
    if (earlier) writes.remove(this.orphans, earlier);
    else this.prune(writes, nowIso);
    const bytes = Buffer.byteLength(JSON.stringify(results));
    writes.put(this.orphans, [nowIso, results.session_id], {
      session_id: results.session_id,
      received_at: nowIso,
      results: bytes <= MAX_ORPHAN_BYTES ? results : null,
      bytes,
    });
    writes.put(this.bySession, results.session_id, [nowIso, results.session_id]);
  }

  /** Newest first. */
  list(limit: number): OrphanResults[] {
    return this.orphans.range({ limit, reverse: true }).map((entry) => entry.value);
  }

  private prune(writes: Transaction, nowIso: string): void {
    const oldest = new Date(Date.parse(nowIso) - ORPHAN_DAYS * DAY_MS).toISOString();
    const tooOld = this.orphans.keys({ limit: MAX_ORPHANS, end: [oldest] });
    const surplus = this.orphans.count() - tooOld.length - MAX_ORPHANS + 1;
    const oneTooMany = surplus > 0 ? this.orphans.keys({ limit: surplus, start: [oldest] }) : [];
    for (const key of [...tooOld, ...oneTooMany]) {
      writes.remove(this.orphans, key);
      writes.remove(this.bySession, sessionOf(key));
    }
  }
}

function sessionOf(orphanKey: StoreKey): string {
  return Array.isArray(orphanKey) ? String(orphanKey[1]) : '';
}
