import t from 'tap';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { TurnModel } from '../../src/slot/listen/turn-model.ts';
import { humanClip, wideHumanClip } from '../listen/fixtures/human-clips.ts';
import { type Engine, type Room, silence, speech, speechInputUnderTest, word } from './speech-input-world.ts';

t.test('RT-05 the engine ends the turns, voice activity still notices interruptions', async (t) => {
  const call = await speechInputUnderTest(t, { detectsTurns: true });
  call.botSpeaks(1);
  call.tell().onTurn?.({ type: 'start' });
  await call.hear(speech);
  t.equal(call.of('pause_bot').length, 1, 'the bot is paused by the speech, not by the engine');
  t.equal(call.of('cut_bot').length, 1, 'and cut, because it goes on');
  await call.hear(silence(1));
  t.equal(call.of('take_turn').length, 0, 'a second of silence ends nothing by itself');
  call.tell().onInterim('go forward');
  call.tell().onTurn?.({ type: 'eager_end', text: 'go forward ten', confidence: 0.5 });
  call.tell().onTurn?.({ type: 'resumed' });
  t.equal(call.of('take_turn').length, 0);
  call.tell().onTurn?.({ type: 'end', text: ' go forward ten meters ', confidence: 0.7 });
  t.match(call.of('take_turn'), [{ text: 'go forward ten meters', decidedBy: 'stt', turn: 1 }]);
  t.equal(call.speechInput.turns.evidenceOf(1).confidence, 0.7);
  t.equal(call.at.flushes, 0, 'nothing is asked twice');
});

t.test('RT-05 speech that only the engine hears is a turn', async (t) => {
  const call = await speechInputUnderTest(t, { detectsTurns: true });
  await call.hear(silence(1));
  call.tell().onTurn?.({ type: 'start' });
  call.tell().onTurn?.({ type: 'end', text: 'haan', confidence: null });
  t.match(call.of('take_turn'), [{ text: 'haan', decidedBy: 'stt' }]);
});

t.test('RT-09 an engine that says nothing of what was spoken is asked for its text', async (t) => {
  const call = await speechInputUnderTest(t, { detectsTurns: true });
  await call.hear(speech);
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'asked for', decidedBy: 'stt_stuck' }]);
  t.equal(call.at.flushes, 1);
  t.match(call.of('expired'), [{ timer: 'stt_turn_stuck' }], 'and the record tells');
});

t.test(
  'RT-05 an engine that detects no turns takes over in the middle: the local rules end them',
  async (t) => {
    const call = await speechInputUnderTest(t, { detectsTurns: true });
    call.tell().onTurn?.({ type: 'start' });
    await call.hear(speech);
    call.engine.detectsTurns = false;
    t.ok(await call.until('take_turn'));
    call.tell().onTurn?.({ type: 'end', text: 'too late', confidence: null });
    t.match(call.of('take_turn'), [{ text: 'asked for', decidedBy: 'silence_rule' }]);
  },
);

t.test('RT-11 RT-14 speech without words pauses the bot, and it goes on', async (t) => {
  const call = await speechInputUnderTest(t, { texts: [''] }, {}, 2);
  call.botSpeaks(1);
  await call.hear(word);
  t.ok(await call.until('resume_bot'));
  t.equal(call.of('pause_bot').length, 1);
  t.same([...call.of('cut_bot'), ...call.of('take_turn')], [], 'nobody took the floor');
});

t.test(
  'RT-12 RT-13 words over the bot: a sign of listening is kept, a stop phrase takes the floor',
  async (t) => {
    const listening = await speechInputUnderTest(t, { texts: ['okay'] }, { commit_ms: 5_000 }, 2);
    listening.botSpeaks(1);
    await listening.hear(word);
    t.ok(await listening.until('resume_bot'));
    t.match(listening.of('overlap'), [{ text: 'okay' }]);
    t.same(listening.of('take_turn'), []);

    const stopping = await speechInputUnderTest(t, { texts: ['stop'] }, {}, 3);
    stopping.botSpeaks(1);
    await stopping.hear(speech.subarray(0, 7_000));
    stopping.tell().onInterim('stop');
    t.equal(stopping.of('cut_bot').length, 1, 'on the way already');
    t.ok(await stopping.until('take_turn'));
  },
);

t.test(
  'RT-15 a protected line is finished first, and what was said over it is answered after it',
  async (t) => {
    const call = await speechInputUnderTest(t, { texts: ['who are you'] });
    call.botSpeaks(1, true);
    await call.hear(speech);
    await call.hear(silence(3));
    t.same([...call.of('pause_bot'), ...call.of('cut_bot'), ...call.of('take_turn')], []);
    call.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
    t.ok(await call.until('take_turn'));
    t.match(call.of('take_turn'), [{ text: 'who are you' }]);
  },
);

