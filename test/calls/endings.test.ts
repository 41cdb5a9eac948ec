import t from 'tap';
import { placeCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { Appliance } from '../harness/appliance.ts';
import { BareLoop } from '../harness/bare-loop.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '4' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

const question = humanSpeech('goforward.raw');
/** Timers and processes between the start of a call and the end of its record. */
const WAITS_TO_THE_END = 40;
const idle = new BareLoop(t);

/** Places a call to a scripted bot with these changes; resolves to the result that the call leaves. */
async function callWith(
  change: Record<string, unknown>,
  live: (call: Awaited<ReturnType<typeof placeCall>>) => Promise<unknown>,
): Promise<CallResults> {
  const body = plane.scriptedBot(change);
  plane.config = () => ({ status: 200, body });
  const call = await placeWhenFree({ url: `${appliance.callUrl}scripted` });
  await live(call);
  await call.closed;
  const deadline = Date.now() + 15_000;
  for (;;) {
    const result = plane.results.find((entry) => entry.session_id === body.session_id);
    if (result) return result;
    if (Date.now() > deadline) throw new Error('no result came');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

t.test('R11 R96 R168 R169 RT-23 the bot ends the call once its goodbye has been heard', async (t) => {
  const goodbye = 'Thank you for your call. Goodbye.';
  const result = await callWith(
    {
      stt: { provider: 'scripted', script: ['that is all'] },
      llm: {
        provider: 'scripted',
        rules: [{ intent: 'bye', pattern: 'all', reply: goodbye, end: true }],
        fallback: { reply: 'What?' },
      },
    },
    async (call) => {
      await call.answerAfter(0);
      await call.say(question);
      const hangup = await call.event('hangup', 60_000);
      t.ok(hangup, 'the dialler is told');
      const played = call.events.findLast((event) => event.type === 'mark_played');
      t.ok(played && hangup && hangup.atMs > played.atMs, 'RT-23 after the last word was played');
      t.equal((await call.closed).code, 1000);
    },
  );
  t.equal(result.disconnected_by, 'bot');
  t.match(
    result.events.find((event) => event.event === 'tool_call'),
    { function: 'end_call', status: 'ok' },
  );
  t.match(
    result.events.find((event) => event.event === 'disconnected'),
    { by: 'bot', trigger: 'end_call_tool' },
  );
  t.equal(result.transcript.at(-1)?.text, goodbye);
  t.equal(result.transcript.at(-1)?.heard, 'mark');
});

t.test('R96 R168 RT-23 RT-59 a goodbye that no voice can speak ends the call all the same', async (t) => {
  const result = await callWith(
    {
      opening_message: '',
      stt: { provider: 'scripted', script: ['that is all'] },
      llm: {
        provider: 'scripted',
        rules: [{ intent: 'bye', pattern: 'all', reply: 'Goodbye.', end: true }],
        fallback: { reply: 'What?' },
      },
      tts: { provider: 'scripted', fail_on: [1, 2, 3, 4, 5, 6, 7, 8] },
    },
    async (call) => {
      await call.say(question);
      t.ok(await call.event('hangup', 60_000), 'the dialler is told');
    },
  );
  t.equal(result.disconnected_by, 'bot');
  const ended = result.events.filter(({ event }) => event === 'disconnected');
  t.match(ended, [{ by: 'bot', trigger: 'end_call_tool' }]);
  t.equal(ended.length, 1);
  const told = result.events.find(({ line }) => line === 'goodbye');
  t.match(told, { event: 'rescue_spoken', reason: 'order_stands' });
});

t.test('R97 RT-84 the customer hangs up with stop, and the cause is told for machines', async (t) => {
  const result = await callWith({}, (call) => call.hangUp('bored'));
  t.equal(result.disconnected_by, 'customer');
  t.match(result.end_detail, { reason: 'bored', cause: 'stop' });
});

t.test('R97 RT-84 a line that breaks without a close is a customer who left', async (t) => {
  const result = await callWith({}, async (call) => call.drop());
  t.equal(result.disconnected_by, 'customer');
  t.match(result.end_detail, { reason: /broke without a close/, cause: 'line_broken' });
});

t.test('R75 R103 the maximum duration ends the call', async (t) => {
  const startedAtMs = performance.now();
  const result = await callWith({ max_call_duration_seconds: 2 }, (call) => call.event('hangup', 60_000));
  t.equal(result.disconnected_by, 'timeout');
  t.match(
    result.events.find((event) => event.event === 'disconnected'),
    { trigger: 'max_duration' },
  );
  const allowedSeconds = 0.6 + idle.shareMs(WAITS_TO_THE_END, startedAtMs) / 1_000;
  t.ok(Math.abs(result.call_duration_seconds - 2) < allowedSeconds, `${result.call_duration_seconds} s`);
});

t.test('RT-25 RT-84 an operator ends the call, and the record says who it was', async (t) => {
  const result = await callWith({}, async (call) => {
    await call.answerAfter(0);
    const worker = (await appliance.health())?.workers?.find(({ state }) => state === 'busy');
    const url = `http://127.0.0.1:${appliance.fleetPort}/calls/${worker?.call_id}/hangup`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'the wrong list' }),
    });
    t.equal(answer.status, 200);
    await call.event('hangup', 60_000);
  });
  t.equal(result.disconnected_by, 'bot');
  t.match(result.end_detail, { cause: 'operator', reason: 'the wrong list' });
  t.equal(result.transport, 'websocket', 'R91 and the transport it came over');
});

