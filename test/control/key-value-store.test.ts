import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { STORE_VERSION } from '../../src/contracts/versions.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { bootId, startTicks } from '../../src/platform/process-identity.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const folder = tempFolder();
let count = 0;
const newFolder = () => join(folder, String(count++));

t.test('what was put is there again when the store is opened anew', async (t) => {
  const path = newFolder();
  const first = openKeyValueStore(path);
  await first.table<{ n: number }>('things').put('a', { n: 1 });
  await first.table<{ n: number }>('things').put(['b', 2], { n: 2 });
  await first.close();
  const second = openKeyValueStore(path);
  const things = second.table<{ n: number }>('things');
  t.strictSame(things.get('a'), { n: 1 });
  t.strictSame(things.get(['b', 2]), { n: 2 });
  t.equal(things.get('c'), undefined);
  t.equal(await things.remove('a'), true);
  t.equal(await things.remove('a'), false);
  t.equal(things.count(), 1);
  await second.close();
});

t.test('any JSON value comes back under any key of words and numbers, in key order', async (t) => {
  const store = openKeyValueStore(newFolder());
  const table = store.table<unknown>('values');
  const word = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => text.length > 0);
  const key = fc.oneof(word, fc.tuple(word, word), fc.tuple(word, fc.integer()));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { selector: (k) => JSON.stringify(k), minLength: 1 }),
      fc.json(),
      async (keys, text) => {
        await Promise.all(keys.map((k, index) => table.put(k, { index, value: JSON.parse(text) })));
        for (const [index, k] of keys.entries()) {
          const found = JSON.stringify(table.get(k));
          if (found !== JSON.stringify({ index, value: JSON.parse(text) }))
            throw new Error(`lost ${JSON.stringify(k)}`);
        }
        const forwards = table.keys({ limit: 10_000 }).map((k) => JSON.stringify(k));
        const backwards = table.keys({ limit: 10_000, reverse: true }).map((k) => JSON.stringify(k));
        if (forwards.join() !== backwards.reverse().join()) throw new Error('the two directions differ');
        if (forwards.length !== keys.length) throw new Error('keys were mixed up');
        for (const k of keys) await table.remove(k);
      },
    ),
    { seed: 7, numRuns: 60 },
  );
  t.equal(table.count(), 0, 'and all of them were removed again');
  await store.close();
});

t.test('ranges begin, end and stop where they are told', async (t) => {
  const store = openKeyValueStore(newFolder());
  const table = store.table<number>('numbers');
  await Promise.all([1, 2, 3, 4, 5].map((n) => table.put(['k', n], n)));
  const values = (options: Parameters<typeof table.range>[0]) =>
    table.range(options).map((entry) => entry.value);
  t.strictSame(values({ limit: 9 }), [1, 2, 3, 4, 5]);
  t.strictSame(values({ limit: 2, reverse: true }), [5, 4]);
  t.strictSame(values({ limit: 9, start: ['k', 2], end: ['k', 4] }), [2, 3]);
  t.strictSame(values({ limit: 9, start: ['k', 4], exclusiveStart: true, reverse: true }), [3, 2, 1]);
  await store.close();
});

t.test('a transaction is all or nothing, and one that throws leaves its neighbours alone', async (t) => {
  const store = openKeyValueStore(newFolder());
  const table = store.table<number>('numbers');
  const [failed, added, seen] = await Promise.allSettled([
    store.transaction((writes) => {
      writes.put(table, 'lost', 1);
      throw new Error('changed my mind');
    }),
    store.transaction((writes) => {
      writes.put(table, 'kept', 1);
      writes.put(table, 'removed', 1);
      writes.remove(table, 'removed');
      return writes.get(table, 'kept');
    }),
    store.transaction((writes) => writes.get(table, 'kept')),
  ]);
  t.match(failed, { status: 'rejected', reason: { message: 'changed my mind' } });
  t.match(added, { status: 'fulfilled', value: 1 });
  t.match(seen, { status: 'fulfilled', value: 1 }, 'a later one sees what an earlier one wrote');
  t.strictSame(table.keys({ limit: 9 }), ['kept']);

  const unfit = await Promise.allSettled([
    table.put('x'.repeat(2_000), 1),
    (table as unknown as { put: (k: string, v: unknown) => Promise<void> }).put('none', undefined),
    table.put('fine', 1),
  ]);
  t.strictSame(
    unfit.map((outcome) => outcome.status),
    ['rejected', 'rejected', 'fulfilled'],
  );
  await store.close();
});

