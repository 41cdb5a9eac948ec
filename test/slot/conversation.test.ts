import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';
import { undocumentedKeys } from '../harness/undocumented-keys.ts';

/** Who speaks when, in calls over the wire: the caller's audio is human, what was understood is scripted. */
t.setTimeout(280_000);
t.jobs = 3;
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '3' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});
const bots = new Map<string, unknown>();
plane.config = ({ botId }) => ({ status: 200, body: bots.get(botId) });

const word = humanSpeech('cards/001.wav');
const sentence = humanSpeech('goforward.raw');
const STORY =
  'This is a long story that goes on for a while, so that whoever listens has the time to say something in the middle of it.';

interface Told {
  result: CallResults;
  events(name: string): CallResults['events'];
  lines(speaker: string): CallResults['transcript'];
}

/** Places a call to a scripted bot with these changes, plays it, and hangs up where it still stands. */
async function callWith(
  change: Record<string, unknown>,
  live: (call: DiallerCall) => Promise<unknown>,
  farEnd: { prebufferMs?: number } = {},
): Promise<Told> {
  const botId = `bot-${bots.size}`;
  const body = plane.scriptedBot(change);
  bots.set(botId, body);
  const call = await placeWhenFree({ url: `${appliance.callUrl}${botId}`, ...farEnd });
  await live(call);
  await call.hangUp();
  const deadline = Date.now() + 20_000;
  for (;;) {
    const result = plane.results.find((entry) => entry.session_id === body.session_id);
    if (result) {
      return {
        result,
        events: (name) => result.events.filter((event) => event.event === name),
        lines: (speaker) => result.transcript.filter((entry) => entry.speaker === speaker),
      };
    }
    if (Date.now() > deadline) throw new Error('no result came');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Says something into the middle of what the bot is saying, and hears it out. */
async function sayOver(call: DiallerCall, speech: Int16Array): Promise<void> {
  await call.event('bot_started', 60_000);
  await call.until(() => false, 800);
  const spoken = await call.say(speech);
  await call.until(() => call.quietMs > 2_000 && !call.botIsSpeaking, 60_000);
  await call.until(() => performance.now() > spoken.endedAtMs + 1_000, 5_000);
}

t.test('RT-11 RT-14 a noise pauses the bot, which then says all it had to say', async (t) => {
  const told = await callWith(
    { opening_message: STORY, min_words_interruption: 2, stt: { provider: 'scripted', script: ['', ''] } },
    (call) => sayOver(call, word),
  );
  t.ok(told.events('bot_held').length > 0, 'the bot stopped to listen');
  t.equal(told.events('bot_held').length, told.events('bot_resumed').length);
  t.same(told.events('interrupted'), []);
  t.match(told.lines('bot'), [{ text: STORY, generated: undefined }], 'and it was heard to its end');
  t.same(told.lines('customer'), []);
  t.same(told.result.events.flatMap(undocumentedKeys), [], 'R167 every key is in the documentation');
});

t.test('RT-13 a sign of listening is kept as overlap and nobody answers it', async (t) => {
  const told = await callWith(
    {
      opening_message: STORY,
      min_words_interruption: 2,
      stt: { provider: 'scripted', script: ['okay', ''] },
    },
    (call) => sayOver(call, word),
  );
  t.match(told.events('overlap'), [{ text: 'okay', meaning: 'backchannel' }]);
  t.match(told.lines('customer'), [{ text: 'okay', overlap: true }]);
  t.match(told.lines('bot'), [{ text: STORY }]);
  t.same(told.events('user_turn'), []);
});

t.test('RT-11 RT-12 enough words cut the bot before the caller has finished, and are answered', async (t) => {
  const told = await callWith(
    {
      opening_message: STORY,
      min_words_interruption: 3,
      stt: { provider: 'scripted', script: ['I would like to ask something else'] },
      llm: { provider: 'scripted', rules: [{ intent: 'else', pattern: 'else', reply: 'Go ahead.' }] },
    },
    (call) => sayOver(call, sentence),
  );
  t.equal(told.events('interrupted').length, 1);
  const [story, answer] = told.lines('bot');
  t.equal(story?.generated, STORY, 'RT-17 what was meant stands beside what was heard');
  t.ok(story && STORY.startsWith(story.text) && story.text !== STORY);
  t.equal(answer?.text, 'Go ahead.');
});

t.test('RT-15 a protected opening is heard to its end, and what was said over it is answered', async (t) => {
  const told = await callWith(
    {
      opening_message: STORY,
      vad: { protect_opening: true },
      stt: { provider: 'scripted', script: ['stop that'] },
      llm: { provider: 'scripted', rules: [], fallback: { reply: 'I had to say that.' } },
    },
    (call) => sayOver(call, sentence),
  );
  t.same([...told.events('bot_held'), ...told.events('interrupted')], []);
  t.match(told.lines('bot'), [{ text: STORY }, { text: 'I had to say that.' }]);
  t.match(
    told.lines('customer').map(({ text }) => text),
    ['stop that'],
  );
});

t.test('who goes on before the answer is heard gets one answer to all of it', async (t) => {
  const told = await callWith(
    {
      opening_message: '',
      min_words_interruption: 2,
      stt: { provider: 'scripted', script: ['I want to know', 'when you open', '', ''] },
      llm: {
        provider: 'scripted',
        first_token_ms: 3_500,
        rules: [{ intent: 'hours', pattern: 'know.*open', reply: 'At nine.' }],
        fallback: { reply: 'What?' },
      },
    },
    async (call) => {
      await call.say(sentence);
      await call.until(() => false, 1_200);
      const second = await call.say(sentence);
      await call.answerAfter(second.voiceEndedAtMs, 4_000);
    },
  );
  t.equal(told.events('turn_withdrawn').length, 1);
  t.match(told.lines('customer'), [{ text: 'I want to know when you open' }]);
  t.equal(told.lines('customer').length, 1);
  t.match(told.lines('bot').at(-1)?.text, /At nine\.$/, 'a filler may have come before');
  t.ok(!told.lines('bot').some(({ text }) => text === 'What?'), 'the first question alone is not answered');
});

t.test('R96 R168 RT-22 the bot that has said goodbye hangs up by itself', async (t) => {
  const told = await callWith(
    {
      opening_message: '',
      stt: { provider: 'scripted', script: ['that is all'] },
      llm: { provider: 'scripted', rules: [], fallback: { reply: 'Thank you and goodbye.' } },
      conversation_policy: { closure_phrases: ['goodbye'] },
    },
    async (call) => {
      await call.say(sentence);
      t.ok(await call.event('hangup', 60_000));
    },
  );
  t.equal(told.result.disconnected_by, 'bot');
  t.match(told.events('disconnected'), [{ trigger: 'closure_phrase' }]);
  t.match(told.events('closing'), [{ phrase: 'goodbye' }]);
  t.match(told.lines('bot'), [{ text: 'Thank you and goodbye.' }]);
});

t.test('RT-21 every second of silence has an owner, in the record', async (t) => {
  const told = await callWith(
    { opening_message: 'Hello.', llm: { provider: 'scripted', first_token_ms: 1_500, rules: [] } },
    async (call) => {
      await call.answerAfter(0);
      const spoken = await call.say(sentence);
      await call.answerAfter(spoken.voiceEndedAtMs);
    },
  );
  const { measures } = told.result.end_detail as {
    measures: { silence: { by: Record<string, number> } };
  };
  t.ok((measures.silence.by.llm ?? 0) >= 1_400, JSON.stringify(measures.silence));
  t.equal(told.events('waterfall').length, 1);
  t.same(told.result.events.flatMap(undocumentedKeys), []);
});

t.test('a result tells how late the marks of the far end come back', async (t) => {
  const markDelay = async (prebufferMs: number) => {
    const told = await callWith({ opening_message: 'Hello to you.' }, (call) => call.answerAfter(0), {
      prebufferMs,
    });
    const { measures } = told.result.end_detail as {
      measures: { line: { facts: { mark_delay_ms: number | null } } };
    };
    return measures.line.facts.mark_delay_ms;
  };
  const small = await markDelay(20);
  const large = await markDelay(300);
  t.ok(small !== null && small >= 0, `${small} ms behind a small buffer`);
  t.ok(large !== null && large >= 250, `${large} ms behind one of 300 ms`);
});

t.test(
  'RT-03 audio that stops in the middle of a word ends the speech, and the turn is answered',
  async (t) => {
    const told = await callWith(
      { opening_message: '', stt: { provider: 'scripted', script: ['are you there'] } },
      async (call) => {
        void call.say(sentence);
        await call.until(() => false, 900);
        call.lineHeld = true;
        t.ok(await call.event('bot_started', 10_000), 'the bot answers');
      },
    );
    t.equal(told.events('audio_gap').length, 1);
    t.match(told.events('user_turn'), [{ text: 'are you there' }]);
  },
);

t.test('a turn whose text never came stands among the unanswered ones', async (t) => {
  const told = await callWith(
    {
      opening_message: '',
      stt: { provider: 'scripted', script: ['are you there'], word_ms: 10_000, final_delay_ms: 30_000 },
    },
    async (call) => {
      const spoken = await call.say(sentence);
      // The text is waited for 6 s; fillers are heard meanwhile.
      await call.until(() => performance.now() > spoken.endedAtMs + 9_000, 12_000);
    },
  );
  t.same(told.events('user_turn'), []);
  t.match(told.events('rescue_spoken').at(-1), { reason: 'not_transcribed' });
  const { measures } = told.result.end_detail as {
    measures: { reply_gap: { answered: number; unanswered: number } };
  };
  t.match(measures.reply_gap, { answered: 0, unanswered: 1 });
});

t.test('RT-51 an answer that was thought ahead is used, and one for other words is itemised', async (t) => {
  const told = await callWith(
    {
      opening_message: '',
      stt: { provider: 'scripted', script: ['what is the time'], word_ms: 200, final_delay_ms: 900 },
      llm: {
        provider: 'scripted',
        speculate: true,
        first_token_ms: 600,
        rules: [{ intent: 'time', pattern: 'time', reply: 'It is noon.' }],
        fallback: { reply: 'What?' },
      },
    },
    async (call) => {
      const spoken = await call.say(sentence);
      await call.answerAfter(spoken.voiceEndedAtMs);
    },
  );
  t.match(told.events('speculation'), [{ status: 'used' }]);
  t.match(told.lines('bot'), [{ text: 'It is noon.' }]);
  const [waterfall] = told.events('waterfall');
  t.ok(Number(waterfall?.llm_ms) < 400, `the model cost ${waterfall?.llm_ms} ms of the gap and not 600`);

  const other = await callWith(
    {
      opening_message: '',
      // The last words are told only with the final text, wherever the turn ends.
      stt: {
        provider: 'scripted',
        script: [
          'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen',
        ],
        word_ms: 500,
        // Far below the wait for it, which the call before has measured: on a busy machine it comes in time, too.
        final_delay_ms: 300,
      },
      llm: { provider: 'scripted', speculate: true, rules: [], fallback: { reply: 'Sixteen words.' } },
    },
    async (call) => {
      const spoken = await call.say(sentence);
      await call.answerAfter(spoken.voiceEndedAtMs);
    },
  );
  t.match(other.events('speculation'), [{ status: 'discarded', completion_tokens: Number }]);
  const [discarded, ...rest] = other.result.usage_metrics.filter(({ type }) => type === 'llm');
  t.match(discarded, { discarded: true });
  t.ok(rest.length > 0 && rest.every((entry) => !entry.discarded));
  t.equal(other.lines('bot').length, 1);
});

t.test('RT-83 words understood with little confidence are asked for once more, and then taken', async (t) => {
  const told = await callWith(
    {
      opening_message: '',
      stt: { provider: 'scripted', script: ['pay the bill', 'pay the bill'], unsure_on: [1, 2] },
      llm: { provider: 'scripted', rules: [{ intent: 'pay', pattern: 'bill', reply: 'Which bill?' }] },
    },
    async (call) => {
      for (let turn = 0; turn < 2; turn++) {
        const spoken = await call.say(sentence);
        await call.answerAfter(spoken.voiceEndedAtMs);
      }
    },
  );
  t.match(told.events('low_confidence'), [
    { confidence: 0.2, action: 'asked_again' },
    { confidence: 0.2, action: 'accepted' },
  ]);
  t.match(told.lines('bot'), [{ text: /say that again/ }, { text: 'Which bill?' }]);
  t.equal(told.lines('customer').length, 2);
});