t.test('RT-20 a bot without lines of its own speaks its language to a silent caller', async (t) => {
  const result = await callWith(
    {
      re_engagement: { after_seconds: 1 },
      opening_message: '',
      tts: { provider: 'scripted', ms_per_char: 10, language: 'hi-IN' },
    },
    (call) => call.event('hangup', 60_000),
  );
  t.match(
    result.transcript.map((entry) => entry.text),
    [/क्या आप/, /आवाज़/],
  );
});

t.test('R60 R99 RT-20 RT-26 a caller who never says a word is asked, then RNR', async (t) => {
  const result = await callWith(
    { re_engagement: { after_seconds: 1, prompts: ['Hello?'] }, opening_message: 'Hi.' },
    (call) => call.event('hangup', 60_000),
  );
  t.equal(result.disconnected_by, 'RNR');
  t.same(
    result.transcript.map((entry) => entry.text),
    ['Hi.', 'Hello?'],
  );
  t.match(result.end_detail, { user_turns: 0 });
});

t.test('R96 R168 a caller who falls silent after speaking ends in dead air', async (t) => {
  const result = await callWith(
    { re_engagement: { after_seconds: 1, prompts: [] }, opening_message: '' },
    async (call) => {
      await call.say(question);
      await call.event('hangup', 60_000);
    },
  );
  t.equal(result.disconnected_by, 'bot');
  t.match(
    result.events.find((event) => event.event === 'disconnected'),
    { trigger: 'dead_air_timeout' },
  );
});

t.test('R106 a bot that cannot start leaves an error result, and the dialler a reason', async (t) => {
  const body = plane.scriptedBot({ tts: { provider: 'nonesuch' } });
  plane.config = () => ({ status: 200, body });
  const refusal = await placeCall({ url: `${appliance.callUrl}scripted` }).catch((error) => error);
  t.match(refusal, { status: 1011, body: /nonesuch/ });
  const deadline = Date.now() + 10_000;
  while (!plane.results.some((entry) => entry.session_id === body.session_id) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const result = plane.results.find((entry) => entry.session_id === body.session_id);
  t.equal(result?.disconnected_by, 'error');
  t.match(result?.end_detail, { reason: /tts.provider "nonesuch" is unknown/ });
});

t.test(
  'R106 a voice that fails again and again ends the call with error, a model that fails once does not',
  async (t) => {
    const mute = await callWith({ tts: { provider: 'scripted', fail_on: [1, 2, 3, 4] } }, (call) =>
      call.event('hangup', 60_000),
    );
    t.equal(mute.disconnected_by, 'error');
    t.ok(mute.events.filter((event) => event.event === 'provider_failed').length >= 3);

    const stumbling = await callWith(
      {
        opening_message: '',
        stt: { provider: 'scripted', script: ['one', 'two'] },
        llm: {
          provider: 'scripted',
          rules: [],
          fallback: { reply: 'Here I am.' },
          fail: { on_turn: 1, after_tokens: 0, kind: 'error' },
        },
      },
      async (call) => {
        const first = await call.say(question);
        t.ok(await call.answerAfter(first.voiceEndedAtMs), 'it says that something went wrong');
        const second = await call.say(question);
        t.ok(await call.answerAfter(second.voiceEndedAtMs), 'and answers the next time');
        await call.hangUp();
      },
    );
    t.equal(stumbling.disconnected_by, 'customer');
    t.match(stumbling.transcript.at(-1)?.text, /Here I am/);
  },
);

t.test('R106 ears that fail once cost a question, ears that stay deaf or break cost the call', async (t) => {
  const once = await callWith(
    { opening_message: '', stt: { provider: 'scripted', script: ['one', 'two'], fail_on: [1] } },
    async (call) => {
      const first = await call.say(question);
      t.ok(await call.answerAfter(first.voiceEndedAtMs), 'the caller is asked again');
      const second = await call.say(question);
      t.ok(await call.answerAfter(second.voiceEndedAtMs));
      await call.hangUp();
    },
  );
  t.equal(once.disconnected_by, 'customer');
  t.ok(once.events.some((event) => event.event === 'provider_failed'));

  const broken = await callWith(
    { opening_message: '', stt: { provider: 'scripted', script: ['one'], break_on: [1] } },
    async (call) => {
      await call.say(question);
      await call.event('hangup', 60_000);
    },
  );
  t.equal(broken.disconnected_by, 'error');
  t.match(broken.end_detail, { reason: /cannot hear/ });
});
