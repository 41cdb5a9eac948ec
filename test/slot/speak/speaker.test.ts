import t from 'tap';
import { FRAME_SAMPLES } from '../../../src/contracts/limits.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import type { TextToSpeech } from '../../../src/providers/contract/text-to-speech.ts';
import { createResilientTts } from '../../../src/providers/resilient/resilient-tts.ts';
import { SpeechCache } from '../../../src/providers/spoken-lines/speech-cache.ts';
import { LineCache } from '../../../src/slot/speak/line-cache.ts';
import type { Clause, SpeakerHooks } from '../../../src/slot/speak/speaker.ts';
import { speakableOptions } from '../../../src/slot/speak/text/to-speakable.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { until } from '../../harness/wait.ts';
import { chainOf, configInputs } from '../../providers/resilient/bench-call.ts';
import { spokenCall, timedVoice } from './spoken-call.ts';

t.setTimeout(280_000);

async function* saying(...clauses: Clause[]): AsyncGenerator<Clause> {
  yield* clauses;
}

const HOOKS: SpeakerHooks = {
  onFirstAudio: () => undefined,
  onHeard: () => undefined,
  onSynthesized: () => undefined,
  onFailure: () => undefined,
  sendMark: () => undefined,
  sendClear: () => undefined,
};

t.test(
  'RT-14 RT-17 a reply that was paused twice is heard whole, with marks of its own each time',
  async (t) => {
    const { voice } = timedVoice();
    const call = spokenCall(t, { tts: voice });
    const reply = call.speaker.say('answer', () => saying('A first clause of the bot.', 'And a second one.'));
    for (const frames of [10, 30]) {
      await until(() => call.heard.length >= frames, 'some of it is heard');
      call.speaker.pause();
      const before = call.heard.length;
      t.ok(call.speaker.isPaused);
      // Longer than the lead and the longest a mark is waited for.
      await new Promise((resolve) => setTimeout(resolve, 700));
      t.ok(call.heard.length <= before + 2, 'silence, but for the frame that was being played');
      t.ok(call.speaker.isBusy, 'the reply is not over');
      call.speaker.resume();
    }
    t.equal(await reply.ended, 'played');
    t.equal(call.ledger.heardText(reply.id), 'A first clause of the bot. And a second one.');
    t.equal(call.ledger.evidence(reply.id), 'mark');
    t.equal(new Set(call.marks).size, call.marks.length, 'no mark is used twice');
    const samples = call.ledger.ofReply(reply.id).reduce((sum, unit) => sum + unit.sentSamples, 0);
    t.ok(call.heard.length * FRAME_SAMPLES >= samples, 'nothing was lost');
    t.ok(call.heard.length * FRAME_SAMPLES <= samples * 1.5, 'and little came twice');
  },
);

t.test('RT-14 the mark of a dropped sending proves nothing', async (t) => {
  const { voice } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const reply = call.speaker.say('answer', () => saying('No.'));
  await until(() => call.marks.length === 1, 'its mark was sent');
  call.speaker.pause();
  t.equal(call.clears(), 1);
  t.equal(call.ledger.heardText(reply.id), '', 'the far end echoed it as it dropped the audio');
  call.speaker.resume();
  t.equal(await reply.ended, 'played');
  t.same(call.marks, ['unit-1', 'unit-1.2']);
});

t.test('RT-17 RT-47 a clause that the voice ends without a sound was not said', async (t) => {
  const mute: TextToSpeech = { ...timedVoice().voice, async *speak() {} };
  const call = spokenCall(t, { tts: createResilientTts(chainOf('tts', [mute], configInputs()), mute) });
  const reply = call.speaker.say('answer', () => saying('Nobody hears this.'));
  t.equal(await reply.ended, 'failed', 'it is owed like any other');
  t.same([call.ledger.heardText(reply.id), call.ledger.evidence(reply.id)], ['', 'none']);
  t.match(call.failures, [{ code: 'provider_failed' }]);
});

