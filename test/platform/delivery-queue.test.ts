import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AppError } from '../../src/platform/app-error.ts';
import { type RetryPolicy, retryWaitMs } from '../../src/platform/delivery-queue/retry-policy.ts';
import {
  type DeliveryOutcome,
  type DeliveryProgress,
  DeliveryQueue,
} from '../../src/platform/delivery-queue.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { HandClock } from '../harness/hand-clock.ts';

const START_MS = 1_800_000_000_000;
const STEP_MS = 1_000;
const LONGEST_MS = 60_000;
const STORE_RETRY_MS = 5_000;

const RETRY: RetryPolicy = {
  quickWaitsMs: [10],
  stepsMs: [STEP_MS, 4 * STEP_MS],
  givesUp: false,
  jitter: [1, 1],
  longestWaitMs: LONGEST_MS,
};

interface Row extends DeliveryProgress {
  lane: string;
  position: number;
  receiver: string;
  /** A user of the queue may send anything; here it is a file that is only named. */
  file: string;
}

type Outcome = DeliveryOutcome<null>;
const DELIVERED: Outcome = { kind: 'delivered', detail: null };

function failure(change: { isTransient?: boolean; retryAfterMs?: number } = {}): Outcome {
  return { kind: 'failed', error: 'away', isTransient: true, retryAfterMs: null, detail: null, ...change };
}

/** An attempt under way; it ends when `end` is called. */
interface Attempt {
  id: string;
  row: Row;
  end(outcome: Outcome): Promise<void>;
}

/** A queue with a clock that is moved by hand, and receivers that do what they are told. */
function workplace(
  t: Test,
  options: { folder?: string; retry?: Partial<RetryPolicy>; startMs?: number } = {},
) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'trunkline-queue-'));
  const store = openKeyValueStore(folder);
  const clock = new HandClock(options.startMs ?? START_MS, 1);
  const open: Attempt[] = [];
  const tried: string[] = [];
  const after: string[] = [];
  let fault: Error | null = null;
  const breakable: KeyValueStore = Object.assign(Object.create(store), {
    table: store.table.bind(store),
    transaction: (action: Parameters<KeyValueStore['transaction']>[0]) =>
      fault ? Promise.reject(fault) : store.transaction(action),
  });
  const queue = new DeliveryQueue<Row>({
    name: 'thing',
    table: 'things',
    keyOf: ({ lane, position }) => [lane, position],
    routeOf: ({ lane, position, receiver }) => ({ lane, position, receiver }),
    factsOf: ({ lane, position }) => ({ lane, position }),
    bounds: { inFlight: 6, perReceiver: 2 },
    retry: { ...RETRY, ...options.retry },
    attempt(row, signal) {
      const id = idOf(row);
      tried.push(id);
      return new Promise((resolve) => {
        const end = async (outcome: Outcome) => {
          open.splice(open.indexOf(attempt), 1);
          resolve(outcome);
          await settled();
        };
        const attempt = { id, row, end };
        open.push(attempt);
        signal.addEventListener('abort', () => resolve(failure()));
      });
    },
    afterwards: (row, { kind }) => void after.push(`${idOf(row)} ${kind}`),
    store: breakable,
    logger: createLogger({ level: 'silent', role: 'test' }),
    clock,
  });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await queue.stop();
    await store.close();
  };
  t.teardown(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  const row = (lane: string, position: number, receiver = 'r', change: Partial<Row> = {}): Row => ({
    lane,
    position,
    receiver,
    file: `/data/${lane}/${position}.wav`,
    createdAtMs: clock.nowMs(),
    attempts: 0,
    nextAttemptAtMs: clock.nowMs(),
    lastError: null,
    ...change,
  });
  return {
    folder,
    store,
    clock,
    queue,
    open,
    tried,
    after,
    close,
    row,
    async put(...rows: Row[]) {
      await queue.transaction(({ put }) => rows.forEach((each) => void put(each)));
    },
    async remove(...keys: [string, number][]) {
      await queue.transaction((rows) => keys.forEach((key) => void rows.remove(key)));
    },
    /** What is under way, in the order of its beginning. */
    underWay: () => open.map(({ id }) => id),
    async end(id: string, outcome: Outcome) {
      const attempt = open.find((each) => each.id === id);
      if (!attempt) throw new Error(`${id} is not under way`);
      await attempt.end(outcome);
    },
    async pass(ms: number) {
      clock.move(ms);
      await settled();
    },
    breakDisk(how: Error | null) {
      fault = how;
    },
  };
}

