import t from 'tap';
import { type SonioxOptions, startSoniox } from '../../emulators/soniox.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';

const config = (url: string, more: Record<string, unknown> = {}) => ({
  provider: 'soniox',
  language: 'en-US',
  api_key: 'soniox-test-key',
  base_url: url,
  ...more,
});

async function start(t: { teardown(end: () => Promise<void>): void }, options: SonioxOptions = {}) {
  const emulator = await startSoniox({ hearing: { words: WORDS }, clock: new HandClock(1_000), ...options });
  t.teardown(() => emulator.close());
  return emulator;
}

const sentTexts = (emulator: Awaited<ReturnType<typeof start>>) =>
  emulator.log.entries
    .filter((entry) => entry.direction === 'in' && entry.kind === 'text')
    .map((entry) => entry.text);

t.test('R8 soniox: the first frame is the config with the key, and the address holds none', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(
    config(emulator.wsUrl, {
      keyterms: ['Trunkline'],
      context: { text: 'a restaurant', terms: ['table'] },
      endpoint_sensitivity: 0.5,
    }),
    emulator.clock,
  );
  await caller.say('yes');
  await caller.session.close();
  const [handshake] = emulator.log.entries;
  t.same(handshake?.query, []);
  const first = emulator.log.entries.find((entry) => entry.direction === 'in' && entry.kind !== 'handshake');
  t.match(first?.json, {
    model: 'stt-rt-v5',
    audio_format: 'pcm_s16le',
    sample_rate: 8_000,
    num_channels: 1,
    language_hints: ['en'],
    enable_endpoint_detection: true,
    max_endpoint_delay_ms: 1_000,
    endpoint_sensitivity: 0.5,
    context: { text: 'a restaurant', terms: ['table', 'Trunkline'] },
  });
  t.same(emulator.violations.list, []);
});

t.test('R8 soniox: what the bot does not set is left to the vendor', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.session.close();
  const first = emulator.log.entries.find((entry) => entry.direction === 'in' && entry.kind === 'text');
  t.notOk(Object.hasOwn(first?.json as object, 'endpoint_sensitivity'));
});

t.test('R8 soniox: tokens that change, final tokens exactly once, and no marker in any text', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('good morning i would like to book a table for two');
  t.equal((await caller.flush()).text, 'good morning i would like to book a table for two');
  await caller.pause(500);
  await caller.say('yes please');
  await caller.pause(900);
  await until(() => caller.finals.some((piece) => piece.text.includes('please')), 'the endpoint');
  await caller.say('thank you');
  await caller.pause(300);
  const result = await caller.flush();
  t.equal(result.text, 'yes please thank you');
  t.ok(Math.abs((result.confidence ?? 0) - 0.97) < 0.001);
  t.ok(caller.interims.length > 5);
  const said = JSON.stringify([caller.interims, caller.finals]);
  t.notMatch(said, /<end>|<fin>/);
  t.match(emulator.log.normalise().join('\n'), /<end>[\s\S]*<fin>/, 'though the vendor sent both');
  t.equal(
    caller.finals.map((piece) => piece.text).join(''),
    'good morning i would like to book a table for two yes please thank you',
  );
  const samples = caller.finals.map((piece) => piece.uptoSample ?? -1);
  t.same(
    samples,
    [...samples].sort((a, b) => a - b),
  );
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 soniox: flush asks for finalize only while something is unsettled', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('no thank you');
  t.equal((await caller.flush()).text, 'no thank you');
  await caller.pause(60);
  t.equal((await caller.flush()).text, '');
  t.equal(emulator.counters().finalizes, 1);
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 soniox: a message that comes twice counts once', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('yes please');
  await caller.pause(900);
  await until(() => caller.finals.some((piece) => piece.text.includes('please')), 'the endpoint');
  emulator.control.latest().duplicateLast();
  await caller.say('thank you');
  t.equal((await caller.flush()).text, 'yes please thank you');
  await caller.session.close();
});

t.test('R8 soniox: what is discarded does not come back, token by token', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, answerDelayMs: 150 });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  await caller.say('no thank you');
  caller.session.discard();
  await caller.pause(100);
  await caller.say('yes please');
  const flushed = caller.flush();
  await until(() => sentTexts(emulator).includes('{"type":"finalize"}'), 'the request');
  await clock.advance(200);
  t.equal((await flushed).text, 'yes please');
  t.match(emulator.log.normalise().join(), / you/, 'though the vendor heard them');
  await caller.hangUp(clock);
});

