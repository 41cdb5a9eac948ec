import t from 'tap';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { joined, silence, spoken, tones } from '../harness/line-sounds.ts';
import { eventNamed, resultOfCall, saidByBot, soundIn } from '../harness/scripted-call.ts';
import { undocumentedKeys } from '../harness/undocumented-keys.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '2' });
const harness = { plane, appliance };
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

const OPENING = 'Good morning, this is the shop.';
const MESSAGE = 'This was the shop. Please call us back tomorrow.';
const GREETING = 'You have reached Sam. I am not at home. Please leave a message after the tone.';
const BEEP = tones([1_000], 500, -12);

/** A bot that looks for mailboxes, and a far end that says these texts, one a turn. */
function caller(script: readonly string[], change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    opening_message: OPENING,
    voicemail_detection: { enabled: true },
    voicemail_message: MESSAGE,
    stt: { provider: 'scripted', script, word_ms: 250 },
    ...change,
  };
}

t.test(
  'R74 R98 RT-27 RT-28 a mailbox hears the message after its beep, and then the bot hangs up',
  async (t) => {
    const greeting = spoken(GREETING, 'en-us');
    const result = await resultOfCall(harness, caller([GREETING]), async (call) => {
      await call.say(joined(silence(300), greeting, silence(500), BEEP));
      t.ok(await call.event('hangup', 60_000), 'the bot ends the call');
      await call.closed;
      const beep = soundIn(call.spoken.samples).at(-1);
      const beepEndsAt = beep?.to ?? 0;
      const bot = soundIn(call.heard.samples);
      t.notOk(
        bot.some(({ to, from }) => to > (beep?.from ?? 0) && from < beepEndsAt),
        'the bot is silent while the mailbox beeps',
      );
      const message = bot.filter(({ to }) => to > beepEndsAt);
      const startsAt = message[0]?.from ?? 0;
      t.comment(`the message begins ${Math.round((startsAt - beepEndsAt) * 1_000)} ms after the beep`);
      t.ok(startsAt - beepEndsAt >= 0.25, 'not into the beep, nor at once behind it');
      t.ok(startsAt - beepEndsAt < 6, 'and not much later');
      const heard = message.reduce((sum, { from, to }) => sum + to - from, 0);
      const wholeSeconds = MESSAGE.length * 0.04;
      t.ok(heard > 0.8 * wholeSeconds, `all of it: ${heard.toFixed(1)} of ${wholeSeconds.toFixed(1)} s`);
    });
    t.equal(result.disconnected_by, 'voicemail');
    t.match(eventNamed(result, 'screening'), { verdict: /human|voicemail/ });
    t.ok(eventNamed(result, 'voicemail_detected'));
    t.match(eventNamed(result, 'beep')?.hz, 1_000);
    t.match(eventNamed(result, 'message_left'), { status: 'left', reason: 'left' });
    t.match(result.transcript.at(-1), { speaker: 'bot', text: MESSAGE, heard: 'mark' });
    const turns = result.events.filter(({ event }) => event === 'user_turn');
    t.equal(turns.length, 0, 'what a mailbox says is answered by nobody');
    t.same(result.events.flatMap(undocumentedKeys), []);
  },
);

t.test('R74 RT-28 without a message the bot hangs up on a mailbox at once', async (t) => {
  const bot = caller([GREETING], { voicemail_message: null });
  const result = await resultOfCall(harness, bot, async (call) => {
    void call.say(joined(silence(300), spoken(GREETING, 'en-us'), silence(20_000)));
    t.ok(await call.event('hangup', 60_000));
    await call.closed;
  });
  t.equal(result.disconnected_by, 'voicemail');
  t.match(eventNamed(result, 'message_left'), { status: 'not_left', reason: 'no_message' });
  t.ok(
    saidByBot(result).every((text) => OPENING.startsWith(text)),
    'it said nothing but its greeting',
  );
});

