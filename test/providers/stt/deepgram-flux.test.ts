import t from 'tap';
import { type FluxOptions, startFlux } from '../../emulators/deepgram-flux.ts';
import type { ScriptStep } from '../../emulators/kit/script.ts';
import { silence, speakTones } from '../../emulators/kit/tone-words.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';

const config = (url: string, more: Record<string, unknown> = {}) => ({
  provider: 'deepgram_flux',
  api_key: 'deepgram-test-key',
  base_url: url,
  ...more,
});

type Test = { teardown(end: () => Promise<void>): void };

async function start(t: Test, options: FluxOptions = {}) {
  const emulator = await startFlux({ hearing: { words: WORDS }, ...options });
  t.teardown(() => emulator.close());
  return emulator;
}

/** A session with a vendor that says what the script says, `sequence_id` counting on from `Connected`. */
async function scripted(t: Test, messages: Record<string, unknown>[]) {
  const emulator = await start(t);
  const steps: ScriptStep[] = messages.map((message, index) => ({
    emit: { request_id: 'r', sequence_id: index + 1, ...message },
  }));
  emulator.control.script([{ expectAudioBytes: 1_280 }, ...steps]);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.pause(80);
  return { emulator, caller };
}

const turn = (event: string, transcript: string, more: Record<string, unknown> = {}) => ({
  type: 'TurnInfo',
  event,
  turn_index: 0,
  audio_window_start: 0,
  audio_window_end: 0.08,
  transcript,
  words: transcript.split(' ').map((word) => ({ word, confidence: 0.9 })),
  end_of_turn_confidence: 0.5,
  ...more,
});

