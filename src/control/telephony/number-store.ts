import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { AuditCause, TransactionalAuditLog } from '../audit/audit-log.ts';
import { MAX_NUMBERS, type PhoneNumber } from './number.ts';

/**
 * The numbers that are called (DIDs), each with its bot. Each promise resolves when what it says is durable; a change
 * and its audit entry are one write. Every implementation passes `test/control/telephony/number-store-conformance.ts`.
 */
export interface NumberStore {
  /** Whatever way the number is written. */
  byNumber(number: string): Promise<PhoneNumber | null>;
  get(id: string): Promise<PhoneNumber | null>;
  /** In the order of their digits; `after` is a number. */
  list(page: { limit: number; after?: string }): Promise<PhoneNumber[]>;
  /** The numbers of a trunk, in the order of their digits. */
  ofTrunk(trunkId: string): Promise<PhoneNumber[]>;
  /** Throws `conflict` where the number is taken, or when there are too many. */
  insert(number: PhoneNumber, cause: AuditCause): Promise<void>;
  /** Replaces all but the number; what `change` throws is thrown. The version rises. Throws `not_found`. */
  update(id: string, change: (number: PhoneNumber) => PhoneNumber, cause: AuditCause): Promise<PhoneNumber>;
  /** Throws `not_found`. `check` may throw, too. */
  remove(id: string, check: (number: PhoneNumber) => void, cause: AuditCause): Promise<void>;
}

export function createNumberStore(
  store: KeyValueStore,
  audit: Pick<TransactionalAuditLog, 'append'>,
): NumberStore {
  const { numbers, byId, byTrunk } = numberTables(store);
  const standing = (writes: Transaction, id: string): { key: string; before: PhoneNumber } => {
    const key = writes.get(byId, id);
    const before = key === undefined ? undefined : writes.get(numbers, key);
    if (key === undefined || !before) throw noSuchNumber();
    return { key, before };
  };
  const link = (writes: Transaction, key: string, before: string | null, after: string | null) => {
    if (before === after) return;
    if (before !== null) writes.remove(byTrunk, [before, key]);
    if (after !== null) writes.put(byTrunk, [after, key], 1);
  };
  return {
    async byNumber(number) {
      return numbers.get(canonicalNumber(number)) ?? null;
    },
    async get(id) {
      const key = byId.get(id);
      return key === undefined ? null : (numbers.get(key) ?? null);
    },
    async list({ limit, after }) {
      const from = after === undefined ? {} : { start: canonicalNumber(after), exclusiveStart: true };
      return numbers.range({ limit, ...from }).map(({ value }) => value);
    },
    async ofTrunk(trunkId) {
      return byTrunk
        .keys({ limit: MAX_NUMBERS, start: [trunkId, ''], end: [trunkId, '~'] })
        .map((key) => numbers.get(String((key as readonly unknown[])[1])))
        .filter((number) => number !== undefined);
    },
    insert: (number, cause) =>
      store.transaction((writes) => {
        const key = canonicalNumber(number.number);
        if (writes.get(numbers, key)) {
          throw new AppError('conflict', 'this number is there already; change that one');
        }
        if (numbers.count() >= MAX_NUMBERS) {
          throw new AppError('conflict', `there are ${MAX_NUMBERS} numbers already; remove one first`);
        }
        writes.put(numbers, key, number);
        writes.put(byId, number.id, key);
        link(writes, key, null, number.trunk_id);
        audit.append(writes, { ...cause, target: targetOf(number), after: number });
      }),
    update: (id, change, cause) =>
      store.transaction((writes) => {
        const { key, before } = standing(writes, id);
        const after = { ...change(before), number: before.number, version: before.version + 1 };
        writes.put(numbers, key, after);
        link(writes, key, before.trunk_id, after.trunk_id);
        audit.append(writes, { ...cause, target: targetOf(after), before, after });
        return after;
      }),
    remove: (id, check, cause) =>
      store.transaction((writes) => {
        const { key, before } = standing(writes, id);
        check(before);
        writes.remove(numbers, key);
        writes.remove(byId, id);
        link(writes, key, before.trunk_id, null);
        audit.append(writes, { ...cause, target: targetOf(before), before, after: null });
      }),
  };
}

function targetOf(number: PhoneNumber): string {
  return `number:${number.id}`;
}

export function noSuchNumber(): AppError {
  return new AppError('not_found', 'there is no number with this id');
}

/**
 * One spelling for every way to write the same telephone number, as the media server compares them: without spaces,
 * dashes and brackets, and without the plus sign, so that `+911140001234` and `91 11 4000-1234` are one number. What is
 * no number (an extension with letters, say) stays as it is.
 */
function canonicalNumber(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\- ()*#]+$/.test(trimmed) ? trimmed.replace(/[\s\-()]/g, '').replace(/^\+/, '') : trimmed;
}

interface NumberTables {
  /** By the canonical form of the number. */
  numbers: Table<PhoneNumber>;
  /** Id to canonical form. */
  byId: Table<string>;
  /** `[trunk id, canonical form]`. */
  byTrunk: Table<1>;
}

export function numberTables(store: KeyValueStore): NumberTables {
  return {
    numbers: store.table('sip-numbers'),
    byId: store.table('sip-numbers-by-id'),
    byTrunk: store.table('sip-numbers-by-trunk'),
  };
}
