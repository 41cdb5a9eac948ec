import t from 'tap';
import type { Bot } from '../../../src/contracts/bot.ts';
import { createCallTickets, TICKET_LIFE_MS } from '../../../src/control/bots/call-tickets.ts';
import { adoptPublishedBots, createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { testBot } from '../../harness/control.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

t.test('bots of the first version of the product become bots with a draft and a version', async (t) => {
  const folder = tempFolder();
  const store = openKeyValueStore(folder);
  t.teardown(async () => {
    await store.close();
  });
  // That version knew this one table only.
  const old = store.table<Bot>('bots');
  for (let index = 0; index < 60; index++) {
    const id = `bot-${String(index).padStart(2, '0')}`;
    await old.put(id, testBot({ bot_id: id, name: id }));
  }
  const bots = createBotStore(store);
  t.match(await bots.find('bot-07'), { version: 1, published_version: 1, draft: { name: 'bot-07' } });
  t.equal(await adoptPublishedBots(store), 60);
  t.equal(await adoptPublishedBots(store), 0, 'a second run passes over them');
  t.equal((await bots.list({ limit: 100 })).length, 60);
  t.match(await bots.version('bot-59', 1), { content: { name: 'bot-59' } });
  t.match(await bots.get('bot-59'), { name: 'bot-59' }, 'calls never missed it');
  const edited = await bots.edit(
    'bot-59',
    (standing) => ({ content: { ...standing.draft, name: 'new' }, publish: 'draft' }),
    { nowIso: '2026-02-01T00:00:00.000Z', by: null },
  );
  t.match(edited, { revision: 2, version: 2, published_version: 2 });
});

t.test('tickets are bounded: beyond it the oldest goes first', async (t) => {
  let nowMs = 0;
  const tickets = createCallTickets(() => nowMs);
  const issued = Array.from({ length: 10_001 }, () => tickets.issue('demo').ticket);
  t.equal(new Set(issued).size, issued.length, 'no two are the same');
  t.equal(tickets.consume(issued[0] ?? '', 'demo'), false);
  t.equal(tickets.consume(issued[1] ?? '', 'demo'), true);
  t.equal(tickets.consume(issued.at(-1) ?? '', 'demo'), true);
  nowMs += TICKET_LIFE_MS - 1;
  t.equal(tickets.consume(issued[2] ?? '', 'demo'), true);
  nowMs += 1;
  t.equal(tickets.consume(issued[3] ?? '', 'demo'), false);
});
