import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-stores-'));
const opened: KeyValueStore[] = [];

/** An empty store of its own, closed and gone when the test file ends. */
export function freshStore(): KeyValueStore {
  const store = openKeyValueStore(join(folder, String(opened.length)));
  opened.push(store);
  return store;
}

t.teardown(async () => {
  for (const store of opened) await store.close();
  rmSync(folder, { recursive: true, force: true });
});
