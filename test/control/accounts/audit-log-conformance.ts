import type { Test } from 'tap';
import type { AuditLog, AuditNote } from '../../../src/control/audit/audit-log.ts';

export function note(change: Partial<AuditNote> = {}): AuditNote {
  return {
    actor: { type: 'user', id: 'usr_1', name: 'Asha', role: 'admin', sessionId: 'ses_1' },
    action: 'bot.update',
    target: 'bot:demo',
    requestId: 'request-1',
    ip: '127.0.0.1',
    ...change,
  };
}

/** What every implementation of {@link AuditLog} promises. `open` gives an empty one. */
export async function auditLogConformance(t: Test, open: () => AuditLog): Promise<void> {
  await t.test('an empty log is whole', async (t) => {
    t.same(await open().verify(), { ok: true, checked: 0, head: null, problems: [] });
    t.same(await open().list({ limit: 5 }), { items: [], nextBeforeSeq: null });
  });

  await t.test('entries are chained and listed newest first', async (t) => {
    const log = open();
    for (const target of ['bot:a', 'bot:b', 'bot:c']) await log.record(note({ target }));
    const { items, nextBeforeSeq } = await log.list({ limit: 9 });
    t.same(
      items.map((entry) => [entry.seq, entry.target]),
      [
        [3, 'bot:c'],
        [2, 'bot:b'],
        [1, 'bot:a'],
      ],
    );
    t.equal(nextBeforeSeq, null);
    t.equal(items[0]?.prev_hash, items[1]?.hash);
    t.equal(items[2]?.prev_hash, '0'.repeat(64));
    t.match(await log.verify(), { ok: true, checked: 3, head: { seq: 3, hash: items[0]?.hash } });
  });

  await t.test('writers at the same moment get one chain', async (t) => {
    const log = open();
    await Promise.all(Array.from({ length: 300 }, (_, i) => log.record(note({ target: `bot:${i}` }))));
    t.match(await log.verify(), { ok: true, checked: 300 });
  });

  await t.test('filters narrow the list, and pages go on where they stopped', async (t) => {
    const log = open();
    const actors = ['usr_1', 'usr_2', 'usr_3'];
    for (let i = 0; i < 60; i++) {
      const id = actors[i % 3] ?? '';
      await log.record(
        note({
          actor: { type: 'user', id, name: id, role: 'admin', sessionId: null },
          action: i % 2 === 0 ? 'bot.update' : 'bot.publish',
          target: `bot:${i % 5}`,
        }),
      );
    }
    const all = async (filter: object) => {
      const seqs: number[] = [];
      let beforeSeq: number | null = null;
      do {
        const page = await log.list({ ...filter, limit: 4, ...(beforeSeq === null ? {} : { beforeSeq }) });
        seqs.push(...page.items.map((entry) => entry.seq));
        beforeSeq = page.nextBeforeSeq;
      } while (beforeSeq !== null);
      return seqs;
    };
    const wanted = (keep: (i: number) => boolean) =>
      Array.from({ length: 60 }, (_, i) => i)
        .filter(keep)
        .map((i) => i + 1)
        .reverse();
    t.same(
      await all({}),
      wanted(() => true),
    );
    t.same(
      await all({ actorId: 'usr_2' }),
      wanted((i) => i % 3 === 1),
    );
    t.same(
      await all({ action: 'bot.publish' }),
      wanted((i) => i % 2 === 1),
    );
    t.same(
      await all({ target: 'bot:4', action: 'bot.update' }),
      wanted((i) => i % 5 === 4 && i % 2 === 0),
    );
    t.same(await all({ actorId: 'nobody' }), []);
  });

  await t.test('a period is cut by time', async (t) => {
    const log = open();
    await log.record(note());
    const [entry] = (await log.list({ limit: 1 })).items;
    const at = entry?.at ?? '';
    t.equal((await log.list({ limit: 9, from: at, to: at })).items.length, 1);
    t.equal((await log.list({ limit: 9, from: '9999-01-01T00:00:00.000Z' })).items.length, 0);
    t.equal((await log.list({ limit: 9, to: '2000-01-01T00:00:00.000Z' })).items.length, 0);
  });

  await t.test('secrets are kept as hashes that differ when the secret does', async (t) => {
    const log = open();
    const state = (api_key: string) => ({
      name: 'n',
      api_key,
      nested: [{ headers: { Authorization: 'Bearer abc' }, client_secret: { value: 'deep' } }],
      max_tokens: 5,
      opening: 'plain words stay',
    });
    await log.record(note({ before: state('one-one-one'), after: state('two-two-two') }));
    const { items } = await log.list({ limit: 1 });
    const text = JSON.stringify(items);
    for (const secret of ['one-one-one', 'two-two-two', 'Bearer abc', 'deep']) t.notOk(text.includes(secret));
    const { before, after } = items[0] as unknown as Record<'before' | 'after', ReturnType<typeof state>>;
    t.match(before.api_key, /^hash:[0-9a-f]{16}$/);
    t.not(before.api_key, after.api_key);
    t.same(before.nested, after.nested);
    t.equal(after.opening, 'plain words stay');
    t.equal(after.max_tokens, 5);
    t.equal((await log.verify()).ok, true);
  });

  await t.test('a state that is too large is kept as its size and hash', async (t) => {
    const log = open();
    await log.record(note({ after: { text: 'x'.repeat(100_000) } }));
    const [entry] = (await log.list({ limit: 1 })).items;
    t.match(entry?.after, { bytes: 100_011, sha256: /^[0-9a-f]{64}$/ });
  });
}
