import type { Test } from 'tap';
import {
  type EndpointStore,
  editEndpoint,
  newEndpoint,
} from '../../../src/control/webhooks/endpoint-store.ts';

/** What every store of receivers promises. */
export async function endpointStoreConformance(t: Test, open: () => EndpointStore): Promise<void> {
  await t.test('a receiver is written only over the version that its writer has seen', async (t) => {
    const store = open();
    const first = newEndpoint({ id: 'whk_1', url: 'https://a.example.test/' }, 'sealed', 0);
    t.equal(await store.put(first, 0), true);
    t.equal(await store.put(first, 0), false, 'it exists already');
    t.equal(await store.put({ ...first, description: 'two', version: 2 }, 1), true);
    t.equal(await store.put({ ...first, description: 'late', version: 2 }, 1), false);
    t.equal(store.get('whk_1')?.description, 'two');
  });

  await t.test('of two writers at once one wins', async (t) => {
    const store = open();
    const first = newEndpoint({ id: 'whk_1' }, 'sealed', 0);
    await store.put(first, 0);
    const won = await Promise.all([
      store.put({ ...first, description: 'a', version: 2 }, 1),
      store.put({ ...first, description: 'b', version: 2 }, 1),
    ]);
    t.same(won, [true, false]);
    t.equal(store.get('whk_1')?.description, 'a');
  });

  await t.test('edits at the same moment all count', async (t) => {
    const store = open();
    await store.put(newEndpoint({ id: 'whk_1' }, 'sealed', 0), 0);
    const add = (letter: string) =>
      editEndpoint(store, 'whk_1', (standing) => ({
        ...standing,
        description: standing.description + letter,
      }));
    await Promise.all(['a', 'b', 'c'].map(add));
    t.equal(store.get('whk_1')?.description.length, 3);
    t.equal(store.get('whk_1')?.version, 4);
    t.equal(await editEndpoint(store, 'whk_9', (standing) => standing), null);
  });

  await t.test('a removed receiver is gone', async (t) => {
    const store = open();
    await store.put(newEndpoint({ id: 'whk_1' }, 'sealed', 0), 0);
    t.equal(store.all().length, 1);
    t.equal(await store.remove('whk_1'), true);
    t.equal(await store.remove('whk_1'), false);
    t.equal(store.get('whk_1'), null);
    t.same(store.all(), []);
  });
}