t.test('increments that race lose none', async (t) => {
  const store = openKeyValueStore(newFolder());
  const table = store.table<number>('counter');
  await Promise.all(
    Array.from({ length: 1_000 }, () =>
      store.transaction((writes) => writes.put(table, 'n', (writes.get(table, 'n') ?? 0) + 1)),
    ),
  );
  t.equal(table.get('n'), 1_000);
  await store.close();
});

t.test('writers beyond the bound of the queue are refused, the queued ones are written', async (t) => {
  const store = openKeyValueStore(newFolder());
  const table = store.table<number>('many');
  const outcomes = await Promise.allSettled(Array.from({ length: 10_050 }, (_, i) => table.put(i, i)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.equal(refused.length, 50);
  t.match(refused[0], { reason: { code: 'store_unavailable' } });
  t.equal(table.count(), 10_000);
  await store.close();
});

t.test('closing writes what is queued; afterwards everything is refused and nothing crashes', async (t) => {
  const path = newFolder();
  const store = openKeyValueStore(path);
  const table = store.table<number>('numbers');
  const written = Promise.all([1, 2, 3].map((n) => table.put(n, n)));
  await store.close();
  await store.close();
  await written;
  await t.rejects(table.put('late', 1), { code: 'store_unavailable' });
  await t.rejects(store.probe(), { code: 'store_unavailable' });
  t.throws(() => table.get(1), { code: 'store_unavailable' });
  t.throws(() => table.range({ limit: 1 }), { code: 'store_unavailable' });
  const again = openKeyValueStore(path);
  t.equal(again.table('numbers').count(), 3);
  await again.close();
});

t.test('a store of another version is refused with a sentence and left as it is', async (t) => {
  const path = newFolder();
  const store = openKeyValueStore(path);
  const future = { store: STORE_VERSION + 1, created_by: '99.0.0', created_at: '2030-01-01T00:00:00.000Z' };
  await store.table('meta').put('version', future);
  await store.close();
  t.throws(() => openKeyValueStore(path), {
    code: 'unknown_version',
    message: new RegExp(`version ${STORE_VERSION + 1}`),
  });
  t.throws(() => openKeyValueStore(path), { code: 'unknown_version' }, 'and the refusal holds no lock');
});

t.test('a store that another process has open is refused; one whose owner died is taken over', async (t) => {
  const path = newFolder();
  const store = openKeyValueStore(path);
  t.throws(() => openKeyValueStore(path), { code: 'store_unavailable', message: /this process/ });
  await store.close();

  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  const pid = other.pid ?? 0;
  const mark = readdirSync(path).find((name) => name.startsWith('owner.'));
  t.equal(mark, undefined, 'a closed store has no owner');
  const boot = bootId();
  writeFileSync(join(path, `owner.${pid}.${startTicks(pid)}.${boot}`), '');
  t.throws(() => openKeyValueStore(path), {
    code: 'store_unavailable',
    message: new RegExp(`process ${pid}; stop`),
  });
  t.equal(
    readdirSync(path).filter((name) => name.startsWith('owner.')).length,
    1,
    'the owner keeps its mark',
  );

  const gone = new Promise((resolve) => other.on('exit', resolve));
  other.kill('SIGKILL');
  await gone;
  const taken = openKeyValueStore(path);
  t.notOk(existsSync(join(path, `owner.${pid}.${startTicks(pid)}.${boot}`)));
  await taken.close();
  writeFileSync(join(path, `owner.${process.pid}.1.${boot}`), '', { flag: 'w' });
  const reused = openKeyValueStore(path);
  t.pass('the same pid with another start time is another process');
  await reused.close();
});

t.test('a full disk refuses writes with a sentence, tears nothing and stops no process', async (t) => {
  const child = new URL(
    import.meta.url.endsWith('.ts') ? './fixtures/fill-store.ts' : './fixtures/fill-store.js',
    import.meta.url,
  );
  // A file-size limit stands for the full disk; the signal that comes with it is ignored, as a full disk sends none.
  const { stdout, code } = await runToEnd('sh', [
    '-c',
    'trap "" XFSZ; ulimit -f 4096; exec "$0" "$@"',
    process.execPath,
    fileURLToPath(child),
    newFolder(),
  ]);
  t.equal(code, 0, stdout);
  t.match(JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}'), {
    refusedAs: ['store_unavailable'],
    lostAcknowledged: 0,
    tornPairs: 0,
    readsAfterwards: true,
  });
});

function runToEnd(command: string, args: string[]): Promise<{ stdout: string; code: number | null }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.on('close', (code) => resolve({ stdout, code }));
  });
}