t.test('who goes on before the answer is heard is answered once, to all they said', async (t) => {
  const call = await speechInputUnderTest(t, { texts: ['I asked for', 'a loan'] });
  await call.hear(speech);
  t.ok(await call.until('take_turn'));
  call.speechInput.turns.send({ type: 'reply_begun', reply: 1, isProtected: false });
  await call.hear(speech);
  t.match(call.of('withdraw'), [{ reply: 1, turn: 1 }]);
  for (let round = 0; round < 60 && call.of('take_turn').length < 2; round++) await call.hear(silence(0.1));
  t.match(call.of('take_turn')[1], { text: 'I asked for a loan' });
});

t.test('RT-04 who ends in words that promise more is let finish, and is heard as one turn', async (t) => {
  const call = await speechInputUnderTest(t, { texts: ['I want to cancel my', 'subscription'] });
  await call.hear(speech);
  await call.hear(silence(0.2));
  t.equal(call.at.flushes, 1, 'the text is there');
  t.same(call.of('take_turn'), [], 'and promises more');
  await call.hear(speech);
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'I want to cancel my subscription', decidedBy: 'silence_rule' }]);
  t.same(call.of('withdraw'), []);
});

t.test('RT-05 an engine that ends a turn at words that promise more is waited for, too', async (t) => {
  const call = await speechInputUnderTest(t, { detectsTurns: true });
  await call.hear(silence(1));
  call.tell().onTurn?.({ type: 'end', text: 'I want to cancel my', confidence: null });
  await call.hear(silence(1));
  t.same(call.of('take_turn'), []);
  call.tell().onTurn?.({ type: 'end', text: 'subscription', confidence: null });
  t.match(call.of('take_turn'), [{ text: 'I want to cancel my subscription', decidedBy: 'stt' }]);
});

t.test('RT-82 half a number that the bot has asked for is waited for', async (t) => {
  const call = await speechInputUnderTest(t, {
    texts: ['nine eight seven six', 'five four three two one zero'],
  });
  call.speechInput.waits.botSaid('What is your phone number?');
  await call.hear(speech);
  await call.hear(silence(1.05));
  t.equal(call.at.flushes, 1);
  t.same(call.of('take_turn'), []);
  await call.hear(speech);
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'nine eight seven six five four three two one zero' }]);
});

t.test('RT-51 nothing is prepared for words that promise more', async (t) => {
  const call = await speechInputUnderTest(t, { texts: ['I want to cancel my', 'subscription'] });
  await call.hear(speech);
  call.tell().onInterim('I want to cancel my');
  await call.hear(silence(1));
  t.same(
    call.probable.filter(({ turn }) => turn > 0),
    [],
  );
});

t.test('"hello?" while the bot owes an answer takes nothing back', async (t) => {
  const call = await speechInputUnderTest(
    t,
    { texts: ['my question is this', 'Hello?'] },
    { commit_ms: 5_000 },
  );
  await call.hear(speech);
  t.ok(await call.until('take_turn'));
  call.speechInput.turns.send({ type: 'reply_begun', reply: 1, isProtected: false });
  await call.hear(word);
  t.ok(await call.until('overlap'));
  t.same(call.of('withdraw'), []);
});

t.test('a caller too quiet for voice activity is heard by their words', async (t) => {
  const call = await speechInputUnderTest(t, { texts: ['can you hear me now'] });
  await call.hear(silence(3));
  call.tell().onInterim('can you');
  await call.hear(silence(0.4));
  call.tell().onInterim('can you hear me');
  await call.hear(silence(0.4));
  t.equal(call.at.flushes, 0, 'as long as words come the turn goes on');
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'can you hear me now', decidedBy: 'silence_rule' }]);
});

t.test('RT-06 a text that does not come in time is replaced by what was heard on the way', async (t) => {
  const call = await speechInputUnderTest(t, { isMute: true });
  await call.hear(speech);
  call.tell().onInterim('go forward');
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'go forward' }]);
  t.equal(call.at.discards, 1, 'and what still comes is nobody\u2019s');
  t.match(call.of('expired'), [{ timer: 'final_wait' }]);
});

t.test('RT-06 without a word on the way the text is waited for to the end, and then asked for', async (t) => {
  const call = await speechInputUnderTest(t, { isMute: true });
  await call.hear(speech);
  await call.hear(silence(4));
  t.same(call.of('expired'), [], 'two seconds were the measure, and there is nothing to go on with');
  t.ok(await call.until('say_again'));
});