t.test('RT-27 a person hears the greeting at once, and is answered as a person', async (t) => {
  const result = await resultOfCall(harness, caller(['hello who is this']), async (call) => {
    t.ok(await call.answerAfter(0), 'the bot speaks though nobody has spoken yet');
    t.equal(soundIn(call.spoken.samples).length, 0);
    const before = call.events.length;
    await call.say(joined(spoken('Hello, who is this?', 'en-gb'), silence(600)));
    t.ok(
      await call.until(() => call.events.slice(before).some(({ type }) => type === 'mark_played'), 60_000),
      'and has an answer',
    );
    const speech = soundIn(call.spoken.samples, 600)[0];
    await call.hangUp();
    t.ok(speech && speech.to - speech.from < 2.5);
  });
  t.equal(result.disconnected_by, 'customer');
  const verdict = eventNamed(result, 'screening');
  t.match(verdict, { verdict: 'human', is_retraction: false });
  t.notOk(eventNamed(result, 'voicemail_detected'));
  t.equal(saidByBot(result).join(' '), `${OPENING} I heard you.`);
  const [speech] = result.transcript.filter(({ speaker }) => speaker === 'customer');
  const waitedMs = (verdict?.duration_ms ?? 0) - (speech?.timestamp ?? 0) * 1_000;
  t.comment(`known as a person ${Math.round(waitedMs)} ms after the first word`);
  t.ok(waitedMs < 4_000, 'within a greeting and a pause');
});

t.test(
  'R13 R98 RT-27 the tool detected_voicemail ends the conversation and leaves the message',
  async (t) => {
    const bot = caller(['nobody is here just talk'], {
      voicemail_detection: null,
      tools: [{ type: 'built_in', name: 'detected_voicemail', description: 'A machine has answered.' }],
      llm: {
        provider: 'scripted',
        rules: [
          {
            intent: 'machine',
            pattern: 'nobody',
            reply: 'I see.',
            tool: { name: 'detected_voicemail', args: {}, reply: 'I shall say no more.' },
          },
        ],
        fallback: { reply: 'What?' },
      },
    });
    const result = await resultOfCall(harness, bot, async (call) => {
      await call.answerAfter(0);
      await call.say(spoken('Nobody is here. Just talk.', 'en-us'));
      t.ok(await call.event('hangup', 60_000), 'without a beep it speaks into the silence');
      await call.closed;
    });
    t.equal(result.disconnected_by, 'voicemail');
    t.match(eventNamed(result, 'tool_call'), { function: 'detected_voicemail', status: 'ok' });
    t.match(eventNamed(result, 'voicemail_detected'), { by: 'llm' });
    t.match(eventNamed(result, 'message_left'), { status: 'left' });
    const said = saidByBot(result);
    t.equal(said.at(-1), MESSAGE);
    t.notMatch(said.join(' '), /no more/, 'what the model wanted to say to a machine is not said');
  },
);

t.test('RT-29 an assistant that asks who calls gets the configured answer once, and no other', async (t) => {
  const ask = 'Please state your name and the reason for your call.';
  const answer = 'The shop, about your order.';
  const bot = caller([ask, 'hello this is sam'], {
    voicemail_detection: { enabled: true, screening_answer: answer },
  });
  const result = await resultOfCall(harness, bot, async (call) => {
    const heardMore = async (voice: Int16Array) => {
      const before = call.events.length;
      await call.say(joined(voice, silence(300)));
      const isMark = ({ type }: { type: string }) => type === 'mark_played';
      t.ok(await call.until(() => call.events.slice(before).some(isMark), 60_000));
      await call.until(() => !call.botIsSpeaking, 60_000);
    };
    await call.answerAfter(0);
    await heardMore(spoken(ask, 'en-us'));
    await heardMore(spoken('Hello, this is Sam.', 'en-gb'));
    await call.hangUp();
  });
  t.equal(
    saidByBot(result).join(' '),
    `${OPENING} ${answer} I heard you.`,
    'the person behind it is talked to',
  );
  t.equal(result.disconnected_by, 'customer');
  t.ok(result.events.some(({ event, verdict }) => event === 'screening' && verdict === 'screening'));
  t.notOk(eventNamed(result, 'voicemail_detected'));
});

t.test('R99 RT-26 a person who stays silent is no mailbox', async (t) => {
  const bot = caller([], { re_engagement: { after_seconds: 2, prompts: [] } });
  const result = await resultOfCall(harness, bot, async (call) => {
    t.ok(await call.event('hangup', 60_000));
    await call.closed;
  });
  t.equal(result.disconnected_by, 'RNR');
  t.same(saidByBot(result), [OPENING]);
});
