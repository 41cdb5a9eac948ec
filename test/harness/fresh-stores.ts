import { join } from 'node:path';
import t from 'tap';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { tempFolder } from './temp-folder.ts';

const folder = tempFolder();
const opened: KeyValueStore[] = [];

/** An empty store of its own, closed and gone when the test file ends. */
export function freshStore(): KeyValueStore {
  const store = openKeyValueStore(join(folder, String(opened.length)));
  opened.push(store);
  return store;
}

t.teardown(async () => {
  for (const store of opened) await store.close();
});
