import t from 'tap';
import { type SarvamSttOptions, startSarvamStt } from '../../emulators/sarvam-stt.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';

const config = (url: string, more: Record<string, unknown> = {}) => ({
  provider: 'sarvam',
  language: 'en-IN',
  api_key: 'sarvam-test-key',
  base_url: url,
  ...more,
});

async function start(t: { teardown(end: () => Promise<void>): void }, options: SarvamSttOptions = {}) {
  const emulator = await startSarvamStt({
    hearing: { words: WORDS },
    clock: new HandClock(1_000),
    ...options,
  });
  t.teardown(() => emulator.close());
  return emulator;
}

const events = (emulator: Awaited<ReturnType<typeof start>>) =>
  emulator.log.entries
    .filter((entry) => entry.direction === 'in' && entry.kind === 'text')
    .map((entry) => (entry.json as { event?: string; type?: string }).event ?? 'other');

t.test('R8 sarvam: partials grow, finals settle, and the key goes into the header only', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  t.equal(caller.stt.model, 'saaras:v3-realtime');
  await caller.say('good morning i would like a table');
  await until(() => caller.interims.length >= 3, 'partials');
  await caller.pause(700);
  t.equal((await caller.flush()).text, 'good morning i would like a table');
  await caller.say('for two');
  await caller.pause(700);
  await until(() => caller.finals.length === 2, 'the second utterance');
  t.equal((await caller.flush()).text, 'for two');
  t.ok(
    caller.finals.every((piece) => (piece.uptoSample ?? 0) > 0),
    'time stamps tell what was settled',
  );
  const handshake = emulator.log.entries[0];
  t.notOk('sec-websocket-protocol' in (handshake?.headers ?? {}));
  const query = new URLSearchParams(handshake?.query);
  t.match(Object.fromEntries(query), {
    language_code: 'en-IN',
    sample_rate: '8000',
    endpointing: 'vad',
    stream_type: 'balanced',
    return_timestamps: 'true',
  });
  t.ok(emulator.audio(0).frameMs.every((ms) => ms <= 50));
  await caller.session.close();
  const lines = emulator.log.normalise();
  t.match(lines.slice(lines.indexOf('> {"event":"end"}')).join('\n'), /session\.end[\s\S]*close 1000/);
  t.same(emulator.violations.list, []);
});

