import t, { type Test } from 'tap';
import type { MainToSlot, SharedCacheEntry } from '../../src/contracts/slot-messages.ts';
import { createBotStore } from '../../src/control/bots/lmdb-bot-store.ts';
import { startMain } from '../../src/main/main.ts';
import {
  CLAIM_MAX_AGE_MS,
  MAX_CACHE_KEYS,
  PromptCacheBroker,
  type PromptCacheSlot,
  RETRY_AFTER_FAILURE_MS,
  RETRY_AFTER_TOO_SMALL_MS,
} from '../../src/main/providers/prompt-cache-broker.ts';
import { createPlaneReport } from '../../src/main/providers/prompt-cache-report.ts';
import type { SlotNews } from '../../src/main/slots/slot-process.ts';
import { runControl, testBot } from '../harness/control.ts';
import { serveLocally } from '../harness/local-server.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import {
  fixture,
  quietLogger,
  type RawCaller,
  rawCaller,
  upgradeRequest,
  workerSettings,
} from '../harness/worker.ts';

t.setTimeout(280_000);

/** A desk with clocks moved by hand, and slots that keep what they are told. */
function desk() {
  const clock = { nowMs: 1_000, wallMs: Date.parse('2026-03-02T06:30:00Z') };
  const toPlane: [string, string | null][] = [];
  const caches = new PromptCacheBroker({
    nowMs: () => clock.nowMs,
    wallMs: () => clock.wallMs,
    tellPlane: (plane, entry) => toPlane.push([plane.botId, entry?.name ?? null]),
  });
  const slot = () => {
    const told: MainToSlot[] = [];
    const own: PromptCacheSlot = { tell: (message) => told.push(message) };
    const say = (message: Record<string, unknown>) =>
      caches.hear(own, { v: 1, key: 'k', ...message } as SlotNews);
    const last = () => told.at(-1) as Record<string, unknown> | undefined;
    return {
      own,
      told,
      watch: (known: SharedCacheEntry | null = null, key = 'k') =>
        say({ type: 'prompt_cache_watch', known, key }),
      unwatch: () => say({ type: 'prompt_cache_unwatch' }),
      claim: (key = 'k') => {
        say({ type: 'prompt_cache_claim', claimId: 'c', key });
        return last()?.answer;
      },
      news: (news: object) =>
        say({ type: 'prompt_cache_news', news, plane: { botId: 'clinic', staticVersion: 'v1' } }),
      entry: () => (last()?.type === 'prompt_cache_entry' ? last()?.entry : undefined),
    };
  };
  const entry = (name: string, forMs = 600_000): SharedCacheEntry => ({
    name,
    expiresAtMs: clock.wallMs + forMs,
    version: 'v1',
  });
  return { caches, clock, slot, entry, toPlane };
}

t.test('R16 of slots that ask at once one creates, and all get its entry', async (t) => {
  const harness = desk();
  const slots = Array.from({ length: 8 }, () => harness.slot());
  for (const slot of slots) slot.watch();
  const answers = slots.map((slot) => slot.claim());
  t.strictSame(answers, ['create', ...Array(7).fill('skip')]);
  const made = harness.entry('cachedContents/1');
  slots[0]?.news({ kind: 'created', entry: made });
  for (const slot of slots.slice(1)) t.strictSame(slot.entry(), made, 'told without asking');
  t.strictSame(harness.toPlane, [['clinic', 'cachedContents/1']]);
  t.strictSame(slots[3]?.claim(), made, 'who asks later is given it');
  const late = harness.slot();
  late.watch();
  t.strictSame(late.entry(), made, 'and so is a call that begins later');
});

t.test('a claim ends with its slot, with a failure, or with its time', async (t) => {
  const harness = desk();
  const [first, second, third] = [harness.slot(), harness.slot(), harness.slot()];
  t.equal(first.claim(), 'create');
  t.equal(second.claim(), 'skip');
  harness.caches.forget(first.own);
  t.equal(second.claim(), 'create', 'the slot died');
  harness.clock.nowMs += CLAIM_MAX_AGE_MS - 1;
  t.equal(third.claim(), 'skip');
  harness.clock.nowMs += 1;
  t.equal(third.claim(), 'create', 'it took too long');
  third.news({ kind: 'failed', reason: 'create_failed' });
  t.equal(first.claim(), 'skip', 'a failure is not repeated at once');
  harness.clock.nowMs += RETRY_AFTER_FAILURE_MS;
  t.equal(first.claim(), 'create');
  first.news({ kind: 'failed', reason: 'too_small' });
  harness.clock.nowMs += RETRY_AFTER_FAILURE_MS;
  t.equal(second.claim(), 'skip', 'a prompt does not grow by waiting');
  harness.clock.nowMs += RETRY_AFTER_TOO_SMALL_MS;
  t.equal(second.claim(), 'create');
});

