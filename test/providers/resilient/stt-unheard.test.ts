import t from 'tap';
import { wordCall, words } from './word-call.ts';
import { WORD_SAMPLES } from './word-engine.ts';

/** Engines that stand, answer, and find no word in what the caller says. */
t.test('RT-59 a turn of speech of which no engine says a word is told as that', async (t) => {
  const deaf = () => [{ deaf: true }, { deaf: true }, { deaf: true }, { deaf: true }];
  const live = await wordCall({ deepgram: deaf() });
  await live.pause(200);
  await live.say(1, 12);
  t.match(await live.heard(), { text: '', isUnheard: true }, 'the caller can be asked again');
  const sessions = () => live.engines[0]?.fed.length ?? 0;
  t.equal(sessions(), 2, 'after a second session has heard it too');
  await live.say(13, 25);
  t.match(await live.heard(), { text: '', isUnheard: true });
  t.equal(sessions(), 3, 'and a third one the second turn');
  await live.noise(400);
  t.notOk((await live.heard()).isUnheard, 'a cough need not have words');
  await live.session.close();

  const healed = await wordCall({ deepgram: deaf(), soniox: [] });
  await healed.pause(200);
  await healed.say(1, 12);
  t.match(await healed.heard(), { text: '', isUnheard: true });
  await healed.say(13, 25);
  t.same(await healed.text(), words(13, 25), 'the second turn is heard by another engine');
  t.equal(healed.stt.name, 'soniox');
  await healed.session.close();

  const later = await wordCall({ openai: [{ dumbAfterSamples: 14 * WORD_SAMPLES }] }, { wordsPerFinal: 0 });
  await later.pause(200);
  await later.say(1, 10);
  t.equal(await later.text(), words(1, 10));
  await later.noise(1_500);
  t.match(await later.heard(), { text: '', isUnheard: true }, 'also right after a turn with words');
  await later.session.close();
});

t.test('RT-59 an engine that detects turns and finds no words in them is told as that', async (t) => {
  const live = await wordCall({ flux: [], soniox: [] }, { detectsTurns: true });
  const turn = async (at: number, text: string) => {
    const told = live.engines[0]?.handlers[at];
    told?.onTurn?.({ type: 'start' });
    await live.noise(1_500);
    told?.onTurn?.({ type: 'end', text, confidence: null });
  };
  await live.pause(200);
  await turn(0, '');
  t.match(live.turns.at(-1), { type: 'end', text: '', isUnheard: true });
  await turn(0, 'hello');
  t.notOk('isUnheard' in (live.turns.at(-1) ?? {}), 'words are words');
  await turn(0, '');
  await turn(0, '');
  await live.pause(500);
  t.equal(live.stt.name, 'soniox', 'two in a row, and another engine listens');
  await live.session.close();
});