t.test('R8 sarvam: flush waits for the utterance that is under way', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('yes please');
  await until(() => caller.interims.length > 0, 'a partial');
  const flushed = caller.flush();
  await caller.pause(700);
  t.equal((await flushed).text, 'yes please');
  t.notOk(events(emulator).includes('flush'), 'flush is not for the vad mode');
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test(
  'R8 sarvam: flush of an utterance that never ends gives its last partial, and no word twice',
  async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await start(t, { clock });
    const caller = await Caller.calls(config(emulator.wsUrl, { silence_duration_ms: 2_000 }), clock);
    await caller.say('no thank you');
    await caller.pause(300);
    await until(() => caller.interims.at(-1) === 'no thank you', 'the last partial');
    const flushed = caller.flush();
    await clock.advance(1_500);
    t.equal((await flushed).text, 'no thank you');
    await caller.pause(2_100);
    await until(() => caller.finals.length === 1, 'the late final');
    t.equal(caller.finals[0]?.text, '', 'its words were given already');
    await caller.say('yes');
    await caller.pause(2_100);
    await until(() => caller.finals.length === 2, 'the next final');
    t.equal((await caller.flush()).text, 'yes');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test('R8 sarvam: a final without speech_end, and a final that comes twice', async (t) => {
  for (const quirks of [{ noSpeechEnd: true }, { duplicateFinals: true }]) {
    const emulator = await start(t, { quirks });
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    await caller.say('good morning');
    await caller.pause(700);
    await caller.say('thank you');
    await caller.pause(700);
    await until(() => caller.finals.length >= 2, 'both finals');
    t.equal((await caller.flush()).text, 'good morning thank you');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  }
});

t.test('R8 sarvam: manual endpointing marks the utterances of the call', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(
    config(emulator.wsUrl, { endpointing: 'manual', threshold: 0.4, silence_duration_ms: 300 }),
    emulator.clock,
  );
  t.equal(caller.stt.wantsSilence, false, 'silence between the turns is not wanted');
  await caller.say('i would like');
  await caller.pause(800);
  await caller.say('a table');
  t.equal((await caller.flush()).text, 'i would like a table', 'a pause does not end it');
  await caller.say('for two');
  t.equal((await caller.flush()).text, 'for two');
  t.same(await caller.flush(), { text: '', confidence: null });
  t.same(
    events(emulator).filter((name) => name.startsWith('speech')),
    ['speech_start', 'speech_end', 'speech_start', 'speech_end'],
  );
  t.equal(emulator.counters().ignored_parameters, 0, 'vad settings are not sent along');
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 sarvam: ping keeps an idle session open', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, idleMs: 20_000 });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  await clock.advance(61_000, 500);
  await until(() => events(emulator).filter((name) => name === 'ping').length >= 10, 'pings');
  t.ok(emulator.control.latest().isOpen);
  t.same(caller.failures, []);
  await caller.session.close();
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
  t.same(emulator.violations.list, []);
});

t.test('R8 sarvam: a refused change of settings goes on, a fatal error ends it with its class', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  emulator.control
    .latest()
    .send({ event: 'error', code: 'invalid_config', is_fatal: false, message: 'not now' });
  await caller.say('yes');
  await caller.pause(700);
  t.equal((await caller.flush()).text, 'yes');
  t.same(caller.failures, []);
  await caller.session.close();
  for (const [closeCode, error, expected] of [
    [1003, { code: 'rate_limit', message: 'rate limit exceeded', status_code: 429 }, 'rate_limit'],
    [1003, { code: 'quota', message: 'quota exhausted' }, 'quota'],
    [1003, { code: 'invalid_api_key', message: 'invalid subscription key' }, 'auth'],
    [4000, { code: 'invalid_model', message: 'model is unknown', status_code: 400 }, 'config'],
    [
      4000,
      { code: 'backend_unavailable', message: 'gRPC backend unavailable', status_code: 503 },
      'transient',
    ],
  ] as const) {
    const session = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    emulator.control.latest().send({ event: 'error', is_fatal: true, ...error });
    emulator.control.latest().close(closeCode, error.message);
    t.match((await session.failure()).details, { class: expected, vendorCode: error.code });
    await session.session.close();
    t.equal(session.failures.length, 1);
  }
});

t.test('R8 sarvam: close codes without an error before them', async (t) => {
  const emulator = await start(t);
  for (const [code, reason, expected] of [
    [1003, 'Rate limit exceeded', 'rate_limit'],
    [1003, 'Quota exhausted', 'quota'],
    [1003, 'Invalid subscription key', 'auth'],
    [1008, 'Inactivity timeout', 'transient'],
    [1011, 'Internal error', 'transient'],
    [4000, 'unsupported language_code', 'config'],
    [4000, 'backend unavailable', 'transient'],
  ] as const) {
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    emulator.control.latest().close(code, reason);
    t.match((await caller.failure()).details, { class: expected, status: code }, reason);
    await caller.session.close();
  }
});

t.test('R8 sarvam: a refusal after the upgrade fails the opening', async (t) => {
  const emulator = await start(t);
  const failure = await rejection(
    Caller.calls(config(emulator.wsUrl, { api_key: 'another-key' }), emulator.clock),
  );
  t.match(failure.details, { class: 'auth', status: 403 });
  t.notOk(failure.message.includes('another-key'));
  emulator.violations.take();
});

