import type { Test } from 'tap';
import { type AttemptLog, type Delivery, newDelivery } from '../../../src/control/webhooks/delivery.ts';
import {
  type DeliverySending,
  type DeliveryStore,
  MAX_LOGGED_ATTEMPTS,
} from '../../../src/control/webhooks/delivery-store.ts';

const START = Date.parse('2026-03-01T08:00:00.000Z');
const DAY = 86_400_000;

/** A store of messages, and how it sends them. */
export type StoreUnderTest = DeliveryStore & { sends(attempt: DeliverySending['attempt']): void };

/** What every queue of outbound messages promises. */
export async function deliveryStoreConformance(t: Test, open: () => StoreUnderTest): Promise<void> {
  const message = (id: string, change: Partial<Delivery> = {}, atMs = START): Delivery => ({
    ...newDelivery({ id, endpoint_id: 'bot:a', type: 'crm.push', session_id: `s-${id}`, body: '{}' }, atMs),
    ...change,
  });

  await t.test('a message is added once', async (t) => {
    const store = open();
    t.equal(await store.add([message('m1'), message('m2')]), 2);
    t.equal(await store.add([message('m1', { body: 'other' }), message('m3')]), 1);
    t.equal((await store.get('m1'))?.body, '{}', 'the first stays');
    t.equal(await store.get('m9'), null);
    t.equal(await store.pendingCount(), 3);
  });

  await t.test('an attempt is noted with its log line, and a message that is gone stays gone', async (t) => {
    const store = open();
    const tries: string[] = [];
    store.sends(async ({ id, attempts_total }) => {
      tries.push(id);
      if (id === 'gone') await store.forgetCall('s-gone');
      const detail = { log: attempt(id, attempts_total + 1), isAttempt: true, url: '' };
      return id === 'fails'
        ? { kind: 'failed', error: 'away', isTransient: true, retryAfterMs: null, detail }
        : { kind: 'delivered', detail };
    });
    await store.add([message('fails'), message('taken'), message('gone')]);
    await store.queue.start();
    while (store.queue.isActive) await new Promise((resolve) => setTimeout(resolve, 2));
    t.same(tries.sort(), ['fails', 'gone', 'taken']);
    t.match(await store.get('fails'), {
      state: 'pending',
      attempts: 1,
      attempts_total: 1,
      last_error: 'away',
    });
    t.match(await store.get('taken'), { state: 'delivered', attempts_total: 1, last_error: null });
    t.equal(await store.get('gone'), null);
    t.equal(await store.pendingCount(), 1);
    t.same((await store.attempts('bot:a')).map((line) => line.delivery_id).sort(), ['fails', 'taken']);
    await store.queue.stop();
  });

  await t.test('a start finds what waits, however it was planned', async (t) => {
    const store = open();
    await store.add([
      message('late', { next_attempt_ms: START + 500 }),
      message('other', { endpoint_id: 'bot:a-b' }),
      message('done', { state: 'dead', finished_at: iso(START) }),
    ]);
    const waiting: string[] = [];
    for await (const row of store.queue.all()) waiting.push(row.id);
    t.same(waiting.sort(), ['late', 'other']);
  });

  await t.test('the log of each receiver holds the last attempts, newest first', async (t) => {
    const store = open();
    const lines = MAX_LOGGED_ATTEMPTS + 20;
    await store.log('bot:b', attempt('x', 1));
    await Promise.all(Array.from({ length: lines }, (_, i) => store.log('bot:a', attempt('m', i + 1))));
    await store.log('bot:a', attempt('m', lines + 1));
    const kept = await store.attempts('bot:a');
    t.same(
      kept.map((line) => line.attempt),
      Array.from({ length: MAX_LOGGED_ATTEMPTS }, (_, i) => lines + 1 - i),
    );
    t.equal((await store.attempts('bot:b')).length, 1);
  });

  await t.test('messages are listed by time and state, newest first', async (t) => {
    const store = open();
    for (let i = 0; i < 6; i++) {
      const state = i % 2 === 0 ? ('dead' as const) : ('pending' as const);
      await store.add([message(`m${i}`, { state }, START + i * 1_000)]);
    }
    const ids = async (query: Parameters<DeliveryStore['list']>[1]) =>
      (await store.list('bot:a', query)).map((row) => row.id);
    t.same(await ids({ limit: 9 }), ['m5', 'm4', 'm3', 'm2', 'm1', 'm0']);
    t.same(await ids({ limit: 2 }), ['m5', 'm4']);
    t.same(await ids({ limit: 9, state: 'dead' }), ['m4', 'm2', 'm0']);
    t.same(await ids({ limit: 9, from: iso(START + 2_000), to: iso(START + 4_000) }), ['m4', 'm3', 'm2']);
    t.same(await store.list('bot:z', { limit: 9 }), []);
  });

  await t.test('finished messages are replayed from the first attempt, others are not', async (t) => {
    const store = open();
    const dead = { state: 'dead', attempts: 10, attempts_total: 10, finished_at: iso(START) } as const;
    await store.add([message('dead', dead), message('empty', { ...dead, body: '' }), message('waits')]);
    t.equal(await store.replay(['dead', 'empty', 'waits', 'ghost'], START + DAY), 1);
    t.match(await store.get('dead'), {
      state: 'pending',
      attempts: 0,
      attempts_total: 10,
      finished_at: null,
    });
    t.equal(await store.pendingCount(), 2);
  });

  await t.test('what is old and finished is pruned, what waits is not', async (t) => {
    const store = open();
    const done = { state: 'delivered', finished_at: iso(START) } as const;
    await store.add([message('old', done), message('waits')]);
    await store.add([message('fresh', { state: 'dead', finished_at: iso(START + 29 * DAY) })]);
    t.equal(await store.prune(START + 31 * DAY), 1);
    t.equal(await store.prune(START + 31 * DAY), 0);
    t.same((await store.list('bot:a', { limit: 9 })).map((row) => row.id).sort(), ['fresh', 'waits']);
  });

  await t.test('a forgotten call and a removed receiver leave nothing', async (t) => {
    const store = open();
    await store.add([
      message('m1'),
      message('m2'),
      message('w1', { endpoint_id: 'whk_1', session_id: 's-m1' }),
    ]);
    for (const id of ['m1', 'm2']) await store.log('bot:a', attempt(id, 1));
    await store.log('whk_1', attempt('m1', 1));
    t.equal(await store.forgetCall('s-m1'), 2);
    t.same(await store.attempts('whk_1'), []);
    t.same(
      (await store.attempts('bot:a')).map((line) => line.session_id),
      ['s-m2'],
    );
    await store.removeEndpoint('bot:a');
    t.same(await store.list('bot:a', { limit: 9 }), []);
    t.same(await store.attempts('bot:a'), []);
    t.equal(await store.pendingCount(), 0);
  });
}

function attempt(id: string, number: number): AttemptLog {
  return {
    delivery_id: id,
    type: 'crm.push',
    session_id: `s-${id}`,
    attempt: number,
    at: iso(START),
    ms: 1,
    request: { method: 'POST', url: 'https://crm.example.test/', headers: {}, body: '{}' },
    response: null,
    error: null,
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