t.test('RT-59 speech in which an engine finds no word is asked for again, a noise is not', async (t) => {
  const unheard = await speechInputUnderTest(t, { isDeaf: true });
  await unheard.hear(speech);
  t.ok(await unheard.until('say_again'));
  t.match(unheard.of('say_again'), [{ turn: 1, isUnheard: true }]);
  t.same(unheard.of('empty_turn'), []);
  t.match(unheard.speechInput.turns.lastFailure, { code: 'provider_timeout', message: /no word/ });

  const noise = await speechInputUnderTest(t, { texts: [''] });
  await noise.hear(word);
  t.ok(await noise.until('empty_turn'));
  t.same(noise.of('say_again'), []);

  const over = await speechInputUnderTest(t, { isDeaf: true }, {}, 2);
  over.botSpeaks(1);
  await over.hear(word);
  t.ok(await over.until('resume_bot'));
  t.same(over.of('say_again'), [], 'over the bot it is the bot that goes on');

  const turns = await speechInputUnderTest(t, { detectsTurns: true });
  await turns.hear(speech);
  turns.tell().onTurn?.({ type: 'end', text: '', confidence: null, isUnheard: true });
  t.ok(await turns.until('say_again'));
});

t.test('RT-07 a caller who pauses long within turns is given the time', async (t) => {
  const call = await speechInputUnderTest(t, {}, { turn_silence_ms: 800 });
  const phrase = speech.subarray(LINE_RATE_HZ / 2, 1.5 * LINE_RATE_HZ);
  for (let round = 0; round < 6; round++) {
    await call.hear(phrase);
    await call.hear(silence(0.45));
  }
  t.ok(call.learned.length > 0, `learned ${call.learned.join(', ')} ms`);
  t.ok(call.learned.every((ms) => ms >= 200 && ms <= 900));
});

t.test('RT-82 a yes-or-no question shortens the wait, a number lengthens it', async (t) => {
  const { speechInput } = await speechInputUnderTest(t);
  const usual = speechInput.waits.silenceSamples;
  speechInput.waits.botSaid('Do you want to go on?');
  t.ok(speechInput.waits.silenceSamples < usual);
  speechInput.waits.botSaid('What is your phone number?');
  t.ok(speechInput.waits.silenceSamples > usual);
  speechInput.waits.botSaid('I see.');
  t.equal(speechInput.waits.silenceSamples, usual);
});

t.test(
  'RT-51 a probable end with its probable words is told, and taken back when the caller goes on',
  async (t) => {
    const waiting = await speechInputUnderTest(t, { isMute: true });
    await waiting.hear(speech);
    waiting.tell().onInterim('go forward');
    await waiting.hear(silence(1));
    t.same(waiting.probable.at(-1), { turn: 1, text: 'go forward' }, 'while the final text is awaited');
    await waiting.hear(speech);
    t.equal(waiting.probable.at(-1)?.turn, -1);

    const eager = await speechInputUnderTest(t, { detectsTurns: true });
    await eager.hear(speech);
    eager.tell().onTurn?.({ type: 'eager_end', text: 'go forward ten', confidence: null });
    t.same(eager.probable.at(-1), { turn: 1, text: 'go forward ten' });
    eager.tell().onTurn?.({ type: 'resumed' });
    t.equal(eager.probable.at(-1)?.turn, -1);
  },
);

t.test(
  'RT-22 a caller who speaks after a goodbye by phrase is not hung up on; an ordered end stands',
  async (t) => {
    const objecting = await speechInputUnderTest(t, { texts: ['one more thing'] });
    objecting.botSpeaks(1);
    objecting.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
    objecting.speechInput.turns.send({ type: 'close', cause: 'closure_phrase' });
    await objecting.hear(speech.subarray(LINE_RATE_HZ / 2));
    t.equal(objecting.of('closing_cancelled').length, 1);
    t.ok(await objecting.until('take_turn'));
    t.same(objecting.of('end'), []);

    const ordered = await speechInputUnderTest(t);
    ordered.botSpeaks(1);
    ordered.speechInput.turns.send({ type: 'close', cause: 'end_call' });
    await ordered.hear(speech);
    t.same(ordered.of('cut_bot'), [], 'RT-23 the goodbye is heard');
    ordered.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
    t.ok(await ordered.until('end'));
    t.match(ordered.of('end'), [{ cause: 'end_call' }]);
  },
);

