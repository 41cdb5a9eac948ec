import type { Test } from 'tap';
import { type AttemptLog, type Delivery, newDelivery } from '../../../src/control/webhooks/delivery.ts';
import { type DeliveryStore, MAX_LOGGED_ATTEMPTS } from '../../../src/control/webhooks/delivery-store.ts';

const START = Date.parse('2026-03-01T08:00:00.000Z');
const DAY = 86_400_000;

/** What every queue of outbound messages promises. */
export async function deliveryStoreConformance(t: Test, open: () => DeliveryStore): Promise<void> {
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

  await t.test('each receiver has its own queue, in the order of what is due', async (t) => {
    const store = open();
    await store.add([
      message('late', { next_attempt_ms: START + 500 }),
      message('soon', { next_attempt_ms: START + 5 }),
      message('other', { endpoint_id: 'bot:a-b' }),
      message('third', { endpoint_id: 'whk_1' }),
    ]);
    t.same((await store.busyEndpoints()).sort(), ['bot:a', 'bot:a-b', 'whk_1']);
    const due = async (atMs: number, limit = 9) =>
      (await store.due('bot:a', atMs, limit)).map((row) => row.id);
    t.same(await due(START + 500), ['soon', 'late']);
    t.same(await due(START + 500, 1), ['soon']);
    t.same(await due(START + 499), ['soon']);
    t.same(await due(START + 4), []);
    t.equal(await store.nextDueMs('bot:a', START), START + 5);
    t.equal(await store.nextDueMs('bot:a', START + 5), START + 500);
    t.equal(await store.nextDueMs('bot:a', START + 500), null);
    t.same(await due(START - 365 * DAY), ['soon', 'late'], 'a clock that was set back holds nothing up');
    t.same(await store.due('bot:', START + DAY, 9), []);
  });

  await t.test('settling moves a message, and one that is gone stays gone', async (t) => {
    const store = open();
    await store.add([message('m1'), message('m2')]);
    await store.settle(message('m1', { next_attempt_ms: START + 9_000, attempts: 1 }), attempt('m1', 1));
    t.same(
      (await store.due('bot:a', START + 9_000, 9)).map((row) => row.id),
      ['m2', 'm1'],
    );
    await store.settle(message('m2', { state: 'delivered', finished_at: iso(START) }), attempt('m2', 1));
    t.equal(await store.pendingCount(), 1);
    await store.settle(message('ghost', { state: 'delivered' }), attempt('ghost', 1));
    t.equal(await store.get('ghost'), null);
    t.equal((await store.attempts('bot:a')).length, 2);
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
    t.same(await store.busyEndpoints(), []);
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
