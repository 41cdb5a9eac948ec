import type { StoreKey, Table } from './key-value-store.ts';

/** Keys that are read in one go; their rows may be large, and the event loop must get its turns. */
const PAGE = 100;

/** Every key of a table in order, read page by page: the table may be changed meanwhile. */
export async function* everyKey(table: Table<unknown>): AsyncGenerator<StoreKey> {
  for (let start: StoreKey | undefined; ; ) {
    const keys = table.keys({ limit: PAGE, ...(start === undefined ? {} : { start, exclusiveStart: true }) });
    yield* keys;
    if (keys.length < PAGE) return;
    start = keys.at(-1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
