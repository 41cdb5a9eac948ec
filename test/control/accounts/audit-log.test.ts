import { join } from 'node:path';
import t from 'tap';
import { type AuditEntry, hashOf } from '../../../src/control/audit/audit-entry.ts';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { auditTables, verifyChain } from '../../../src/control/audit/verify-chain.ts';
import { isoNow } from '../../../src/platform/clock.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { auditLogConformance, note } from './audit-log-conformance.ts';

const folder = tempFolder();
const opened: KeyValueStore[] = [];
const freshStore = () => {
  const store = openKeyValueStore(join(folder, String(opened.length)));
  opened.push(store);
  return store;
};
t.teardown(async () => {
  for (const store of opened) await store.close();
});

t.test('the LMDB audit log keeps the promises of an audit log', (t) =>
  auditLogConformance(t, () => createAuditLog(freshStore(), isoNow)),
);

/** A log of `count` entries and its rows, to be tampered with below the log's own functions. */
async function written(count: number) {
  const store = freshStore();
  const log = createAuditLog(store, isoNow);
  await Promise.all(Array.from({ length: count }, (_, i) => log.record(note({ after: { i } }))));
  const { entries, head } = auditTables(store);
  const kinds = async () => (await verifyChain(store)).problems.map(({ kind, seq }) => `${kind} ${seq}`);
  const at = (seq: number) => entries.get(seq) as AuditEntry;
  return { store, log, entries, head, kinds, at };
}

t.test('an edited entry is found, whichever field it is', async (t) => {
  const changes: Record<string, (entry: AuditEntry) => AuditEntry> = {
    at: (entry) => ({ ...entry, at: '2001-01-01T00:00:00.000Z' }),
    actor: (entry) => ({ ...entry, actor: { ...entry.actor, name: 'Somebody else' } }),
    action: (entry) => ({ ...entry, action: 'bot.read' }),
    target: (entry) => ({ ...entry, target: 'bot:other' }),
    after: (entry) => ({ ...entry, after: { i: 99 } }),
    before: (entry) => ({ ...entry, before: {} }),
    request: (entry) => ({ ...entry, request_id: null }),
    id: (entry) => ({ ...entry, id: 'aud_0' }),
    hash: (entry) => ({ ...entry, hash: 'f'.repeat(64) }),
  };
  const { entries, kinds, at } = await written(5);
  t.same(await kinds(), []);
  for (const [field, change] of Object.entries(changes)) {
    const kept = at(3);
    await entries.put(3, change(kept));
    t.ok((await kinds()).includes('altered 3'), field);
    await entries.put(3, kept);
  }
  t.same(await kinds(), [], 'whole again');
});

t.test('an edited entry whose hash was made to fit breaks the next one', async (t) => {
  const { entries, kinds, at } = await written(5);
  const forged = { ...at(3), action: 'bot.read' };
  await entries.put(3, { ...forged, hash: hashOf(forged) });
  t.same(await kinds(), ['altered 4']);
});

t.test('a deleted entry is found', async (t) => {
  const { entries, kinds } = await written(5);
  await entries.remove(1);
  t.same(await kinds(), ['missing 1']);
  await entries.remove(3);
  t.same(await kinds(), ['missing 1', 'missing 3']);
});

t.test('entries in another order are found', async (t) => {
  const { entries, kinds, at } = await written(5);
  const [second, third] = [at(2), at(3)];
  await entries.put(2, third);
  await entries.put(3, second);
  t.same((await kinds()).slice(0, 2), ['moved 2', 'moved 3']);
  const renumbered = (entry: AuditEntry, seq: number) => ({ ...entry, seq, hash: hashOf({ ...entry, seq }) });
  await entries.put(2, renumbered(third, 2));
  await entries.put(3, renumbered(second, 3));
  t.ok((await kinds()).includes('altered 2'), 'renumbered ones, too');
});

t.test('a cut-off end is found, and one that was made up is, too', async (t) => {
  const { entries, head, kinds, at } = await written(5);
  const last = at(5);
  await entries.remove(5);
  t.same(await kinds(), ['truncated 5']);
  await head.put('head', { seq: 4, hash: 'f'.repeat(64) });
  t.same(await kinds(), ['head_wrong 4']);
  await head.remove('head');
  t.same(await kinds(), ['head_wrong 4']);
  await head.put('head', { seq: 4, hash: at(4).hash });
  t.same(await kinds(), []);
  await entries.put(5, last);
  t.same(await kinds(), ['head_wrong 5']);
});

t.test('a log that was written anew as a whole is found by an anchor', async (t) => {
  const honest = await written(5);
  const { head: anchor } = await honest.log.verify();
  const forged = await written(5);
  t.equal((await forged.log.verify()).ok, true, 'the chain alone cannot tell');
  const proof = await forged.log.verify({ anchor: anchor ?? { seq: 0, hash: '' } });
  t.match(proof, { ok: false, problems: [{ seq: 5, kind: 'anchor_differs' }] });
  t.equal((await honest.log.verify({ anchor: anchor ?? { seq: 0, hash: '' } })).ok, true);
  await honest.log.record(note());
  t.equal((await honest.log.verify({ anchor: anchor ?? { seq: 0, hash: '' } })).ok, true, 'and later');
});

t.test('a check goes on while entries are written', async (t) => {
  const { log } = await written(1_000);
  const check = log.verify();
  const writing = Promise.all(Array.from({ length: 500 }, () => log.record(note())));
  t.match(await check, { ok: true, checked: 1_000 });
  await writing;
  t.match(await log.verify(), { ok: true, checked: 1_500 });
});

t.test('an entry commits with the write that it tells of, or not at all', async (t) => {
  const { store, log } = await written(1);
  const things = store.table<string>('things');
  await store.transaction((writes) => {
    writes.put(things, 'a', 'b');
    log.append(writes, note({ action: 'thing.put' }));
  });
  await t.rejects(
    store.transaction((writes) => {
      writes.put(things, 'a', 'c');
      log.append(writes, note({ action: 'thing.put_again' }));
      throw new Error('no');
    }),
  );
  t.equal(things.get('a'), 'b');
  t.match(await log.list({ limit: 9 }), { items: { length: 2 } });
  t.equal((await log.verify()).ok, true);
});

t.test('a filter that matches nothing among many entries ends by pages', async (t) => {
  const { log } = await written(2_500);
  const from = '9999-01-01T00:00:00.000Z';
  let pages = 0;
  let beforeSeq: number | null = null;
  do {
    const page = await log.list({ limit: 50, from, ...(beforeSeq === null ? {} : { beforeSeq }) });
    t.same(page.items, []);
    beforeSeq = page.nextBeforeSeq;
    pages++;
  } while (beforeSeq !== null && pages < 10);
  t.equal(pages, 3);
});
