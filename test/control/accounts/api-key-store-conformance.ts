import type { Test } from 'tap';
import type { ApiKey, ApiKeyStore } from '../../../src/control/api-keys/api-key-store.ts';
import { CAUSE } from './user-store-conformance.ts';

function apiKey(id: string, change: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    name: id,
    prefix: 'tk_abcdefg',
    hash: `hash of ${id}`,
    scopes: ['calls:write'],
    requests_per_minute: null,
    created_at: '2026-03-01T12:00:00.000Z',
    expires_at: null,
    last_used_at: null,
    archived_at: null,
    ...change,
  };
}

/** What every implementation of {@link ApiKeyStore} promises. `open` gives an empty one. */
export async function apiKeyStoreConformance(t: Test, open: () => ApiKeyStore): Promise<void> {
  await t.test('a key comes back by id and by hash', async (t) => {
    const keys = open();
    t.equal(await keys.get('key_a'), null);
    t.equal(await keys.byHash('hash of key_a'), null);
    await keys.insert(apiKey('key_a'), CAUSE);
    t.strictSame(await keys.get('key_a'), apiKey('key_a'));
    t.strictSame(await keys.byHash('hash of key_a'), apiKey('key_a'));
  });

  await t.test('an archived key stays, once', async (t) => {
    const keys = open();
    await keys.insert(apiKey('key_a'), CAUSE);
    t.equal((await keys.archive('key_a', 'first', CAUSE)).archived_at, 'first');
    t.equal((await keys.archive('key_a', 'second', CAUSE)).archived_at, 'first');
    t.equal((await keys.byHash('hash of key_a'))?.archived_at, 'first');
    await t.rejects(keys.archive('key_b', 'now', CAUSE), { code: 'not_found' });
  });

  await t.test('the last use is written beside everything else', async (t) => {
    const keys = open();
    await keys.insert(apiKey('key_a'), CAUSE);
    await Promise.all([keys.archive('key_a', 'then', CAUSE), keys.setLastUsed('key_a', 'now')]);
    t.match(await keys.get('key_a'), { archived_at: 'then', last_used_at: 'now' });
    await keys.setLastUsed('key_b', 'now');
    t.equal(await keys.get('key_b'), null, 'a key that is none is not made');
  });

  await t.test('the list is newest first and goes on where it stopped', async (t) => {
    const keys = open();
    for (const [day, id] of [
      [1, 'a'],
      [3, 'c'],
      [2, 'b'],
      [2, 'b2'],
    ] as const) {
      await keys.insert(apiKey(id, { created_at: `2026-03-0${day}T00:00:00.000Z` }), CAUSE);
    }
    const first = await keys.list({ limit: 2 });
    const last = first.at(-1);
    const rest = await keys.list({ limit: 9, ...(last ? { before: last } : {}) });
    t.same(
      [...first, ...rest].map(({ id }) => id),
      ['c', 'b2', 'b', 'a'],
    );
  });
}