t.test('a lost entry is gone for all, and an old config does not bring it back', async (t) => {
  const harness = desk();
  const [first, second, third] = [harness.slot(), harness.slot(), harness.slot()];
  const old = harness.entry('cachedContents/old');
  first.watch();
  second.watch(old);
  t.strictSame(first.entry(), old, 'an entry that only a config knew is shared');
  second.news({ kind: 'lost', name: old.name });
  t.equal(first.entry(), null);
  t.strictSame(harness.toPlane, [['clinic', null]]);
  third.watch(old);
  t.equal(third.entry(), null, 'the call that still brings it is told');
  t.equal(third.claim(), 'create');
  third.news({ kind: 'created', entry: harness.entry('cachedContents/new') });
  first.news({ kind: 'lost', name: old.name });
  t.match(second.claim(), { name: 'cachedContents/new' }, 'a late loss of the old one takes nothing away');
});

t.test('an extension counts, an older expiry does not, an expired entry is none', async (t) => {
  const harness = desk();
  const [first, second] = [harness.slot(), harness.slot()];
  first.watch();
  second.watch();
  first.claim();
  first.news({ kind: 'created', entry: harness.entry('cachedContents/1', 60_000) });
  first.news({ kind: 'extended', entry: harness.entry('cachedContents/1', 600_000) });
  t.match(second.entry(), { expiresAtMs: harness.clock.wallMs + 600_000 });
  second.news({ kind: 'extended', entry: harness.entry('cachedContents/1', 300_000) });
  t.match(first.claim(), { expiresAtMs: harness.clock.wallMs + 600_000 });
  harness.clock.wallMs += 600_000;
  t.equal(second.claim(), 'create');
  t.equal(harness.toPlane.length, 2);
});

t.test('a call that has ended is told nothing, and keys do not pile up', async (t) => {
  const harness = desk();
  const [first, second] = [harness.slot(), harness.slot()];
  first.watch();
  first.watch();
  first.unwatch();
  second.claim();
  second.news({ kind: 'created', entry: harness.entry('a') });
  t.match(first.entry(), { name: 'a' }, 'the second call of the slot still watches');
  first.unwatch();
  const told = first.told.length;
  second.news({ kind: 'lost', name: 'a' });
  t.equal(first.told.length, told);
  for (let i = 0; i < MAX_CACHE_KEYS + 5; i++) second.claim(`other-${i}`);
  t.equal(second.claim('other-0'), 'create', 'the oldest was forgotten, with its claim');
  t.equal(second.claim(`other-${MAX_CACHE_KEYS}`), 'skip');
});

/** A control plane that only takes reports. */
async function reportTaker(t: Test, answers: number[] = []) {
  const got: { path: string; secret: string | undefined; body: Record<string, unknown> }[] = [];
  const server = await serveLocally((request, response, text) => {
    const secret = request.headers['x-core-secret'] as string | undefined;
    got.push({ path: request.url ?? '', secret, body: JSON.parse(text || '{}') });
    response.writeHead(answers.shift() ?? 204).end();
  });
  t.teardown(server.close);
  return { got, origin: server.url };
}

