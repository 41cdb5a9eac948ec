import t from 'tap';
import type { ProviderHealthEntry, ProviderOutcome } from '../../src/contracts/provider-health.ts';
import { fleetProviders } from '../../src/main/fleet-health.ts';
import { ProviderHealthTable, takeProviderHealth } from '../../src/main/providers/provider-health-table.ts';
import { LocalProviderHealth } from '../../src/providers/resilient/provider-health.ts';
import { OutcomeBatch } from '../../src/slot/main-link/provider-health-link.ts';
import { HandClock } from '../harness/hand-clock.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, startWorker } from '../harness/worker.ts';

t.setTimeout(280_000);

const KEY = 'llm:gemini:';
const OK: ProviderOutcome = { key: KEY, result: 'ok', ms: 400, retryAfterMs: null };
const FAILED: ProviderOutcome = { key: KEY, result: 'failed', ms: null, retryAfterMs: null };

/** Main's table and so many slots, joined as the messages join them. */
function host(slots: number) {
  const clock = new HandClock(1_000);
  let told = 0;
  const table: ProviderHealthTable = new ProviderHealthTable({
    nowMs: () => clock.nowMs(),
    onChange: (entries) => {
      told += 1;
      for (const slot of all) slot.hear(entries);
    },
  });
  const all = Array.from(
    { length: slots },
    (_, index) =>
      new LocalProviderHealth({
        clock,
        random: () => 0,
        onOutcome: (outcome) => table.hear(index + 1, [outcome]),
      }),
  );
  return { clock, table, slots: all, told: () => told };
}

t.test('RT-58 what one slot suffers keeps the other slots away from the provider', async (t) => {
  const { clock, slots } = host(2);
  const [first, second] = slots;
  for (let count = 0; count < 3; count += 1) {
    t.equal(second?.admits(KEY), true);
    first?.begin(KEY);
    first?.ended(KEY, { result: 'failed', ms: null });
  }
  t.equal(second?.admits(KEY), false, 'the second slot never asked and knows');
  t.equal(second?.admits('llm:anthropic:'), true);
  await clock.advance(10_000, 10_000);
  t.equal(second?.admits(KEY), true, 'a trial is due');
  second?.begin(KEY);
  second?.ended(KEY, { result: 'ok', ms: 300 });
  t.equal(first?.admits(KEY), true);
  first?.begin(KEY);
  t.equal(first?.admits(KEY), false, 'the slot that met the failures tries with one request');
  first?.ended(KEY, { result: 'ok', ms: 300 });
  t.equal(first?.admits(KEY), true);
});

t.test('one slot’s failures among the successes of many open nothing', async (t) => {
  const { slots } = host(16);
  for (let round = 0; round < 3; round += 1) {
    for (const [index, slot] of slots.entries()) {
      slot.begin(KEY);
      slot.ended(KEY, index === 0 ? { result: 'failed', ms: null } : { result: 'ok', ms: 300 });
    }
  }
  t.equal(slots[0]?.admits(KEY), false, 'the unlucky slot goes elsewhere');
  t.equal(slots[5]?.admits(KEY), true);
});

t.test(
  'RT-89 a 429 stops all slots for the time the vendor names, and then they share a lower rate',
  async (t) => {
    const { clock, slots, table } = host(4);
    for (let second = 0; second < 10; second += 1) {
      for (const slot of slots) {
        slot.begin(KEY);
        slot.ended(KEY, { result: 'ok', ms: 300 });
      }
      await clock.advance(1_000, 1_000);
    }
    slots[0]?.ended(KEY, { result: 'rate_limited', ms: null, retryAfterMs: 2_000 });
    for (const slot of slots) t.equal(slot.admits(KEY), false);
    const [entry] = table.entries();
    t.equal(entry?.state, 'open');
    t.equal(entry?.openForMs, 2_000);
    const rate = entry?.ratePerSecond ?? 0;
    t.ok(rate > 0.3 && rate < 0.7, `half of four a second, shared by four: ${rate}`);
    await clock.advance(2_000, 2_000);
    const asked = slots.map((slot) => {
      let count = 0;
      while (slot.admits(KEY) && count < 100) {
        slot.begin(KEY);
        slot.ended(KEY, { result: 'ok', ms: 300 });
        count += 1;
      }
      return count;
    });
    t.ok(
      asked.every((count) => count >= 1 && count <= 3),
      `nobody asks more than a few at once: ${asked.join()}`,
    );
    await clock.advance(70_000, 10_000);
    t.equal(table.entries()[0]?.ratePerSecond, null, 'without another refusal the limit is over in a minute');
    t.equal(slots[0]?.admits(KEY), true);
  },
);