function idOf({ lane, position }: Row): string {
  return `${lane}${position}`;
}

/** The commits of the store come with the next turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
}

t.test('what is written is on disk before anyone is told, and goes at once', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  await f.put(f.row('a', 1));
  t.strictSame(f.underWay(), ['a1']);
  t.match(f.open[0]?.row, { file: '/data/a/1.wav' });
  t.ok(f.queue.rows.get(['a', 1]));
  t.ok(f.queue.isActive);
  await f.end('a1', DELIVERED);
  t.equal(f.queue.rows.get(['a', 1]), undefined);
  t.strictSame(f.after, ['a1 delivered']);
  t.strictSame(f.queue.pending(), { count: 0, lanes: 0, oldestSeconds: 0, refused: 0 });
  t.equal(f.queue.isActive, false);
  t.equal(f.clock.nextInMs(), null, 'nothing is planned any more');
});

t.test('rows of one lane go one at a time and in order, whatever fails', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  await f.put(f.row('a', 3), f.row('a', 1));
  await f.put(f.row('a', 2), f.row('b', 1));
  t.strictSame(f.underWay(), ['a1', 'b1'], 'a lane that waits does not hold up another');
  await f.end('b1', DELIVERED);
  await f.end('a1', failure());
  t.strictSame(f.underWay(), [], 'the second does not go while the first waits');
  await f.pass(10);
  await f.end('a1', DELIVERED);
  t.strictSame(f.underWay(), ['a2']);
  await f.put(f.row('a', 0));
  t.strictSame(f.underWay(), ['a2'], 'not even a lower one goes beside one under way');
  await f.end('a2', failure());
  t.strictSame(f.underWay(), ['a0'], 'but before it is tried again');
  await f.end('a0', { kind: 'given_up', error: 'nobody wants it', detail: null });
  t.strictSame(f.underWay(), []);
  await f.pass(10);
  await f.end('a2', DELIVERED);
  await f.end('a3', DELIVERED);
  t.strictSame(f.tried, ['a1', 'b1', 'a1', 'a2', 'a0', 'a2', 'a3']);
  t.ok(f.after.includes('a0 given_up'), 'what is given up holds up nothing');
});

t.test('attempts under way are bounded in all and per receiver, and receivers take turns', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  await f.put(...[1, 2, 3, 4, 5].map((n) => f.row(`slow-${n}`, 1, 'slow')));
  t.equal(f.open.length, 2, 'to one receiver');
  await f.put(f.row('quick', 1, 'quick'));
  t.equal(f.open.length, 3, 'another one is served all the same');
  await f.put(...[1, 2, 3, 4, 5].map((n) => f.row(`more-${n}`, 1, `more-${n}`)));
  t.equal(f.open.length, 6, 'in all');
  const waiting = f.queue.pending().count - 6;
  t.equal(waiting, 5);
  await f.end('slow-11', failure());
  t.equal(f.underWay().at(-1), 'slow-31', 'the one that waits longest');
  await f.end('slow-21', failure());
  t.equal(f.underWay().at(-1), 'more-41', 'then those that were never served');
  await f.end('more-11', DELIVERED);
  t.equal(f.underWay().at(-1), 'more-51');
  await f.end('more-21', DELIVERED);
  t.equal(f.underWay().at(-1), 'slow-41');
});

t.test('waits follow the policy', async (t) => {
  const wait = (failures: number, isTransient: boolean, retryAfterMs: number | null, change = {}) =>
    retryWaitMs({ ...RETRY, ...change }, failures, { isTransient, retryAfterMs }, 0.25);
  t.strictSame(
    [1, 2, 3, 4, 99].map((n) => wait(n, true, null)),
    [10, 1_000, 4_000, 4_000, 4_000],
  );
  t.strictSame(
    [1, 2, 99].map((n) => wait(n, false, null)),
    [1_000, 4_000, 4_000],
    'a refusal waits longer',
  );
  t.strictSame(
    [2, 3, 4].map((n) => wait(n, true, null, { givesUp: true })),
    [1_000, 4_000, null],
  );
  t.equal(wait(2, true, null, { jitter: [0, 1] }), 250);
  t.equal(wait(2, true, null, { jitter: [0.8, 1.2] }), 900);
  t.equal(wait(1, true, 30_000), 30_000, 'a receiver may ask for more');
  t.equal(wait(3, true, 5), 4_000, 'never for less');
  t.equal(wait(1, true, 1e15), LONGEST_MS, 'and not for ever');
});

t.test('a failure is noted and planned, and the last one that the policy allows gives up', async (t) => {
  const f = workplace(t, { retry: { givesUp: true, quickWaitsMs: [], stepsMs: [STEP_MS] } });
  await f.queue.start();
  await f.put(f.row('a', 1));
  await f.end('a1', failure({ retryAfterMs: 7_000 }));
  t.match(f.queue.rows.get(['a', 1]), {
    attempts: 1,
    lastError: 'away',
    nextAttemptAtMs: START_MS + 7_000,
  });
  t.equal(f.clock.nextInMs(), 7_000);
  await f.pass(6_999);
  t.strictSame(f.underWay(), []);
  await f.pass(1);
  t.match(f.queue.pending(), { count: 1, lanes: 1, oldestSeconds: 7, refused: 1 });
  await f.end('a1', failure());
  t.strictSame(f.after, ['a1 failed', 'a1 given_up']);
  t.equal(f.queue.pending().count, 0);
});

t.test('a held row goes when it is offered, and at the next start in any case', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  await f.queue.transaction(({ put }) => put(f.row('a', 1), { isPaused: true }));
  await f.queue.transaction(({ put }) => put(f.row('b', 1), { isPaused: true }));
  t.strictSame(f.underWay(), []);
  f.queue.offer(['a', 1]);
  f.queue.offer(['a', 1]);
  t.strictSame(f.underWay(), ['a1']);
  await f.close();
  const next = workplace(t, { folder: f.folder });
  await next.queue.start();
  t.strictSame(next.underWay(), ['a1', 'b1']);
});

t.test('what is removed is not sent, and what is replaced under way is sent anew', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  await f.put(f.row('a', 1), f.row('a', 2), f.row('a', 3), f.row('b', 1));
  await f.remove(['a', 1], ['a', 2]);
  await f.end('a1', failure());
  t.strictSame(f.after, [], 'nothing is noted of a row that is gone');
  t.equal(f.queue.rows.get(['a', 1]), undefined);
  t.strictSame(f.underWay(), ['b1', 'a3']);
  await f.put(f.row('b', 1, 'r', { file: '/data/other.wav' }));
  await f.end('b1', DELIVERED);
  t.match(f.open.at(-1)?.row, { lane: 'b', file: '/data/other.wav' });
  await f.end('b1', DELIVERED);
  t.equal(f.queue.rows.get(['b', 1]), undefined);
  t.notOk(f.tried.includes('a2'));
});

t.test('stopping breaks off what is under way and keeps it; the next start reads everything', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  const rows = Array.from({ length: 450 }, (_, n) => f.row(`lane-${n % 150}-`, n, `r${n % 9}`));
  await f.put(...rows);
  const failed = f.open[0]?.id ?? '';
  await f.end(failed, failure({ isTransient: false }));
  await f.queue.stop();
  t.equal(f.queue.pending().count, 450);
  f.queue.wake();
  const triedBefore = f.tried.length;
  await f.close();
  t.equal(f.tried.length, triedBefore);

  const next = workplace(t, { folder: f.folder });
  t.strictSame(next.tried, []);
  await next.queue.start();
  t.match(next.queue.pending(), { count: 450, lanes: 150, refused: 1 });
  while (next.queue.pending().count > 0) {
    const [attempt] = next.open;
    if (attempt) await attempt.end(DELIVERED);
    else await next.pass(next.clock.nextInMs() ?? 0);
  }
  t.equal(new Set(next.tried).size, 450);
  t.equal(next.tried.length, 450);
  t.ok(next.tried.indexOf(failed) > 100, 'the one that was refused kept its wait');
});

t.test('a full disk loses nothing, and what could not be noted is tried again later', async (t) => {
  const f = workplace(t);
  await f.queue.start();
  const full = new AppError('store_unavailable', 'the disk is full');
  await f.put(f.row('a', 1), f.row('a', 2));
  f.breakDisk(full);
  await t.rejects(f.put(f.row('b', 1)), { code: 'store_unavailable' });
  t.equal(f.queue.pending().count, 2, 'what was refused is not sent either');
  await f.end('a1', DELIVERED);
  t.equal(f.clock.nextInMs(), STORE_RETRY_MS);
  t.strictSame(f.underWay(), [], 'the next one waits, for order');
  await f.pass(STORE_RETRY_MS);
  await f.end('a1', failure());
  t.equal(f.clock.nextInMs(), STORE_RETRY_MS, 'a failure that cannot be noted makes no busy loop');
  f.breakDisk(null);
  await f.pass(STORE_RETRY_MS);
  await f.end('a1', DELIVERED);
  await f.end('a2', DELIVERED);
  t.strictSame(f.tried, ['a1', 'a1', 'a1', 'a2'], 'at least once');
  t.equal(f.queue.rows.count(), 0);
});

t.test('an attempt or what follows it may throw, and the queue goes on', async (t) => {
  const f = workplace(t);
  const queue = new DeliveryQueue<Row>({
    name: 'thing',
    table: 'others',
    keyOf: ({ lane }) => lane,
    routeOf: ({ lane, position, receiver }) => ({ lane, position, receiver }),
    factsOf: () => ({}),
    bounds: { inFlight: 1, perReceiver: 1 },
    retry: RETRY,
    attempt: async ({ lane, attempts }) => {
      if (lane === 'throws') throw new Error('a fault of the program');
      return attempts === 0 ? failure() : DELIVERED;
    },
    afterwards: () => Promise.reject(new Error('another one')),
    store: f.store,
    logger: createLogger({ level: 'silent', role: 'test' }),
    clock: f.clock,
  });
  await queue.start();
  await queue.transaction(({ put }) => {
    put(f.row('throws', 1));
    put(f.row('fine', 1));
  });
  await settled();
  await f.pass(10);
  await settled();
  t.equal(queue.rows.get('fine'), undefined);
  t.equal(f.clock.nextInMs(), STORE_RETRY_MS - 10);
  await queue.stop();
});

t.test('a wall clock that was set back parks nothing', async (t) => {
  const f = workplace(t);
  await f.put(f.row('far', 1, 'r', { nextAttemptAtMs: START_MS + 365 * 86_400_000 }));
  await f.queue.start();
  t.equal(f.clock.nextInMs(), LONGEST_MS, 'a time of another clock counts as the longest wait');
  await f.pass(LONGEST_MS);
  await f.end('far1', failure({ isTransient: false }));
  f.clock.setBack(365 * 86_400_000);
  await f.pass(STEP_MS);
  t.strictSame(f.underWay(), ['far1'], 'while it runs, the alarm that rings finds everything due');
});

/** A small generator of numbers from a seed, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) >>> 0;
    return (state >>> 8) % below;
  };
}

for (let seed = 1; seed <= 12; seed++) {
  t.test(`seed ${seed}: every row is delivered, in order, and none after its removal`, async (t) => {
    const pick = randomOf(seed);
    let f = workplace(t);
    await f.queue.start();
    const owed = new Map<string, Row>();
    const removed = new Set<string>();
    const delivered: Row[] = [];
    const [lanes, receivers] = [3 + pick(6), 1 + pick(4)];
    const nextOf = Array.from({ length: lanes }, () => 0);

    const endOne = async () => {
      const attempt = f.open[pick(Math.max(1, f.open.length))];
      if (!attempt) return;
      if (!owed.has(attempt.id) && !removed.has(attempt.id))
        t.fail(`${attempt.id} goes again after its delivery`);
      const isBroken = pick(9) === 0;
      if (isBroken) f.breakDisk(new AppError('store_unavailable', 'full'));
      const isTaken = pick(3) > 0;
      if (isTaken) delivered.push(attempt.row);
      if (isTaken && !isBroken) owed.delete(attempt.id);
      await attempt.end(isTaken ? DELIVERED : failure({ isTransient: pick(2) === 0 }));
      f.breakDisk(null);
    };
    const steps: (() => Promise<void>)[] = [
      async () => {
        const rows = Array.from({ length: 1 + pick(4) }, () => {
          const lane = pick(lanes);
          nextOf[lane] = (nextOf[lane] ?? 0) + 1;
          return f.row(`l${lane}-`, nextOf[lane] ?? 0, `r${lane % receivers}`);
        });
        for (const row of rows) owed.set(idOf(row), row);
        await f.put(...rows);
      },
      endOne,
      endOne,
      endOne,
      () => f.pass(pick(3_000)),
      async () => {
        const row = [...owed.values()][pick(Math.max(1, owed.size))];
        if (!row) return;
        await f.remove([row.lane, row.position]);
        owed.delete(idOf(row));
        removed.add(idOf(row));
        const isUnderWay = f.underWay().includes(idOf(row));
        const before = f.tried.length;
        await f.pass(LONGEST_MS);
        const isTriedAgain = f.tried.slice(before).includes(idOf(row));
        if (isTriedAgain && !isUnderWay) t.fail(`${idOf(row)} was sent after its removal`);
      },
      async () => {
        f.clock.setBack(pick(1_000_000));
        await f.pass(1);
      },
      async () => {
        if (pick(4) > 0) return;
        await f.close();
        f = workplace(t, { folder: f.folder, startMs: f.clock.nowMs() });
        await f.queue.start();
      },
    ];
    for (let step = 0; step < 150; step++) {
      await steps[pick(steps.length)]?.();
      const perReceiver = Map.groupBy(f.open, ({ row }) => row.receiver);
      if (f.open.length > 6 || [...perReceiver.values()].some((attempts) => attempts.length > 2)) {
        t.fail(`step ${step}: too many under way`);
      }
      if (new Set(f.open.map(({ row }) => row.lane)).size < f.open.length)
        t.fail(`step ${step}: a lane twice`);
    }
    for (let rounds = 0; owed.size > 0 && rounds < 5_000; rounds++) {
      if (f.open.length > 0) await endOne();
      else await f.pass(f.clock.nextInMs() ?? STEP_MS);
    }
    t.equal(owed.size, 0, 'nothing was lost');
    t.equal(f.queue.rows.count(), 0);
    for (const [lane, rows] of Map.groupBy(delivered, (row) => row.lane)) {
      const isInOrder = rows.every((row, at) => at === 0 || row.position >= (rows[at - 1]?.position ?? 0));
      t.ok(isInOrder, `lane ${lane} came in order`);
    }
  });
}
