import type { Test } from 'tap';
import type { BotContent } from '../../src/contracts/bot.ts';
import type { BotStore } from '../../src/control/bots/bot-store.ts';
import { MAX_VERSIONS } from '../../src/control/bots/lmdb-bot-store.ts';
import { testBot } from '../harness/control.ts';

const STAMP = { nowIso: '2026-02-01T00:00:00.000Z', by: 'Asha' };

function content(change: Partial<BotContent> = {}): BotContent {
  const { bot_id, created_at, updated_at, ...fields } = testBot();
  return { ...fields, ...change };
}

/** What every implementation of {@link BotStore} promises. `open` gives an empty one. */
export async function botStoreConformance(t: Test, open: () => BotStore): Promise<void> {
  await t.test('an empty store says so and knows no bot', async (t) => {
    const bots = open();
    t.equal(await bots.isEmpty(), true);
    t.equal(await bots.get('clinic'), null);
    t.equal(await bots.find('clinic'), null);
    t.strictSame(await bots.list({ limit: 9 }), []);
    t.equal(await bots.version('clinic', 1), null);
  });

  await t.test('a bot comes back as it was put, and a second put replaces it', async (t) => {
    const bots = open();
    await bots.put(testBot());
    t.equal(await bots.isEmpty(), false);
    t.strictSame(await bots.get('clinic'), { ...testBot(), version: 1, widget_api_key: null });
    await bots.put(testBot({ name: 'Clinic at night' }));
    t.equal((await bots.get('clinic'))?.name, 'Clinic at night');
    t.equal(await bots.get('clinic2'), null);
    t.match(await bots.find('clinic'), {
      version: 2,
      published_version: 2,
      draft: { name: 'Clinic at night' },
    });
  });

  await t.test('a new bot is a draft; an id is given once', async (t) => {
    const bots = open();
    const created = await bots.create('clinic', { content: content(), note: 'first' }, STAMP);
    t.match(created, {
      bot_id: 'clinic',
      revision: 1,
      version: 1,
      published_version: null,
      widget_api_key: null,
      created_at: STAMP.nowIso,
    });
    t.strictSame(await bots.find('clinic'), created);
    t.equal(await bots.get('clinic'), null, 'calls do not get it');
    t.equal(await bots.create('clinic', { content: content() }, STAMP), null);
    t.strictSame(await bots.version('clinic', 1), {
      bot_id: 'clinic',
      version: 1,
      content: content(),
      saved_at: STAMP.nowIso,
      saved_by: 'Asha',
      note: 'first',
    });
  });

  await t.test('calls get what was published, whatever becomes of the draft', async (t) => {
    const bots = open();
    await bots.create('clinic', { content: content(), publish: 'draft' }, STAMP);
    const edited = await bots.edit('clinic', () => ({ content: content({ name: 'Draft' }) }), STAMP);
    t.match(edited, { revision: 2, version: 2, published_version: 1 });
    t.match(await bots.get('clinic'), { name: 'Clinic', version: 1 });
    await bots.edit('clinic', () => ({ publish: 'draft' }), STAMP);
    t.match(await bots.get('clinic'), { name: 'Draft', version: 2 });
    await bots.edit('clinic', () => ({ publish: { version: 1, content: content() } }), STAMP);
    t.match(await bots.get('clinic'), { name: 'Clinic', version: 1 });
    t.match(await bots.find('clinic'), { version: 2, published_version: 1, draft: { name: 'Draft' } });
  });

  await t.test(
    'a change sees the standing bot, and one that throws leaves everything as it was',
    async (t) => {
      const bots = open();
      const created = await bots.create('clinic', { content: content() }, STAMP);
      const refuse = () => {
        throw new Error('no');
      };
      await t.rejects(bots.edit('clinic', refuse, STAMP), /no/);
      await t.rejects(bots.remove('clinic', refuse, STAMP), /no/);
      t.strictSame(await bots.find('clinic'), created);
      t.equal(await bots.edit('nobody', () => ({}), STAMP), null);
      t.equal(await bots.remove('nobody', () => undefined, STAMP), false);
      const bump = (name: string) =>
        bots.edit(
          'clinic',
          (standing) => ({ content: content({ name: standing.draft.name + name }) }),
          STAMP,
        );
      await Promise.all([bump('a'), bump('b')]);
      t.match(await bots.find('clinic'), { draft: { name: 'Clinicab' }, version: 3 }, 'none is lost');
    },
  );

  await t.test('a widget key counts at once, and versions do not carry it', async (t) => {
    const bots = open();
    await bots.create('clinic', { content: content(), publish: 'draft' }, STAMP);
    await bots.edit('clinic', () => ({ content: content({ name: 'Draft' }) }), STAMP);
    await bots.edit('clinic', () => ({ widgetApiKey: 'wk_1' }), STAMP);
    t.match(await bots.get('clinic'), { widget_api_key: 'wk_1', name: 'Clinic' });
    t.match(await bots.find('clinic'), { widget_api_key: 'wk_1', version: 2 });
    t.notMatch(await bots.version('clinic', 2), { content: { widget_api_key: String } });
    await bots.edit('clinic', () => ({ publish: 'draft' }), STAMP);
    t.match(await bots.get('clinic'), { widget_api_key: 'wk_1', name: 'Draft' });
  });

  await t.test('versions come newest first, in pages, and are bounded; the live one stays', async (t) => {
    const bots = open();
    await bots.create('clinic', { content: content(), publish: 'draft' }, STAMP);
    await bots.create('clinic2', { content: content() }, STAMP);
    for (let round = 0; round < MAX_VERSIONS + 4; round++) {
      await bots.edit('clinic', () => ({ content: content({ name: String(round) }) }), STAMP);
    }
    const page = await bots.versions('clinic', { limit: 3 });
    const last = MAX_VERSIONS + 5;
    t.strictSame(
      page.map((entry) => entry.version),
      [last, last - 1, last - 2],
    );
    const next = await bots.versions('clinic', { limit: 1, before: last - 2 });
    t.strictSame(
      next.map((entry) => entry.version),
      [last - 3],
    );
    const all = await bots.versions('clinic', { limit: 1_000 });
    t.equal(all.length, MAX_VERSIONS + 1);
    t.equal(all.at(-1)?.version, 1, 'calls still get the first');
    await bots.edit('clinic', () => ({ publish: 'draft' }), STAMP);
    t.equal((await bots.versions('clinic', { limit: 1_000 })).length, MAX_VERSIONS);
    t.equal((await bots.versions('clinic2', { limit: 9 })).length, 1);
  });

  await t.test('a list goes on behind a bot; a removed bot leaves nothing', async (t) => {
    const bots = open();
    for (const id of ['b', 'a', 'c']) await bots.create(id, { content: content(), publish: 'draft' }, STAMP);
    const ids = async (page: { limit: number; after?: string }) =>
      (await bots.list(page)).map((bot) => bot.bot_id);
    t.strictSame(await ids({ limit: 2 }), ['a', 'b']);
    t.strictSame(await ids({ limit: 2, after: 'b' }), ['c']);
    t.equal(await bots.remove('b', () => undefined, STAMP), true);
    t.strictSame(await ids({ limit: 9 }), ['a', 'c']);
    t.equal(await bots.get('b'), null);
    t.equal(await bots.find('b'), null);
    t.strictSame(await bots.versions('b', { limit: 9 }), []);
    t.not(await bots.create('b', { content: content() }, STAMP), null, 'the id is free again');
  });
}
