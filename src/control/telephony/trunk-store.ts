import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { AuditCause, TransactionalAuditLog } from '../audit/audit-log.ts';
import { numberTables } from './number-store.ts';
import { dials, MAX_TRUNKS, type Trunk } from './trunk.ts';

/**
 * The SIP trunks. Each promise resolves when what it says is durable; a change and its audit entry are one write. At
 * most one trunk is the default for outbound calls: giving that to one takes it from the other in the same write. Every
 * implementation passes `test/control/telephony/trunk-store-conformance.ts`.
 */
export interface TrunkStore {
  /** Newest first; there are at most {@link MAX_TRUNKS}. */
  all(): Promise<Trunk[]>;
  get(id: string): Promise<Trunk | null>;
  /** The enabled trunk that outbound calls go through; null where there is none. */
  defaultOutbound(): Promise<Trunk | null>;
  /** Throws `conflict` when there are too many. */
  insert(trunk: Trunk, cause: AuditCause): Promise<void>;
  /** Replaces it by what `change` makes of it; what `change` throws is thrown. The version rises. Throws `not_found`. */
  update(id: string, change: (trunk: Trunk) => Trunk, cause: AuditCause): Promise<Trunk>;
  /** Throws `not_found`, and `conflict` while numbers lead through it. `check` may throw, too. */
  remove(id: string, check: (trunk: Trunk) => void, cause: AuditCause): Promise<void>;
}

/** Holds sealed passwords: `rotate-key.ts` names it. */
export const TRUNK_TABLE = 'sip-trunks';

export function createTrunkStore(
  store: KeyValueStore,
  audit: Pick<TransactionalAuditLog, 'append'>,
): TrunkStore {
  const trunks: Table<Trunk> = store.table(TRUNK_TABLE);
  const { byTrunk } = numberTables(store);
  const all = () =>
    trunks
      .range({ limit: MAX_TRUNKS })
      .map(({ value }) => value)
      .sort((a, b) =>
        a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1,
      );
  /** `keys` is the state before the transaction, `get` the one within it. */
  const takeDefaultFromOthers = (writes: Transaction, winner: Trunk, cause: AuditCause) => {
    if (!winner.default_outbound) return;
    for (const key of trunks.keys({ limit: MAX_TRUNKS })) {
      const other = writes.get(trunks, key);
      if (!other?.default_outbound || other.id === winner.id) continue;
      const after = {
        ...other,
        default_outbound: false,
        version: other.version + 1,
        updated_at: winner.updated_at,
      };
      writes.put(trunks, key, after);
      audit.append(writes, { ...cause, target: targetOf(other), before: other, after });
    }
  };
  return {
    all: async () => all(),
    async get(id) {
      return trunks.get(id) ?? null;
    },
    async defaultOutbound() {
      return all().find((trunk) => trunk.default_outbound && trunk.enabled && dials(trunk)) ?? null;
    },
    insert: (trunk, cause) =>
      store.transaction((writes) => {
        if (trunks.count() >= MAX_TRUNKS) {
          throw new AppError('conflict', `there are ${MAX_TRUNKS} trunks already; remove one first`);
        }
        takeDefaultFromOthers(writes, trunk, cause);
        writes.put(trunks, trunk.id, trunk);
        audit.append(writes, { ...cause, target: targetOf(trunk), after: trunk });
      }),
    update: (id, change, cause) =>
      store.transaction((writes) => {
        const before = writes.get(trunks, id);
        if (!before) throw noSuchTrunk();
        const after = { ...change(before), version: before.version + 1 };
        takeDefaultFromOthers(writes, after, cause);
        writes.put(trunks, id, after);
        audit.append(writes, { ...cause, target: targetOf(after), before, after });
        return after;
      }),
    remove: (id, check, cause) =>
      store.transaction((writes) => {
        const before = writes.get(trunks, id);
        if (!before) throw noSuchTrunk();
        check(before);
        if (byTrunk.keys({ limit: 1, start: [id, ''], end: [id, '~'] }).length > 0) {
          throw new AppError(
            'conflict',
            'numbers lead through this trunk; give them another one or remove them first',
          );
        }
        writes.remove(trunks, id);
        audit.append(writes, { ...cause, target: targetOf(before), before, after: null });
      }),
  };
}

function targetOf(trunk: Trunk): string {
  return `trunk:${trunk.id}`;
}

export function noSuchTrunk(): AppError {
  return new AppError('not_found', 'there is no trunk with this id');
}
