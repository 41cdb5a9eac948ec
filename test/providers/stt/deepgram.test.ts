import t from 'tap';
import { type DeepgramOptions, startDeepgram } from '../../emulators/deepgram.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';

const config = (url: string, more: Record<string, unknown> = {}) => ({
  provider: 'deepgram',
  language: 'en',
  api_key: 'deepgram-test-key',
  base_url: url,
  ...more,
});

async function start(t: { teardown(end: () => Promise<void>): void }, options: DeepgramOptions = {}) {
  const emulator = await startDeepgram({
    hearing: { words: WORDS },
    clock: new HandClock(1_000),
    ...options,
  });
  t.teardown(() => emulator.close());
  return emulator;
}

t.test(
  'R8 deepgram: a turn is heard as interim results, then settled by Finalize, to the word',
  async (t) => {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    t.equal(caller.stt.model, 'nova-3');
    await caller.say('good morning i would like to book a table for two');
    await caller.pause(200);
    const result = await caller.flush();
    t.equal(result.text, 'good morning i would like to book a table for two');
    t.ok(Math.abs((result.confidence ?? 0) - 0.98) < 0.001, 'confidence comes from the vendor');
    t.ok(caller.interims.length > 3, `${caller.interims.length} interim results`);
    t.ok(caller.interims.every((text, index) => index === 0 || text.startsWith('good')));
    const query = new URLSearchParams(emulator.log.entries[0]?.query);
    t.equal(query.get('model'), 'nova-3');
    t.equal(query.get('sample_rate'), '8000');
    t.equal(query.get('encoding'), 'linear16');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test('R8 deepgram: two turns follow each other, and each has its own words only', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('good morning');
  await caller.pause(600);
  t.equal((await caller.flush()).text, 'good morning');
  await caller.pause(1_500);
  await caller.say('yes please');
  await caller.pause(600);
  t.equal((await caller.flush()).text, 'yes please');
  t.same(await caller.flush(), { text: '', confidence: null }, 'nothing was said since');
  const spoken = caller.finals.filter((piece) => piece.text !== '');
  t.equal(spoken.map((piece) => piece.text).join(' '), 'good morning yes please');
  const samples = caller.finals.map((piece) => piece.uptoSample ?? -1);
  t.same(
    samples,
    [...samples].sort((a, b) => a - b),
    'finals tell growing positions',
  );
  t.ok(samples.every((sample) => sample >= 0 && sample <= caller.fedSamples));
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram: what is discarded does not come back in the next turn', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, answerDelayMs: 150 });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  await caller.say('no thank you');
  await caller.pause(400);
  caller.session.discard();
  await until(() => emulator.audio(0).samples > caller.fedSamples - 800, 'the audio at the vendor');
  await clock.advance(200);
  await until(() => emulator.log.entries.some((entry) => isFinal(entry.json)), 'the late final');
  await caller.pause(600);
  await caller.say('yes');
  await caller.pause(500);
  const flushed = caller.flush();
  await until(() => emulator.log.entries.some((entry) => entry.text?.includes('Finalize')), 'the request');
  await clock.advance(200);
  t.equal((await flushed).text, 'yes');
  t.notOk(caller.finals.some((piece) => piece.text.includes('thank')));
  await caller.hangUp(clock);
  t.same(emulator.violations.list, []);
});

for (const [what, quirks] of Object.entries({
  'SpeechStarted twice': { speechStartedTwice: true },
  'text without SpeechStarted': { noSpeechStarted: true },
  'UtteranceEnd without speech_final': { noSpeechFinal: true },
  'empty finals': { emptyFinals: true },
  'duplicated finals': { duplicateFinals: true },
})) {
  t.test(`R8 deepgram: ${what} neither lose nor double a word`, async (t) => {
    const emulator = await start(t, { quirks });
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    await caller.say('i would like a table');
    await caller.pause(1_600);
    await caller.say('for two please');
    await caller.pause(1_600);
    t.equal((await caller.flush()).text, 'i would like a table for two please');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  });
}

t.test('R8 deepgram: a Finalize that is never answered ends the turn with what was heard', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, finalize: 'never' });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  await caller.say('good morning');
  await until(() => caller.interims.at(-1) === 'good morning', 'the last interim result');
  const first = caller.flush();
  await clock.advance(1_000);
  t.equal((await first).text, 'good morning', 'the guess stands for the final');
  await caller.pause(600);
  await until(() => emulator.log.entries.some((entry) => isFinal(entry.json)), 'the late final');
  await caller.say('yes');
  await caller.pause(600);
  const second = caller.flush();
  await clock.advance(1_000);
  t.equal((await second).text, 'yes', 'the late final does not come in the next turn');
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test(
  'R8 deepgram: Finalize where nothing was buffered is answered by nobody and costs no words',
  async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await start(t, { clock, finalize: 'when_buffered' });
    const caller = await Caller.calls(config(emulator.wsUrl), clock);
    await caller.say('thank you');
    await caller.pause(600);
    await until(() => caller.finals.some((piece) => piece.text === 'thank you'), 'the final');
    const flushed = caller.flush();
    await clock.advance(400);
    t.equal((await flushed).text, 'thank you', 'words that are settled wait for less than a second');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test('R8 deepgram: KeepAlive is sent while no audio flows, and none while it does', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock });
  const caller = await Caller.calls(config(emulator.wsUrl), clock);
  const keepAlives = () =>
    emulator.log.entries.filter((entry) => entry.text === '{"type":"KeepAlive"}').map((entry) => entry.atMs);
  await clock.advance(61_000, 500);
  await until(() => keepAlives().length >= 14, 'keep-alives for a minute');
  const gaps = keepAlives()
    .slice(1)
    .map((atMs, index) => atMs - (keepAlives()[index] ?? 0));
  t.ok(
    gaps.every((gap) => gap >= 3_000 && gap <= 5_000),
    `every 3 to 5 s: ${gaps}`,
  );
  t.ok(emulator.control.latest().isOpen, 'the vendor kept the socket');
  const before = keepAlives().length;
  for (let frame = 0; frame < 500; frame++) {
    await caller.pause(20);
    await clock.advance(20, 20);
  }
  t.ok(keepAlives().length <= before + 1, 'audio needs none');
  const closed = caller.session.close();
  await until(() => !emulator.control.latest().isOpen, 'the end');
  await closed;
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram: goodbye is CloseStream, then Metadata and close 1000 by the vendor', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('yes');
  await caller.session.close();
  await caller.session.close();
  caller.session.feed(new Int16Array(160));
  const lines = emulator.log.normalise();
  const goodbye = lines.indexOf('> {"type":"CloseStream"}');
  t.ok(goodbye > 0);
  t.match(lines.slice(goodbye + 1).join('\n'), /Results[\s\S]*Metadata[\s\S]*close 1000/);
  t.notOk(lines.slice(goodbye + 1).includes('> audio'), 'no audio after CloseStream');
  t.same(caller.failures, [], 'our own close is no failure');
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram: DATA-0000 is a fault of the settings, NET-0001 a passing one', async (t) => {
  for (const [code, reason, expected] of [
    [1008, 'DATA-0000: the payload cannot be decoded as audio', 'config'],
    [1011, 'NET-0000: nothing in time', 'transient'],
    [1011, 'NET-0001: no audio', 'transient'],
  ] as const) {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    emulator.control.latest().close(code, reason);
    const failure = await caller.failure();
    t.match(failure.details, { class: expected, status: code, vendorCode: reason.split(':')[0] });
    await caller.session.close();
  }
});

