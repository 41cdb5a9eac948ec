import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyValueStore, StoreKey, Table } from '../../platform/key-value-store.ts';
import { BOX_TABLE, type KeyedSecretBox, sealedWith } from './secret-box.ts';

/** Tables with sealed texts somewhere in their rows. */
export const SEALED_TABLES = [
  BOX_TABLE,
  'system-settings',
  'crm-secrets',
  'webhook-endpoints',
  'users',
  'sip-trunks',
] as const;

export interface Rotation {
  key_id: string;
  /** Texts that were sealed anew. */
  resealed: number;
}

/**
 * A new key, and every sealed text under it. Old keys stay in the file until the next start: parts of the plane may
 * hold texts in memory that are sealed with them and write those back. A crash at any point leaves nothing that cannot
 * be opened.
 */
export async function rotateKey(
  box: KeyedSecretBox,
  store: KeyValueStore,
  tables: readonly string[] = SEALED_TABLES,
): Promise<Rotation> {
  const keyId = await box.addKey();
  return { key_id: keyId, resealed: await sealAnew(box, store, tables) };
}

/** Ends a rotation of an earlier run. Call it before any other part reads the store. Says whether there was one. */
export async function finishRotation(
  box: KeyedSecretBox,
  store: KeyValueStore,
  tables: readonly string[] = SEALED_TABLES,
): Promise<boolean> {
  if (box.keyIds().length < 2) return false;
  await sealAnew(box, store, tables);
  await box.dropOldKeys();
  return true;
}

/** Rows in one transaction; other work gets its turn in between. */
const ROWS_PER_TURN = 100;

async function sealAnew(
  box: KeyedSecretBox,
  store: KeyValueStore,
  tables: readonly string[],
): Promise<number> {
  let total = 0;
  for (const name of tables) {
    const table: Table<unknown> = store.table(name);
    let last: StoreKey | null = null;
    for (;;) {
      const keys = table.keys({
        limit: ROWS_PER_TURN,
        ...(last === null ? {} : { start: last, exclusiveStart: true }),
      });
      total += await store.transaction((writes) => {
        let changed = 0;
        for (const key of keys) {
          const row = writes.get(table, key);
          const count = { sealed: 0 };
          const fresh = walk(row, box, count);
          if (count.sealed > 0) writes.put(table, key, fresh);
          changed += count.sealed;
        }
        return changed;
      });
      last = keys.at(-1) ?? null;
      if (last === null || keys.length < ROWS_PER_TURN) break;
      await nextTurn();
    }
  }
  return total;
}

function walk(value: unknown, box: KeyedSecretBox, count: { sealed: number }): unknown {
  if (typeof value === 'string') {
    const keyId = sealedWith(value);
    const [newest, ...older] = box.keyIds();
    // What only looks sealed, or was sealed with a key that nobody has, stays as it is.
    if (keyId === null || keyId === newest || !older.includes(keyId)) return value;
    count.sealed++;
    return box.seal(box.open(value));
  }
  if (Array.isArray(value)) return value.map((item) => walk(item, box, count));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, box, count)]));
}