t.test(
  'R16 R66 eight slot processes race: one creates, the others see its entry, the plane is told',
  async (t) => {
    const plane = await reportTaker(t);
    const settings = workerSettings(tempFolder(), {
      SLOTS: '8',
      CONFIG_URL: `${plane.origin}/api/v1/config`,
      CORE_SECRET: 'secret-of-the-test-that-is-long-enough',
    });
    const main = await startMain(settings, { logger: quietLogger(), slotEntry: fixture('cache-slot') });
    t.teardown(() => main.stop());
    await until(() => main.health()?.fleet_available === 8);
    const callers: RawCaller[] = [];
    for (let i = 0; i < 8; i++) callers.push(rawCaller(main.fleetPort ?? 0, upgradeRequest('/ws/clinic')));
    await until(() => callers.every((caller) => caller.received().includes('101 Switching')));
    for (const caller of callers) caller.socket.write('claim\n');
    await until(() => callers.some((caller) => caller.received().includes('done')));
    const createdAtMs = performance.now();
    await until(() => callers.every((caller) => /create|skip|entry/.test(caller.received())));
    const creators = callers.filter((caller) => caller.received().includes('create'));
    t.equal(creators.length, 1, 'one of eight creates');

    await until(() => plane.got.length > 0);
    t.comment(`the plane was told ${(performance.now() - createdAtMs).toFixed(0)} ms after the creation`);
    t.match(plane.got[0], {
      path: '/api/v1/bots/clinic/live-prompt-cache',
      secret: 'secret-of-the-test-that-is-long-enough',
      body: { static_version: 'v1', cache_name: /^cachedContents\/\d+$/, expires_at: /Z$/ },
    });
    const name = String(plane.got[0]?.body.cache_name);
    await until(async () => {
      for (const caller of callers) caller.socket.write('look\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
      return callers.every((caller) => caller.received().includes(`sees ${name}`));
    });
    t.pass('all eight use the one entry');
    callers[5]?.socket.write(`lose ${name}\n`);
    await until(() => plane.got.some(({ body }) => body.cache_name === null));
    t.equal(plane.got.length, 2, 'one report each');
    for (const caller of callers) caller.socket.destroy();
  },
);

t.test('a slot that dies over its claim frees it', async (t) => {
  const plane = await reportTaker(t);
  const settings = workerSettings(tempFolder(), {
    SLOTS: '2',
    CONFIG_URL: `${plane.origin}/api/v1/config`,
  });
  const main = await startMain(settings, { logger: quietLogger(), slotEntry: fixture('cache-slot') });
  t.teardown(() => main.stop());
  await until(() => main.health()?.fleet_available === 2);
  const dying = rawCaller(main.fleetPort ?? 0, upgradeRequest('/ws/clinic?fate=dies'));
  await until(() => dying.received().includes('101 Switching'));
  const other = rawCaller(main.fleetPort ?? 0, upgradeRequest('/ws/clinic'));
  await until(() => other.received().includes('101 Switching'));
  dying.socket.write('claim\n');
  await until(() => dying.closed());
  await until(async () => {
    other.socket.write('claim\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return other.received().includes('create');
  });
  await until(() => plane.got.length === 1);
  t.pass('the next slot created the entry');
  other.socket.destroy();
});

const report = (configUrl: string, coreSecret = '', ownOrigins: string[] = []) =>
  createPlaneReport({ configUrl, coreSecret, ownOrigins, logger: quietLogger() });
const address = { botId: 'clinic', staticVersion: 'v1' };
const anEntry = { name: 'cachedContents/1', expiresAtMs: Date.now() + 600_000, version: 'v1' };

t.test('R66 what the host reports is in the very next config of the real control plane', async (t) => {
  const run = await runControl();
  t.teardown(() => run.stop());
  const bots = createBotStore(run.store);
  await bots.put(testBot({ live_prompt_cache: { enabled: true } }));
  const config = async () =>
    (await (await fetch(run.url('/api/v1/config/clinic'))).json()) as {
      prompt_parts: { static_version: string };
      live_prompt_cache_state: { cache_name: string | null; expires_at: string | null };
    };
  const before = await config();
  t.strictSame(before.live_prompt_cache_state, { cache_name: null, expires_at: null });
  const plane = report(run.url('/api/v1/config'));
  t.teardown(() => plane.stop());
  const told = { botId: 'clinic', staticVersion: before.prompt_parts.static_version };
  plane.tell(told, anEntry);
  await until(async () => (await config()).live_prompt_cache_state.cache_name === 'cachedContents/1');
  t.equal((await config()).live_prompt_cache_state.expires_at, new Date(anEntry.expiresAtMs).toISOString());
  plane.tell(told, null);
  await until(async () => (await config()).live_prompt_cache_state.cache_name === null);
});

t.test('a plane that stumbles is told again, of several changes the newest', async (t) => {
  const taker = await reportTaker(t, [503, 503]);
  const plane = report(`${taker.origin}/api/v1/config/{bot_id}`);
  t.teardown(() => plane.stop());
  plane.tell(address, anEntry);
  await until(() => taker.got.length === 1);
  plane.tell(address, { ...anEntry, name: 'cachedContents/2' });
  plane.tell(address, { ...anEntry, name: 'cachedContents/3' });
  await until(() => taker.got.some(({ body }) => body.cache_name === 'cachedContents/3'));
  t.notOk(
    taker.got.some(({ body }) => body.cache_name === 'cachedContents/2'),
    'what was overtaken is not sent',
  );
});

t.test(
  'a foreign plane without the route is asked once, and gets no secret that is not its own',
  async (t) => {
    const taker = await reportTaker(t, [405, 204]);
    const secret = 'secret-of-the-test-that-is-long-enough';
    const foreign = report(`${taker.origin}/botconfig/config`, secret, ['https://plane.example.com']);
    t.teardown(() => foreign.stop());
    foreign.tell(address, anEntry);
    await until(() => taker.got.length === 1);
    t.match(taker.got[0], { path: '/botconfig/bots/clinic/live-prompt-cache', secret: undefined });
    await foreign.stop();
    const elsewhere = report(`${taker.origin}/some/other/path`);
    elsewhere.tell(address, anEntry);
    await elsewhere.stop();
    t.equal(taker.got.length, 1, 'an address of another form is not guessed at');
    const own = report(`${taker.origin}/api/v1/config`, secret, [taker.origin]);
    t.teardown(() => own.stop());
    own.tell(address, anEntry);
    await until(() => taker.got.length === 2);
    t.equal(taker.got[1]?.secret, secret);
  },
);
