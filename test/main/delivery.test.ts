import { join } from 'node:path';
import t from 'tap';
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS, ENDLESS_RETRIES } from '../../src/main/outbox/post-json.ts';
import { MAX_PER_RECEIVER, type OutboxRow, ResultsOutbox } from '../../src/main/outbox/results-outbox.ts';
import { retryWaitMs } from '../../src/platform/delivery-queue/retry-policy.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { HandClock } from '../harness/hand-clock.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { quietLogger } from '../harness/worker.ts';

const START_MS = 1_800_000_000_000;

async function workplace(
  webhookUrl: string,
  options: { coreSecret?: string; own?: string[]; timeoutMs?: number } = {},
) {
  const folder = join(tempFolder(), 'store');
  const store = openKeyValueStore(folder);
  const clock = new HandClock(START_MS, 1);
  const outbox = new ResultsOutbox({
    store,
    coreSecret: options.coreSecret ?? '',
    ownOrigins: options.own ?? [],
    logger: quietLogger(),
    clock,
    timeoutMs: options.timeoutMs,
  });
  const loop = outbox.queue;
  await loop.start();
  const put = async (callId: string, url = webhookUrl) => {
    const row: OutboxRow = {
      callId,
      sessionId: `session-${callId}`,
      webhookUrl: url,
      createdAtMs: clock.nowMs(),
      attempts: 0,
      nextAttemptAtMs: clock.nowMs(),
      lastError: null,
    };
    await outbox.add(row, JSON.stringify({ session_id: row.sessionId }));
    loop.offer(callId);
  };
  const rows = async () => {
    const found: OutboxRow[] = [];
    for await (const row of loop.all()) found.push(row);
    return found;
  };
  return { folder, store, outbox, clock, loop, put, rows };
}

t.test('R31 R152 a receiver that is away gets its result once when it is back', async (t) => {
  const away = await startResultsReceiver();
  const { url } = away;
  await away.close();
  const { put, rows, clock, loop, store } = await workplace(url);
  await put('a');
  const waits: number[] = [];
  for (let failures = 1; failures <= 6; failures++) {
    await until(async () => (await rows())[0]?.attempts === failures && clock.nextInMs() !== null);
    waits.push(clock.nextInMs() ?? 0);
    if (failures < 6) clock.move(clock.nextInMs() ?? 0);
  }
  t.strictSame(
    waits,
    [200, 500, 1_000, 5_000, 10_000, 20_000],
    'immediate retries, then a doubling back-off',
  );
  t.match((await rows())[0], { lastError: 'receiver unreachable' });
  const back = await startResultsReceiver(Number(new URL(url).port));
  clock.move(20_000);
  await until(async () => (await rows()).length === 0);
  t.strictSame(
    back.got.map(({ body }) => body),
    [{ session_id: 'session-a' }],
  );
  t.equal(clock.nextInMs(), null, 'nothing is planned any more');
  t.equal(loop.pending().count, 0);
  await loop.stop();
  await store.close();
  await back.close();
});

t.test('R151 R173 200 acknowledges, as any 2xx does, and ends the delivery', async (t) => {
  const receiver = await startResultsReceiver();
  const { put, rows, loop, store, clock } = await workplace(receiver.url);
  for (const status of [200, 201, 204]) {
    receiver.behave(status);
    await put(`with-${status}`);
    await until(async () => (await rows()).length === 0);
  }
  t.equal(receiver.got.length, 3);
  t.match(receiver.got[0]?.headers, { 'content-type': 'application/json' });
  t.equal(clock.nextInMs(), null);
  await loop.stop();
  await store.close();
  await receiver.close();
});

t.test('R152 a 5xx is retried at once, a refusal or a redirect later, and neither is dropped', async (t) => {
  const receiver = await startResultsReceiver();
  for (const [status, firstWaitMs] of [
    [500, 200],
    [503, 200],
    [422, BACKOFF_FIRST_MS],
    [404, BACKOFF_FIRST_MS],
    [302, BACKOFF_FIRST_MS],
  ] as const) {
    const { put, rows, loop, store, clock } = await workplace(receiver.url);
    receiver.behave(status);
    const before = receiver.got.length;
    await put('a');
    await until(async () => (await rows())[0]?.attempts === 1 && clock.nextInMs() !== null);
    t.equal(clock.nextInMs(), firstWaitMs, `after ${status}`);
    t.match((await rows())[0], { lastError: `the receiver answered ${status}` });
    t.equal(receiver.got.length, before + 1, 'asked once');
    receiver.behave(200);
    clock.move(firstWaitMs);
    await until(async () => (await rows()).length === 0);
    await loop.stop();
    await store.close();
  }
  await receiver.close();
});

