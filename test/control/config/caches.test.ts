import t from 'tap';
import { createCacheRegistry } from '../../../src/control/caches/cache-registry.ts';
import { TtlCache } from '../../../src/platform/ttl-cache.ts';
import { configHarness, HOUR_MS } from '../../harness/config-harness.ts';
import { testBot } from '../../harness/control.ts';

t.test('R175 R176 a change made directly in the store is served after the TTL, not before', async (t) => {
  const harness = configHarness(t);
  await harness.bots.put(testBot({ opening_message: 'old' }));
  const greeting = async () => (await harness.open('clinic')).opening_message;
  t.equal(await greeting(), 'old');
  await harness.bots.put(testBot({ opening_message: 'new' }));
  t.equal(await greeting(), 'old');
  harness.clock.monotonicMs += HOUR_MS - 1;
  t.equal(await greeting(), 'old', 'one millisecond before the hour is over');
  harness.clock.monotonicMs += 2;
  t.equal(await greeting(), 'new');
});

t.test('R177 an entry that is cleared by hand is read anew; unknown names are told apart', async (t) => {
  const harness = configHarness(t);
  await harness.bots.put(testBot({ opening_message: 'old' }));
  await harness.open('clinic');
  await harness.bots.put(testBot({ opening_message: 'new' }));
  const settings = new TtlCache<object>({ ttlMs: HOUR_MS, now: () => 0, max: 1 });
  await settings.get('system:settings', async () => ({}));
  const caches = createCacheRegistry({ bots: harness.cached.cache, settings });
  t.equal(caches.clear('bot:other'), false);
  t.equal(caches.clear('bot:clinic'), true);
  t.equal((await harness.open('clinic')).opening_message, 'new');
  t.equal(caches.clear('system:settings'), true);
  t.equal(caches.clear('system:settings'), false);
  for (const name of ['clinic', 'bot:', 'system', '']) t.equal(caches.clear(name), null, name);
});

t.test('what does not exist is not remembered as missing', async (t) => {
  const harness = configHarness(t);
  await t.rejects(harness.open('clinic'), { code: 'not_found' });
  await harness.bots.put(testBot());
  t.match(await harness.open('clinic'), { bot_id: 'clinic' });
});

t.test('callers that come together share one load; a failed load is asked again', async (t) => {
  const cache = new TtlCache<{ n: number }>({ ttlMs: 10, now: () => 0, max: 2 });
  let loads = 0;
  const load = async () => ({ n: ++loads });
  const [a, b] = await Promise.all([cache.get('k', load), cache.get('k', load)]);
  t.equal(a, b);
  t.equal(loads, 1);
  await t.rejects(
    cache.get('bad', () => Promise.reject(new Error('down'))),
    /down/,
  );
  t.strictSame(await cache.get('bad', load), { n: 2 });
});

t.test('an edit during a load keeps what was read before it out of the cache', async (t) => {
  const cache = new TtlCache<{ text: string }>({ ttlMs: 1_000, now: () => 0, max: 2 });
  let release: (value: { text: string }) => void = () => undefined;
  const slow = cache.get('k', () => new Promise((resolve) => (release = resolve)));
  t.equal(cache.invalidate('k'), true);
  release({ text: 'before the edit' });
  t.strictSame(await slow, { text: 'before the edit' }, 'who asked before the edit gets the answer of then');
  t.strictSame(await cache.get('k', async () => ({ text: 'after' })), { text: 'after' });
});

t.test('beyond its bound the cache forgets who was not asked for the longest', async (t) => {
  const cache = new TtlCache<{ key: string }>({ ttlMs: 1_000, now: () => 0, max: 2 });
  const loaded: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      loaded.push(key);
      return { key };
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
  t.strictSame(loaded, ['a', 'b', 'c', 'b']);
});