t.test(
  'R8 deepgram_flux: R10 the engine itself says when a turn begins and ends, with its text',
  async (t) => {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    t.equal(caller.stt.detectsTurns, true);
    await caller.pause(400);
    await caller.say('good morning i would like a table');
    await caller.pause(900);
    await until(() => caller.ended.length === 1, 'the end of the turn');
    t.same(
      caller.turns.map((event) => event.type),
      ['start', 'end'],
    );
    t.equal(caller.ended[0]?.text, 'good morning i would like a table');
    t.equal(caller.interims.at(-1), 'good morning i would like a table');
    t.same(
      caller.finals.map((piece) => piece.text),
      ['good morning i would like a table'],
    );
    const upto = caller.finals[0]?.uptoSample ?? 0;
    t.ok(upto > 0 && upto <= caller.fedSamples, `the turn ends at sample ${upto} of ${caller.fedSamples}`);
    t.same(
      await caller.flush(),
      { text: '', confidence: null, language: null },
      'the text was given already',
    );
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test(
  'R8 deepgram_flux: no audio goes out before Connected, and all of it in chunks of 80 ms',
  async (t) => {
    const emulator = await start(t, { connectedAfterMs: 300 });
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    const connected = emulator.log.entries.findIndex((entry) => entry.text?.includes('"Connected"'));
    t.ok(connected > 0, 'open waits for it');
    await caller.say('yes please');
    await caller.pause(800);
    await until(() => caller.ended.length === 1, 'the end of the turn');
    t.ok(emulator.audio(0).frameMs.every((ms) => ms === 80));
    t.same(emulator.violations.list, []);
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test('R8 deepgram_flux: a vendor that never says Connected fails the opening in time', async (t) => {
  const emulator = await start(t, { connectedAfterMs: 60_000 });
  const failure = await rejection(Caller.calls(config(emulator.wsUrl, { timeout_ms: 600 }), emulator.clock));
  t.equal(failure.code, 'provider_timeout');
  await until(() => emulator.counters().openSockets === 0, 'the end of the socket');
});

t.test('R8 deepgram_flux: an eager end, speech again, an end', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl, { eager_eot_threshold: 0.4 }), emulator.clock);
  await caller.say('i would like');
  await caller.pause(300);
  await caller.say('a table');
  await caller.pause(900);
  await until(() => caller.ended.length === 1, 'the end of the turn');
  t.same(
    caller.turns.map((event) => ('text' in event ? `${event.type} ${event.text}` : event.type)),
    [
      'start',
      'eager_end i would like',
      'resumed',
      'eager_end i would like a table',
      'end i would like a table',
    ],
  );
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test(
  'R8 deepgram_flux: the end repeats the text of the eager end, or says more, and both are told',
  async (t) => {
    for (const [more, expected] of [
      [undefined, 'yes please'],
      ['now', 'yes please now'],
    ] as const) {
      const emulator = await start(t, more === undefined ? {} : { quirks: { endSaysMore: more } });
      const caller = await Caller.calls(config(emulator.wsUrl, { eager_eot_threshold: 0.4 }), emulator.clock);
      await caller.say('yes please');
      await caller.pause(900);
      await until(() => caller.ended.length === 1, 'the end of the turn');
      t.match(caller.turns, [
        { type: 'start' },
        { type: 'eager_end', text: 'yes please' },
        { type: 'end', text: expected },
      ]);
      t.equal(caller.turns.length, 3);
      await caller.session.close();
    }
  },
);

t.test('R8 deepgram_flux: two turns back to back, repeated ends and an empty start', async (t) => {
  const emulator = await start(t, {
    quirks: { duplicateEnds: true, emptyStart: true, trigger: 'moonlight' },
  });
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('good morning');
  await caller.pause(560);
  await caller.say('thank you');
  await caller.pause(900);
  await until(() => caller.ended.length >= 2, 'two turns');
  t.same(
    caller.turns.map((event) => ('text' in event ? `${event.type} ${event.text}` : event.type)),
    ['start', 'end good morning', 'start', 'end thank you'],
    'an unknown trigger is an end like any other',
  );
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram_flux: a turn that the vendor ends by its timeout is a turn', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(
    config(emulator.wsUrl, { eot_threshold: 1, eot_timeout_ms: 1_000 }),
    emulator.clock,
  );
  await caller.say('no');
  await caller.pause(1_500);
  await until(() => caller.ended.length === 1, 'the end of the turn');
  t.ok(emulator.log.entries.some((entry) => entry.text?.includes('"trigger":"timeout"')));
  t.equal(caller.ended[0]?.text, 'no');
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram_flux: flush forces the end of an open turn where the vendor allows it', async (t) => {
  const emulator = await start(t, { clock: new HandClock(1_000), connectedAfterMs: 0 });
  const caller = await Caller.at(emulator, config(emulator.wsUrl, { force_end_turn: true }));
  await caller.say('for seven please');
  await until(() => caller.interims.at(-1) === 'for seven', 'words');
  t.equal((await caller.flush()).text, 'for seven please');
  t.ok(emulator.log.entries.some((entry) => entry.text?.includes('"trigger":"manual"')));
  t.same(caller.ended, [], 'the text goes to one place only');
  await caller.say('yes');
  await caller.pause(900);
  await until(() => caller.ended.length === 1, 'the next turn');
  t.equal(caller.ended[0]?.text, 'yes');
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test(
  'R8 deepgram_flux: flush without that takes the words so far, and the turn goes on after them',
  async (t) => {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    await caller.say('two please');
    await caller.pause(240);
    await until(() => caller.interims.at(-1) === 'two please', 'words');
    t.equal((await caller.flush()).text, 'two please');
    t.notOk(emulator.log.entries.some((entry) => entry.text?.includes('ForceEndTurn')));
    await caller.say('thank you');
    await caller.pause(900);
    await until(() => caller.ended.length === 1, 'the rest of the turn');
    t.equal(caller.ended[0]?.text, 'thank you', 'what was taken does not come again');
    await caller.session.close();
    t.same(emulator.violations.list, []);
  },
);

t.test('R8 deepgram_flux: a muted line is given silence, so that an open turn ends', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, connectedAfterMs: 0 });
  const caller = await Caller.at(emulator, config(emulator.wsUrl));
  const audio = speakTones('no thank you', WORDS, 8_000);
  await caller.feed(audio, () => clock.advance(20, 20));
  await until(() => caller.turns.length === 1, 'the start of the turn');
  // Not one more frame is fed from here on.
  for (let round = 0; round < 200 && caller.ended.length === 0; round++) await clock.advance(40, 20);
  await until(() => caller.ended.length === 1, 'the end of the turn');
  t.equal(caller.ended[0]?.text, 'no thank you');
  const gapMs = emulator.longestOpenTurnGapMs();
  t.ok(gapMs >= 400 && gapMs <= 1_000, `silence came after ${gapMs} ms`);
  t.ok((caller.finals[0]?.uptoSample ?? Infinity) <= caller.fedSamples, 'silence of our own is not counted');
  const sent = emulator.audio(0).samples;
  await clock.advance(3_000, 100);
  t.equal(emulator.audio(0).samples, sent, 'between turns nothing is sent');
  const closing = caller.session.close();
  await closing;
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram_flux: a session before its first audio is kept open', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await start(t, { clock, connectedAfterMs: 0 });
  const caller = await Caller.at(emulator, config(emulator.wsUrl));
  await clock.advance(21_000, 500);
  await until(() => emulator.audio(0).samples >= 4 * 640, 'silence about every 4 s');
  t.ok(emulator.audio(0).longestGapMs < 10_000);
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 deepgram_flux: sequence numbers tell repeated messages from new ones', async (t) => {
  const start = turn('StartOfTurn', 'yes', { sequence_id: 1 });
  const end = turn('EndOfTurn', 'yes yes', { sequence_id: 2, trigger: 'model' });
  const next = turn('StartOfTurn', 'no', { sequence_id: 3, turn_index: 1 });
  const { caller } = await scripted(t, [start, start, end, end, start, next, next]);
  await until(() => caller.turns.length >= 3, 'three events');
  await caller.pause(80);
  t.match(caller.turns, [{ type: 'start' }, { type: 'end', text: 'yes yes' }, { type: 'start' }]);
  t.equal(caller.turns.length, 3);
  await caller.session.close();
});

t.test('R8 deepgram_flux: events that come in an impossible order still make whole turns', async (t) => {
  const { caller } = await scripted(t, [
    turn('TurnResumed', 'one'),
    turn('EagerEndOfTurn', 'one two'),
    turn('EagerEndOfTurn', 'one two'),
    turn('SomethingNew', 'one two three'),
    turn('EndOfTurn', 'one two three', { trigger: 'model' }),
    turn('Update', 'one two three'),
    turn('EndOfTurn', 'four', { turn_index: 1, trigger: 'model' }),
    turn('Update', '', { turn_index: 2 }),
    { type: 'ConfigureSuccess', thresholds: {}, keyterms: [] },
    { type: 'ConfigureFailure' },
    { type: 'TurnInfo' },
    turn('StartOfTurn', 'five', { turn_index: 2 }),
  ]);
  await until(() => caller.turns.length >= 6, 'all events');
  t.same(
    caller.turns.map((event) => ('text' in event ? `${event.type} ${event.text}` : event.type)),
    ['start', 'eager_end one two', 'end one two three', 'start', 'end four', 'start'],
  );
  t.same(caller.failures, []);
  await caller.session.close();
});

t.test('R8 deepgram_flux: Error ends the session with what the vendor said', async (t) => {
  for (const [code, expected] of [
    ['NET-0001', 'transient'],
    ['INTERNAL_SERVER_ERROR', 'transient'],
    ['UNPARSABLE_CLIENT_MESSAGE', 'config'],
    ['DATA-0000', 'config'],
  ]) {
    const emulator = await start(t);
    const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
    emulator.control.latest().send({ type: 'Error', sequence_id: 9, code, description: 'it is over' });
    emulator.control.latest().close(1011, code);
    const failure = await caller.failure();
    t.match(failure.details, { class: expected, vendorCode: code });
    t.match(failure.message, /it is over/);
    await caller.session.close();
    t.equal(caller.failures.length, 1, 'the close after it is not told again');
  }
});

t.test('R8 deepgram_flux: the client sends no Configure, whatever happens', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.wsUrl), emulator.clock);
  await caller.say('yes');
  await caller.pause(700);
  await until(() => caller.ended.length === 1, 'the end of the turn');
  caller.session.discard();
  await caller.session.close();
  const said = emulator.log.entries.filter((entry) => entry.direction === 'in' && entry.kind === 'text');
  t.same(
    said.map((entry) => entry.text),
    ['{"type":"CloseStream"}'],
  );
});