t.test('RT-16 a bot that is cut while it is paused is not heard, and the next reply is', async (t) => {
  const { voice } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const first = call.speaker.say('answer', () => saying('This is going to be interrupted soon.'));
  await until(() => call.heard.length >= 15, 'some of it is heard');
  call.speaker.pause();
  const before = call.heard.length;
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.equal(call.speaker.cut(), first);
  t.equal(await first.ended, 'cut');
  t.ok(call.heard.length <= before + 2, 'silence, but for the frame that was being played');
  const text = call.ledger.heardText(first.id);
  t.ok(text.startsWith('This is') && text.length < 20, `the time of the pause is not speech: ${text}`);
  t.equal(call.ledger.evidence(first.id), 'words');
  const next = call.speaker.say('answer', () => saying('Yes?'));
  t.equal(await next.ended, 'played');
  t.equal(call.ledger.heardText(next.id), 'Yes?');
});

t.test('RT-16 a reply that dies during a pause does not leave the next one mute', async (t) => {
  const { voice } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const dead = call.speaker.say('answer', async function* () {
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error('the model is gone');
  });
  call.speaker.pause();
  t.equal(await dead.ended, 'failed');
  t.ok(call.speaker.isPaused);
  const next = call.speaker.say('rescue', () => saying('Sorry.'));
  t.equal(await next.ended, 'played');
});

t.test('RT-40 RT-39 the voice gets words, the record keeps what was written', async (t) => {
  const { voice, given } = timedVoice();
  const filtered: object[] = [];
  const call = spokenCall(t, {
    tts: voice,
    speakable: speakableOptions('en-IN', [{ word: 'Trunkline', spoken: 'trunk line' }]),
    hooks: { ...HOOKS, onFiltered: (_reply, counts) => filtered.push(counts) },
  });
  const reply = call.speaker.say('answer', () => saying('Pay **₹500** to Trunkline.', '🙂'));
  t.equal(await reply.ended, 'played');
  t.same(given, ['Pay five hundred rupees to trunk line.'], 'a smile has no sound');
  t.equal(call.ledger.heardText(reply.id), 'Pay **₹500** to Trunkline.');
  t.ok(filtered.length >= 1);
});

t.test('RT-39 a reply that ends behind a stray brace is said and written to its last word', async (t) => {
  const { voice, given } = timedVoice();
  const call = spokenCall(t, { tts: voice, speakable: speakableOptions('en-IN') });
  const reply = call.speaker.say('answer', () => saying('The plan { costs', 'nothing at all'));
  t.equal(await reply.ended, 'played');
  t.same(given, ['The plan', 'costs nothing at all']);
  t.equal(call.ledger.heardText(reply.id), 'The plan { costs nothing at all');
});

t.test('RT-45 an aside bridges a wait and is no part of the answer', async (t) => {
  const { voice, given } = timedVoice();
  const asides: string[] = [];
  const call = spokenCall(t, {
    tts: voice,
    hooks: { ...HOOKS, onAside: (_reply, text) => asides.push(text) },
  });
  const reply = call.speaker.say('answer', () =>
    saying({ text: 'Let me look.', isAside: true }, 'It is ready.', { text: 'Still here.', isAside: true }),
  );
  t.equal(await reply.ended, 'played');
  t.same(given, ['Let me look.', 'It is ready.'], 'an aside that comes while the bot speaks is left out');
  t.same(asides, ['Let me look.']);
  t.equal(call.ledger.heardAnswer(reply.id), 'It is ready.', 'the model is not told of it');
  t.equal(call.ledger.heardText(reply.id), 'Let me look. It is ready.', 'the transcript is');
});

t.test('RT-45 an aside that cannot be spoken does not fail the answer, and may be refused', async (t) => {
  const { voice, given, failing } = timedVoice();
  failing.add('Hold on.');
  const call = spokenCall(t, { tts: voice });
  const reply = call.speaker.say('answer', () => saying({ text: 'Hold on.', isAside: true }, 'Done.'));
  t.equal(await reply.ended, 'played');
  t.equal(call.ledger.heardText(reply.id), 'Done.');
  t.same(call.failures, []);
  const shy = spokenCall(t, { tts: voice, hooks: { ...HOOKS, wantsAside: () => false } });
  const second = shy.speaker.say('answer', () => saying({ text: 'Wait.', isAside: true }, 'Done.'));
  t.equal(await second.ended, 'played');
  t.notOk(given.includes('Wait.'));
});