t.test('a receiver that answers too late is asked again: delivery is at least once', async (t) => {
  const receiver = await startResultsReceiver();
  const { put, rows, loop, store, clock } = await workplace(receiver.url, { timeoutMs: 150 });
  receiver.behave('silent');
  await put('a');
  await until(async () => (await rows())[0]?.attempts === 1 && clock.nextInMs() !== null);
  t.equal((await rows())[0]?.lastError, 'no answer within 150 ms');
  receiver.behave(200);
  clock.move(200);
  await until(async () => (await rows()).length === 0);
  t.equal(receiver.got.length, 2, 'it saw the same result twice');
  t.strictSame(receiver.got[0]?.body, receiver.got[1]?.body);
  await loop.stop();
  await store.close();
  await receiver.close();
});

t.test(
  'the core secret goes to own origins only, and results never over plain http to another machine',
  async (t) => {
    const receiver = await startResultsReceiver();
    const own = await workplace(receiver.url, {
      coreSecret: 'the secret',
      own: [new URL(receiver.url).origin],
    });
    await own.put('a');
    await until(() => receiver.got.length === 1);
    t.equal(receiver.got[0]?.headers['x-core-secret'], 'the secret');
    const foreign = await workplace(receiver.url, {
      coreSecret: 'the secret',
      own: ['https://plane.example'],
    });
    await foreign.put('b');
    await until(() => receiver.got.length === 2);
    t.equal(receiver.got[1]?.headers['x-core-secret'], undefined);
    const plain = await workplace('http://192.0.2.1/results');
    await plain.put('c');
    await until(async () => (await plain.rows())[0]?.attempts === 1);
    t.match((await plain.rows())[0]?.lastError, /plain http/);
    for (const { loop, store } of [own, foreign, plain]) {
      await loop.stop();
      await store.close();
    }
    await receiver.close();
  },
);

t.test('a receiver that hangs does not hold up the results of another one', async (t) => {
  const [silent, well] = [await startResultsReceiver(), await startResultsReceiver()];
  silent.behave('silent');
  const { put, loop, store } = await workplace(silent.url);
  for (let i = 0; i < MAX_PER_RECEIVER * 5; i++) await put(`silent-${i}`);
  await until(() => silent.got.length === MAX_PER_RECEIVER);
  await put('well', well.url);
  await until(() => well.got.length === 1);
  t.equal(silent.got.length, MAX_PER_RECEIVER, 'while the other still hangs');
  await loop.stop();
  await store.close();
  await silent.close();
  await well.close();
});

t.test(
  'a silent receiver holds a bounded number of deliveries, and stopping breaks them off unharmed',
  async (t) => {
    const receiver = await startResultsReceiver();
    receiver.behave('silent');
    const { put, rows, loop, store, folder } = await workplace(receiver.url);
    for (let i = 0; i < MAX_PER_RECEIVER * 3; i++) await put(`call-${i}`);
    await until(() => receiver.got.length === MAX_PER_RECEIVER);
    await new Promise((resolve) => setTimeout(resolve, 100));
    t.equal(receiver.got.length, MAX_PER_RECEIVER);
    t.equal(loop.pending().count, MAX_PER_RECEIVER * 3);
    await loop.stop();
    t.equal((await rows()).length, MAX_PER_RECEIVER * 3, 'all are still owed');
    await store.close();

    receiver.behave(200);
    const reopened = openKeyValueStore(folder);
    const { queue: next } = new ResultsOutbox({
      store: reopened,
      coreSecret: '',
      ownOrigins: [],
      logger: quietLogger(),
      clock: new HandClock(START_MS, 1),
    });
    await next.start();
    t.equal(next.pending().count, MAX_PER_RECEIVER * 3, 'the next start finds them');
    await until(() => next.pending().count === 0);
    t.equal(new Set(receiver.got.map(({ body }) => body.session_id)).size, MAX_PER_RECEIVER * 3);
    await next.stop();
    await reopened.close();
    await receiver.close();
  },
);

t.test('the back-off has full jitter, a ceiling and no end', async (t) => {
  const wait = (attempts: number, isTransient: boolean, random: number) =>
    retryWaitMs(ENDLESS_RETRIES, attempts, { isTransient, retryAfterMs: null }, random);
  t.equal(wait(4, true, 0), 0);
  t.equal(wait(5, true, 0.5), 5_000);
  for (const attempts of [20, 1_000, 1e6]) t.equal(wait(attempts, true, 1), BACKOFF_MAX_MS);
  t.equal(wait(1e6, false, 1), BACKOFF_MAX_MS);
});

t.test('a wall clock that was set back does not park a result for days', async (t) => {
  const receiver = await startResultsReceiver();
  const { loop, clock, store, outbox, rows } = await workplace(receiver.url);
  const row: OutboxRow = {
    callId: 'a',
    sessionId: 's',
    webhookUrl: receiver.url,
    createdAtMs: 0,
    attempts: 9,
    nextAttemptAtMs: clock.nowMs() + 86_400_000,
    lastError: 'receiver unreachable',
  };
  await outbox.add(row, '{}');
  loop.offer(row.callId);
  t.equal(clock.nextInMs(), BACKOFF_MAX_MS);
  clock.move(BACKOFF_MAX_MS);
  await until(async () => (await rows()).length === 0);
  await loop.stop();
  await store.close();
  await receiver.close();
});