t.test('R8 deepgram_flux: settings reach the vendor; wrong ones are refused by name', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(
    config(emulator.wsUrl, {
      language: 'hi-IN',
      eot_threshold: 0.8,
      eager_eot_threshold: 0.6,
      eot_timeout_ms: 4_000,
      keyterms: ['Trunk Line'],
      redact: ['numbers'],
    }),
    emulator.clock,
    16_000,
  );
  t.equal(caller.stt.model, 'flux-general-multi', 'Hindi needs the multilingual model');
  const query = new URLSearchParams(emulator.log.entries[0]?.query);
  t.match(Object.fromEntries(query), {
    language_hint: 'hi',
    eot_threshold: '0.8',
    eager_eot_threshold: '0.6',
    eot_timeout_ms: '4000',
    keyterm: 'Trunk Line',
    sample_rate: '16000',
  });
  for (const name of ['language', 'interim_results', 'endpointing', 'punctuate', 'smart_format'])
    t.notOk(query.has(name), `${name} belongs to the other socket`);
  await caller.feed(silence(200, 16_000));
  await caller.session.close();
  t.same(emulator.violations.list, []);
  const refused = async (more: Record<string, unknown>) =>
    (await rejection(Caller.calls(config('ws://127.0.0.1:1', more), new HandClock(1_000)))).message;
  t.match(await refused({ eager_eot_threshold: 0.8 }), /^stt\.eager_eot_threshold must not be above/);
  t.match(await refused({ eot_threshold: 0.4 }), /^stt\.eot_threshold must/);
  t.match(await refused({ language_hints: ['hi'] }), /^stt\.language_hints is understood by/);
  t.match(
    await refused({ model: 'flux-general-multi', language_hints: ['xx'] }),
    /^stt\.language_hints must/,
  );
});