t.test('the percentiles of the host reach a slot that has not asked yet', async (t) => {
  const { clock, slots } = host(2);
  for (let count = 0; count < 20; count += 1) {
    slots[0]?.ended(KEY, { result: 'ok', ms: 500 });
    await clock.advance(1_000, 1_000);
  }
  t.match(slots[1]?.latency(KEY), { p50: 500, p95: 500 });
});

t.test('good news is told now and then, bad news at once', async (t) => {
  const { clock, table, told } = host(1);
  table.hear(1, [OK]);
  t.equal(told(), 1);
  for (let count = 0; count < 40; count += 1) {
    table.hear(1, [OK]);
    await clock.advance(100, 100);
  }
  t.equal(told(), 1, 'four seconds later');
  for (let count = 0; count < 60; count += 1) table.hear(1, [FAILED]);
  t.equal(told(), 2, 'the opening, once');
});

t.test('the table is bounded, and so is a message', async (t) => {
  const { table } = host(1);
  for (let key = 0; key < 500; key += 1) table.hear(1, [{ ...OK, key: `tts:${key}:` }]);
  t.equal(table.entries().length, 64);
  t.ok(JSON.stringify(table.entries()).length < 16_384);
});

t.test('a slot sends failures at once and successes together', async (t) => {
  const sent: ProviderOutcome[][] = [];
  const batch = new OutcomeBatch((outcomes) => void sent.push(outcomes));
  for (let count = 0; count < 500; count += 1) batch.add(OK);
  t.equal(sent.length, 0);
  batch.add(FAILED);
  t.equal(sent.length, 1);
  t.equal(sent[0]?.length, 200, 'bounded; the oldest are dropped');
  t.equal(sent[0]?.at(-1), FAILED);
  batch.add(OK);
  await until(() => sent.length === 2);
  t.same(sent[1], [OK]);
});

t.test('a slot that asks is answered, itself and nobody else', async (t) => {
  const { table } = host(0);
  const told: ProviderHealthEntry[][] = [];
  const slot = {
    slotId: 3,
    tell: (message: { type: string }) => {
      if (message.type === 'provider_health') told.push((message as never as { providers: [] }).providers);
    },
  };
  takeProviderHealth(table, slot, []);
  t.same(told, [[]]);
  takeProviderHealth(table, slot, [FAILED, FAILED, FAILED]);
  takeProviderHealth(table, slot, []);
  t.match(told[1], [{ key: KEY, state: 'open' }]);
});

t.test('the health tells names and figures', async (t) => {
  const { table } = host(0);
  table.hear(1, [OK, { ...FAILED, key: 'stt:deepgram:wss://stt.example:99' }]);
  t.same(fleetProviders(table.entries(), 0), [
    {
      family: 'llm',
      provider: 'gemini',
      origin: null,
      state: 'closed',
      open_until: null,
      p50_ms: 400,
      p95_ms: 400,
      p99_ms: 400,
      error_rate: 0,
    },
    {
      family: 'stt',
      provider: 'deepgram',
      origin: 'wss://stt.example:99',
      state: 'closed',
      open_until: null,
      p50_ms: null,
      p95_ms: null,
      p99_ms: null,
      error_rate: 1,
    },
  ]);
  for (let count = 0; count < 3; count += 1) table.hear(1, [FAILED]);
  t.match(fleetProviders(table.entries(), 0)[1], { state: 'open', open_until: '1970-01-01T00:00:10.000Z' });
});

t.test('RT-58 processes: what one slot reports, main’s health and the other slot know', async (t) => {
  const main = await startWorker(tempFolder());
  const port = main.fleetPort ?? 0;
  t.same(main.health()?.providers, [], 'nobody has asked anybody');
  const stormy = await call(port, '/ws/stormy');
  await until(() => main.health()?.providers?.[0]?.state === 'open');
  t.match(main.health()?.providers, [{ family: 'llm', provider: 'gemini', state: 'open', error_rate: 1 }]);
  const listening = await call(port, '/ws/provider-health');
  await until(() => listening.received().includes('provider-health llm:gemini: open'));
  for (const caller of [stormy, listening]) caller.socket.end();
  await main.stop();
});