t.test('R8 sarvam: languages are spelled as each socket wants them', async (t) => {
  const emulator = await start(t);
  for (const [language, endpoint, sent] of [
    ['od-IN', 'realtime', 'or-IN'],
    ['or-IN', 'legacy', 'od-IN'],
    ['hi', 'realtime', 'hi-IN'],
    ['en-US', 'legacy', 'en-IN'],
    ['auto', 'realtime', 'auto'],
    [undefined, 'legacy', 'unknown'],
  ] as const) {
    const caller = await Caller.calls(
      config(emulator.wsUrl, { ...(language ? { language } : { language: null }), endpoint }),
      emulator.clock,
    );
    const asked = emulator.log.entries.filter((entry) => entry.kind === 'handshake').at(-1);
    const query = new URLSearchParams(asked?.query);
    t.equal(query.get(endpoint === 'legacy' ? 'language-code' : 'language_code'), sent);
    await caller.session.close();
  }
  t.same(emulator.violations.list, []);
  const refused = async (more: Record<string, unknown>) =>
    (await rejection(Caller.calls(config('ws://127.0.0.1:1', more), new HandClock(1_000)))).message;
  t.match(await refused({ language: 'de-DE' }), /^stt\.language "de-DE" is none of/);
  t.match(await refused({ endpoint: 'newest' }), /^stt\.endpoint must be one of/);
  t.match(await refused({ mode: 'sing' }), /^stt\.mode must be one of/);
  t.match(await refused({ threshold: 2 }), /^stt\.threshold must/);
  t.match(
    await refused({ endpoint: 'legacy', model: 'saaras:v3-realtime' }),
    /^stt\.model .* is not a model/,
  );
  t.match(await refused({ model: 'saaras:v3' }), /^stt\.model .* use one such as saaras:v3-realtime/);
});

t.test('R8 sarvam: the newest model is heard by both sockets, and gets its terms as such', async (t) => {
  const emulator = await start(t);
  const long = 'x'.repeat(65);
  for (const endpoint of ['realtime', 'legacy']) {
    const caller = await Caller.calls(
      config(emulator.wsUrl, { model: 'saaras:v4', endpoint, keyterms: ['New Delhi', 'Trunkline', long] }),
      emulator.clock,
    );
    await caller.say('good morning');
    await caller.pause(700);
    t.equal((await caller.flush()).text, 'good morning');
    const query = new URLSearchParams(emulator.log.of('in', 'handshake').at(-1)?.query);
    t.equal(query.get('model'), 'saaras:v4');
    t.same(JSON.parse(query.get('keyterms') ?? ''), ['New Delhi', 'Trunkline']);
    await caller.session.close();
  }
  const asked = emulator.log.of('in', 'handshake')[0]?.query;
  t.equal(new URLSearchParams(asked).get('prompt'), long, 'what is too long for a term is a hint');
  t.same(emulator.violations.list, []);
});

t.test('R8 sarvam legacy: one final for each utterance, and flush takes what is under way', async (t) => {
  const emulator = await start(t, { quirks: { duplicateFinals: true } });
  const caller = await Caller.calls(
    config(emulator.wsUrl, { endpoint: 'legacy', language: 'auto', keyterms: ['Trunkline'] }),
    emulator.clock,
  );
  t.equal(caller.stt.model, 'saaras:v3');
  await caller.say('good morning');
  await caller.pause(700);
  await caller.say('yes');
  await caller.pause(700);
  await until(() => caller.finals.length === 2, 'two finals');
  t.match(await caller.flush(), { text: 'good morning yes', language: 'hi-IN' });
  await caller.say('yes');
  t.equal((await caller.flush()).text, 'yes', 'the same word again is no repetition');
  t.same(caller.interims, ['good morning', 'good morning yes', 'yes'], 'there are no partials');
  const texts = emulator.log.entries.filter((entry) => entry.direction === 'in' && entry.kind === 'text');
  t.equal(texts[0]?.text, '{"type":"config","prompt":"Trunkline"}');
  t.match(texts[1]?.json, { audio: { sample_rate: 16_000, encoding: 'audio/wav' } });
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 sarvam legacy: near silence keeps an idle session open, an error ends it', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock });
  const caller = await Caller.calls(config(emulator.wsUrl, { endpoint: 'legacy' }), clock);
  await clock.advance(121_000, 1_000);
  t.ok(emulator.control.latest().isOpen, 'two minutes without a word');
  await until(() => emulator.audio(0).samples >= 5 * 400, 'silence every 20 s');
  emulator.control
    .latest()
    .send({ type: 'error', data: { error: 'You are out of credits', code: 'insufficient_quota_error' } });
  t.match((await caller.failure()).details, { class: 'quota', vendorCode: 'insufficient_quota_error' });
  await caller.session.close();
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
  t.same(emulator.violations.list, []);
});