t.test('RT-13 RT-23 what is said over the goodbye of end_call is kept as overlap', async (t) => {
  const over = async (
    engine: Engine,
    live: (call: Awaited<ReturnType<typeof speechInputUnderTest>>) => unknown,
  ) => {
    const call = await speechInputUnderTest(t, engine);
    call.botSpeaks(1);
    call.speechInput.turns.send({ type: 'reply_bound', reply: 1, isProtected: true });
    await live(call);
    t.same(call.of('cut_bot'), [], 'the goodbye is heard');
    t.same(call.of('take_turn'), []);
    return call.of('overlap').map((action) => ('text' in action ? action.text : ''));
  };
  const close = { type: 'close', cause: 'end_call' } as const;
  const afterClose = await over({ texts: ['one more thing'] }, async ({ speechInput, hear }) => {
    speechInput.turns.send(close);
    await hear(speech);
    await hear(silence(1));
  });
  t.same(afterClose, ['one more thing'], 'said while it plays');
  const before = await over({ texts: ['and my address'] }, async ({ speechInput, hear }) => {
    await hear(speech.subarray(0, LINE_RATE_HZ));
    speechInput.turns.send(close);
    await hear(speech.subarray(LINE_RATE_HZ));
    await hear(silence(1));
  });
  t.same(before, ['and my address'], 'begun before all of it was there');
  const stopped = await over({ texts: ['wait please'] }, async ({ speechInput, hear }) => {
    speechInput.turns.send(close);
    await hear(speech.subarray(LINE_RATE_HZ / 2, 1.5 * LINE_RATE_HZ));
    speechInput.turns.stop();
    await speechInput.turns.lastWords;
  });
  t.same(stopped, ['wait please'], 'still being said when the line is closed');
  const byEngine = await over({ detectsTurns: true }, async ({ speechInput, hear, tell }) => {
    speechInput.turns.send(close);
    await hear(speech);
    tell().onTurn?.({ type: 'end', text: 'no, wait', confidence: 0.9 });
    await hear(silence(0.2));
  });
  t.same(byEngine, ['no, wait'], 'ended by the engine');
  const atOnce = await speechInputUnderTest(t, { texts: ['yes but'] });
  atOnce.botSpeaks(1);
  await atOnce.hear(speech.subarray(LINE_RATE_HZ / 2, LINE_RATE_HZ));
  atOnce.speechInput.turns.send({ type: 'reply_bound', reply: 1, isProtected: true });
  atOnce.speechInput.turns.send(close);
  await atOnce.hear(speech.subarray(LINE_RATE_HZ));
  await atOnce.hear(silence(1));
  t.match(atOnce.of('overlap'), [{ text: 'yes but' }], 'begun before the end was ordered');
  t.same(atOnce.of('cut_bot'), []);
});

t.test(
  'RT-24 the longest duration is announced before it ends the call, whatever the line does',
  async (t) => {
    const { speechInput, of } = await speechInputUnderTest(t);
    const seconds = (count: number) => count * LINE_RATE_HZ;
    speechInput.turns.advanceDuration(seconds(579));
    t.same([...of('warn_duration'), ...of('end')], []);
    speechInput.turns.advanceDuration(seconds(580));
    t.equal(of('warn_duration').length, 1, 'though not a sample came');
    speechInput.turns.suspend();
    speechInput.turns.advanceDuration(seconds(600));
    t.match(of('end'), [{ cause: 'max_duration' }], 'and though somebody else has the line');
  },
);

/** The bot says a sentence twice, and it comes back 180 ms later and 12 dB weaker. */

t.test('RT-62 RT-78 in a room the model that ends turns judges audio at 16 kHz', async (t) => {
  const turnModel = await TurnModel.start({
    modelPath: await loadModelPath('smart-turn', projectPath('models')),
  });
  t.teardown(() => turnModel.close());
  const judged: { samples: Int16Array; rateHz: number | undefined }[] = [];
  const verdicts: Promise<unknown>[] = [];
  const judge = turnModel.judge.bind(turnModel);
  turnModel.judge = (samples, _deadlineMs, rateHz) => {
    judged.push({ samples: samples.slice(), rateHz });
    // A loaded machine must not turn the verdict into one of the silence rule.
    const verdict = judge(samples, 20_000, rateHz);
    verdicts.push(verdict);
    return verdict;
  };
  const room: Room = { turnModel, fedSamples: 0 };
  const call = await speechInputUnderTest(t, { texts: ['go forward ten meters'] }, {}, 0, room);
  await call.hear(silence(1), new Int16Array(2 * LINE_RATE_HZ));
  await call.hear(humanClip('goforward.raw'), wideHumanClip('goforward.raw'));
  // The model answers by the clock of the machine, so the line stands still while it thinks.
  for (let round = 0; round < 20 && verdicts.length === 0; round++) await call.hear(silence(0.1));
  await Promise.all(verdicts);
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'go forward ten meters', decidedBy: 'model' }]);
  t.ok(judged.length > 0);
  for (const { samples, rateHz } of judged) {
    t.equal(rateHz, 16_000);
    t.ok(samples.length > 1.5 * 16_000, `${samples.length} samples of the sentence and its pre-roll`);
  }
  t.equal(room.fedSamples, 2 * call.fedSamples(), 'and the engine is fed all of it at 16 kHz');
});