t.test('R8 soniox: keepalive is sent while no audio flows', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  await clock.advance(61_000, 500);
  const keepAlives = () => sentTexts(emulator).filter((text) => text === '{"type":"keepalive"}').length;
  await until(() => keepAlives() >= 11, 'keepalives for a minute');
  t.ok(keepAlives() <= 13);
  t.ok(emulator.control.latest().isOpen);
  await caller.session.close();
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
  t.same(emulator.violations.list, []);
});

t.test('R8 soniox: goodbye is an empty frame; the vendor finishes and closes', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('yes');
  await caller.session.close();
  const lines = emulator.log.normalise();
  const goodbye = lines.indexOf('> text ""');
  t.ok(goodbye > 0);
  t.match(lines.slice(goodbye).join('\n'), /"finished":true[\s\S]*close 1000/);
  t.notOk(lines.slice(goodbye).includes('> audio'));
  t.same(caller.failures, []);
  t.same(emulator.violations.list, []);
});

t.test('R8 soniox: error codes as numbers and as texts mean the same', async (t) => {
  for (const codesAsText of [false, true]) {
    const emulator = await start(t, { codesAsText });
    for (const [code, expected] of [
      [400, 'config'],
      [401, 'auth'],
      [402, 'quota'],
      [408, 'transient'],
      [429, 'rate_limit'],
      [500, 'transient'],
      [503, 'transient'],
    ] as const) {
      const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
      const connection = emulator.control.latest().index;
      emulator.fail(connection, code, `Cannot continue request (code ${code}).`, 'some_type');
      const failure = await caller.failure();
      t.match(failure.details, { class: expected, status: code, vendorCode: 'some_type' });
      await caller.session.close();
      t.equal(caller.failures.length, 1);
    }
  }
});

t.test('R8 soniox: after 503 a new session that hears the rest loses and doubles no word', async (t) => {
  const emulator = await start(t);
  const before = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await before.say('good morning i would like a table for two at seven please');
  await until(() => before.finals.some((piece) => piece.text !== ''), 'some settled words');
  emulator.fail(0, 503, 'Cannot continue request.');
  await before.failure();
  const settled = before.finals.map((piece) => piece.text).join('');
  const upto = before.finals.at(-1)?.uptoSample ?? 0;
  t.ok(settled !== '' && upto > 0);
  const { speakTones } = await import('../../emulators/kit/tone-words.ts');
  const audio = speakTones('good morning i would like a table for two at seven please', WORDS, 8_000);
  const after = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await after.feed(audio.subarray(upto));
  const rest = (await after.flush()).text;
  t.equal(`${settled} ${rest}`, 'good morning i would like a table for two at seven please');
  await before.session.close();
  await after.session.close();
});

t.test('R8 soniox: the stream over the limit is told so', async (t) => {
  const emulator = await start(t);
  const callers: Caller[] = [];
  for (let index = 0; index < 10; index++) {
    callers.push(await Caller.calls(config(emulator.wsUrl), emulator.clock));
    await callers[index]?.pause(40);
  }
  const eleventh = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  t.match((await eleventh.failure()).details, { class: 'rate_limit', status: 429 });
  for (const caller of [...callers, eleventh]) await caller.session.close();
  t.ok(callers.every((caller) => caller.failures.length === 0));
});

t.test(
  'R8 soniox: a wrong key ends the session as auth, and wrong settings are refused by name',
  async (t) => {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl, { api_key: 'another-key' }), emulator.clock);
    const failure = await caller.failure();
    t.match(failure.details, { class: 'auth', status: 401 });
    t.notOk(failure.message.includes('another-key'));
    await caller.session.close();
    const refused = async (more: Record<string, unknown>) =>
      (await rejection(Caller.calls(config('ws://127.0.0.1:1', more), new HandClock(1_000)))).message;
    t.match(await refused({ max_endpoint_delay_ms: 400 }), /^stt\.max_endpoint_delay_ms must/);
    t.match(await refused({ endpoint_sensitivity: 2 }), /^stt\.endpoint_sensitivity must/);
    t.match(await refused({ context: { words: [] } }), /^stt\.context must/);
    t.match(await refused({ context: { terms: [1] } }), /^stt\.context\.terms must/);
  },
);
