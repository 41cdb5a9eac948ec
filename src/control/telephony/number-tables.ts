import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { PhoneNumber } from './number.ts';

export interface NumberTables {
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