t.test('RT-32 a prompt that the caller needs no more of is dropped, and its reply goes on', async (t) => {
  const { voice } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const { promise: keyed, resolve: press } = Promise.withResolvers<void>();
  const reply = call.speaker.say('answer', async function* () {
    yield { text: 'ten seconds of it', audio: new Int16Array(80_000).fill(500) };
    await keyed;
    yield 'Thank you.';
  });
  await until(() => call.heard.length > 20, 'it is heard');
  call.speaker.hush();
  const heardFrames = call.heard.length;
  t.ok(heardFrames < 400, 'the rest of the prompt is not sent');
  press();
  t.equal(await reply.ended, 'played');
  t.ok(call.heard.length > heardFrames, 'what follows is');
  t.match(call.ledger.heardText(reply.id), /^(ten .*)?Thank you\.$/);
  t.notMatch(call.ledger.heardText(reply.id), /of it/);
  call.speaker.hush();
  t.notOk(call.speaker.isBusy);
});

t.test('audio that is there as a whole is played like any reply, and can be cut', async (t) => {
  const { voice, given } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const tones = call.speaker.say('prompt', () =>
    saying({ text: '', audio: new Int16Array(1_600).fill(500) }),
  );
  t.equal(await tones.ended, 'played');
  t.equal(call.heard.length, 10);
  t.equal(call.ledger.heardText(tones.id), '');
  const long = call.speaker.say('prompt', () =>
    saying({ text: 'ten seconds of it', audio: new Int16Array(80_000) }),
  );
  await until(() => call.heard.length > 20, 'it is heard');
  call.speaker.cut();
  t.equal(await long.ended, 'cut');
  t.same(given, []);
});

t.test('RT-17 RT-42 a cut reply is heard up to the word that the voice had ended', async (t) => {
  const { voice } = timedVoice();
  const call = spokenCall(t, { tts: voice });
  const text = 'one two three four five six seven eight nine ten eleven twelve';
  const reply = call.speaker.say('answer', () => saying(text));
  await until(() => call.heard.length >= 40, 'some of it is heard');
  const frames = call.heard.length;
  call.speaker.cut();
  const heard = call.ledger.heardText(reply.id);
  t.equal(call.ledger.evidence(reply.id), 'words');
  t.ok(text.startsWith(heard));
  // 40 ms a character, in frames of 20 ms; a loaded machine may have played on by the cut.
  t.ok(heard.length * 2 >= frames - 2 * 'three '.length, `${heard} after ${frames} frames`);
  t.equal(`${heard} ${call.ledger.unheardText(reply.id)}`, text);
});

t.test(
  'RT-45 a line of the bot’s own voice comes before a late answer, and no strange voice does',
  async (t) => {
    const folder = tempFolder();
    const { voice } = timedVoice();
    const lines = new LineCache({
      cache: new SpeechCache(folder),
      voice: { provider: 'elevenlabs', voice: 'v' },
      texts: ['One moment.'],
      logger: createLogger({ level: 'silent', role: 'test' }),
    });
    const call = spokenCall(t, { tts: voice, lines });
    const { promise: words, resolve: think } = Promise.withResolvers<string>();
    const reply = call.speaker.say('answer', async function* () {
      yield await words;
    });
    t.notOk(await call.speaker.interject('One moment.', { inOwnVoice: true }), 'its audio is not here yet');
    lines.learn('One moment.', new Int16Array(8_000).fill(300));
    call.speaker.pause();
    t.notOk(await call.speaker.interject('One moment.', { inOwnVoice: true }), 'a paused bot says nothing');
    call.speaker.resume();
    t.ok(await call.speaker.interject('One moment.', { inOwnVoice: true }));
    t.notOk(await call.speaker.interject('One moment.'), 'not while it is being heard');
    think('Here it is.');
    t.equal(await reply.ended, 'played');
    t.equal(call.ledger.heardText(reply.id), 'One moment. Here it is.');
    t.equal(call.ledger.heardAnswer(reply.id), 'Here it is.');
  },
);
