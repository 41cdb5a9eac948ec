import t, { type Test } from 'tap';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { type Engine, silence, speech, speechInputUnderTest, word } from './speech-input-world.ts';

/** What comes back of the bot, and what callers say over its last words. */
async function withEcho(t: Test, engine: Engine, echoes = true) {
  const call = await speechInputUnderTest(t, engine);
  call.botSpeaks(1);
  const delay = 0.18 * LINE_RATE_HZ;
  const bot = new Int16Array(2 * speech.length);
  bot.set(speech);
  bot.set(speech, speech.length);
  const line = new Int16Array(bot.length + delay);
  const echo = bot.map((sample) => sample >> 2);
  if (echoes) line.set(echo, delay);
  const clause = { id: 1, text: 'Go forward ten meters. Go forward ten meters!', spoken: '' };
  for (let at = 0; at < bot.length; at += 160) {
    call.speechInput.botSent(bot.subarray(at, at + 160), at, clause);
    await call.hear(line.subarray(at, at + 160));
  }
  await call.hear(line.subarray(bot.length));
  return call;
}

t.test('RT-18 the bot coming back from the far end interrupts nobody', async (t) => {
  const call = await withEcho(t, { texts: ['go forward ten meters', 'go for ten meters', 'ten meters'] });
  await call.hear(silence(2));
  t.same([...call.of('cut_bot'), ...call.of('take_turn'), ...call.of('overlap')], []);
  t.ok(call.of('echo').length > 0, 'its words are told as an echo');
  t.ok(call.speechInput.listener.line.echoes > 0);
  t.equal(call.of('pause_bot').length, call.of('resume_bot').length);
});

t.test('RT-18 what only sounds like the bot is decided by its words', async (t) => {
  const call = await withEcho(t, { texts: ['no I want something else', 'entirely different words'] });
  await call.hear(silence(2));
  t.same(call.of('echo'), []);
  t.equal(call.of('cut_bot').length, 1, 'the words are not the bot\u2019s, so somebody said them');
  t.equal(call.speechInput.listener.line.echoes, 0, 'and nothing is learned of the line');
});

t.test(
  'RT-18 an answer in the words of the question is a turn where nothing sounds like an echo',
  async (t) => {
    const call = await withEcho(t, { texts: ['meters'] }, false);
    call.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
    await call.hear(silence(0.4));
    await call.hear(word);
    t.ok(await call.until('take_turn'));
    t.match(call.of('take_turn'), [{ text: 'meters' }]);
  },
);

t.test('RT-18 words too quiet for voice activity count right after the bot, but not its own', async (t) => {
  const call = await withEcho(t, { texts: ['nahin'] }, false);
  call.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
  await call.hear(silence(0.3));
  call.tell().onInterim('ten meters');
  await call.hear(silence(1));
  t.equal(call.at.flushes, 0, 'an echo that voice activity did not notice is nobody\u2019s');
  call.tell().onInterim('nahin');
  t.ok(await call.until('take_turn'));
  t.match(call.of('take_turn'), [{ text: 'nahin' }]);
});

t.test('RT-13 "yes" over the last words of a question is its answer', async (t) => {
  const answered = await speechInputUnderTest(t, { texts: ['Yes.'], questionLeftMs: 900 }, {}, 2);
  answered.botSpeaks(1);
  await answered.hear(word);
  await answered.hear(silence(0.6));
  t.same([...answered.of('overlap'), ...answered.of('cut_bot')], [], 'the bot comes to its end');
  t.equal(answered.of('pause_bot').length, answered.of('resume_bot').length);
  answered.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
  t.ok(await answered.until('take_turn'));
  t.match(answered.of('take_turn'), [{ text: 'Yes.' }]);

  const cases: [text: string, leftMs: number | null, isAnswer: boolean][] = [
    ['hmm', 900, false],
    ['yes', null, false],
    ['yes', 2_400, false],
    ['tomorrow', 900, true],
  ];
  for (const [text, questionLeftMs, isAnswer] of cases) {
    const call = await speechInputUnderTest(t, { texts: [text], questionLeftMs }, {}, 3);
    call.botSpeaks(1);
    await call.hear(word);
    await call.hear(silence(0.6));
    call.speechInput.turns.send({ type: 'reply_ended', reply: 1, how: 'played' });
    await call.hear(silence(1.5));
    t.equal(call.of('take_turn').length === 1, isAnswer, `${text}, ${questionLeftMs} ms before the end`);
    t.equal(call.of('overlap').length === 1, !isAnswer);
  }
});