t.test('R8 deepgram: every setting reaches the vendor in its own words', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(
    config(`${emulator.wsUrl}/proxy?team=a`, {
      language: 'multi',
      keyterms: ['Trunk Line', 'a+b'],
      numerals: true,
      profanity_filter: true,
      redact: ['pci', 'ssn'],
      smart_format: false,
      utterance_end_ms: 1_500,
    }),
    emulator.clock,
  ).catch((error: Error) => error);
  t.ok(caller instanceof Error, 'a query of base_url is kept, which this strict vendor refuses');
  t.match(emulator.violations.take().join(), /team/);
  const strict = await Caller.calls(
    config(`${emulator.wsUrl}/proxy/`, {
      language: 'multi',
      keyterms: ['Trunk Line', 'a+b'],
      numerals: true,
      profanity_filter: true,
      redact: ['pci', 'ssn'],
      smart_format: false,
      utterance_end_ms: 1_500,
      tag: ['one'],
      mip_opt_out: true,
    }),
    emulator.clock,
    16_000,
  );
  const handshake = emulator.log.entries.filter((entry) => entry.kind === 'handshake').at(-1);
  t.equal(handshake?.path, '/proxy/v1/listen', 'the path of base_url is kept');
  const query = new URLSearchParams(handshake?.query);
  t.same(query.getAll('keyterm'), ['Trunk Line', 'a+b']);
  t.same(query.getAll('redact'), ['pci', 'ssn']);
  t.match(Object.fromEntries(query), {
    endpointing: '100',
    utterance_end_ms: '1500',
    smart_format: 'false',
    sample_rate: '16000',
    language: 'multi',
  });
  t.same(emulator.violations.list, []);
  await strict.session.close();
  const old = await Caller.calls(
    config(emulator.wsUrl, { model: 'nova-2', keyterms: ['Trunk'], language: 'auto' }),
    emulator.clock,
  );
  const asked = emulator.log.entries.filter((entry) => entry.kind === 'handshake').at(-1);
  t.same(new URLSearchParams(asked?.query).getAll('keywords'), ['Trunk'], 'older models know keywords');
  t.equal(new URLSearchParams(asked?.query).get('language'), 'multi');
  t.same(emulator.violations.list, []);
  await old.session.close();
});

t.test('R8 deepgram: wrong settings are refused by name before anybody is dialled', async (t) => {
  const refused = async (more: Record<string, unknown>) =>
    (await rejection(Caller.calls(config('ws://127.0.0.1:1', more), new HandClock(1_000)))).message;
  t.match(await refused({ utterance_end_ms: 500 }), /^stt\.utterance_end_ms must/);
  t.match(await refused({ endpointing_ms: 1 }), /^stt\.endpointing_ms must/);
  t.match(await refused({ redact: ['names'] }), /^stt\.redact must/);
  t.match(await refused({ sample_rate: 16_000 }), /^stt\.sample_rate must be 8000/);
  t.match(await refused({ base_url: 'ftp://x' }), /^stt\.base_url must/);
  t.match(await refused({ base_url: 'wss://me:secret@x' }), /^stt\.base_url must/);
  t.match(await refused({ base_url: null, api_key: null }), /^stt\.api_key is missing/);
});

function isFinal(json: unknown): boolean {
  const message = json as
    | { is_final?: boolean; channel?: { alternatives: { transcript: string }[] } }
    | undefined;
  return message?.is_final === true && message.channel?.alternatives[0]?.transcript !== '';
}
