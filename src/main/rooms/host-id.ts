import { randomUUID } from 'node:crypto';
import type { KeyValueStore } from '../../platform/key-value-store.ts';

/**
 * The name of this host in the metadata of its rooms. It lies in the store, so that the rooms of an earlier main are
 * known as ours (RT-85).
 */
export async function readHostId(store: KeyValueStore): Promise<string> {
  const table = store.table<string>('host');
  const standing = table.get('id');
  if (standing !== undefined) return standing;
  const fresh = `host-${randomUUID()}`;
  await table.put('id', fresh);
  return fresh;
}
