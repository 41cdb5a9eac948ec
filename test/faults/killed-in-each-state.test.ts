import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';

/**
 * The kernel may kill a slot at any moment of a conversation (failure catalogue, platform). Whoever had the floor then,
 * the caller is let go and everything that was said until then is delivered.
 */
t.setTimeout(280_000);
t.jobs = 4;

const OPENING = 'Good morning, what can I do for you?';
const TURN = 'tell me about it';
const LONG = 'and so on '.repeat(60).trim();
const speech = humanSpeech('goforward.raw').slice(3_000, 18_000);
const ANSWER_TIMEOUT_MS = 60_000;
const END_CALL = {
  type: 'function',
  name: 'end_call',
  description: 'End the call.',
  parameters: { type: 'object', properties: {} },
};

interface State {
  /** A phase of the turn machine. */
  name: string;
  bot: Record<string, unknown>;
  /** Brings the call there. */
  reach(call: DiallerCall): Promise<unknown>;
  /** It is there while the opening line is still being heard. */
  isInOpening?: boolean;
  /** What the record must show of how far the call had come. */
  proves(result: CallResults): boolean;
}

const has = (result: CallResults, name: string) => result.events.some((event) => event.event === name);
const said = (result: CallResults, speaker: string) =>
  result.transcript.filter((entry) => entry.speaker === speaker).map((entry) => entry.text);
const openingHeard = (call: DiallerCall) => call.answerAfter(0, 700, ANSWER_TIMEOUT_MS);
const answerBegun = async (call: DiallerCall) => {
  const spoken = await call.say(speech);
  await call.event('bot_started', ANSWER_TIMEOUT_MS, spoken.voiceEndedAtMs);
  await wait(1_500);
};

/** Of what the bot was saying when its slot died, the part that had been heard is there, marked as such. */
const cutShort = (result: CallResults, meant: string) => {
  const last = result.transcript.findLast((entry) => entry.speaker === 'bot');
  return (
    last !== undefined &&
    meant.startsWith(last.text) &&
    last.text.length > 20 &&
    last.text.length < meant.length &&
    last.generated?.startsWith(last.text) === true &&
    (last.heard === 'estimate' || last.heard === 'words')
  );
};

const STATES: State[] = [
  {
    name: 'opening',
    bot: { opening_message: LONG },
    isInOpening: true,
    reach: async (call) => {
      await call.event('bot_started', ANSWER_TIMEOUT_MS);
      await wait(3_500);
    },
    proves: (result) => cutShort(result, LONG),
  },
  {
    name: 'caller_silent',
    bot: {},
    reach: () => wait(300),
    proves: (result) => !has(result, 'user_turn') && said(result, 'bot')[0] === OPENING,
  },
  {
    name: 'caller_speaking',
    bot: {},
    reach: async (call) => {
      void call.say(speech);
      void call.say(speech);
      await wait(1_500);
    },
    proves: (result) => !has(result, 'user_turn'),
  },
  {
    name: 'deciding',
    bot: { stt: { provider: 'scripted', script: [TURN], final_delay_ms: 30_000, word_ms: 10_000 } },
    reach: async (call) => {
      await call.say(speech);
      await wait(1_000);
    },
    proves: (result) => !has(result, 'user_turn'),
  },
  {
    name: 'bot_thinking',
    bot: { llm: { provider: 'scripted', rules: [], fallback: { reply: LONG }, first_token_ms: 30_000 } },
    reach: async (call) => {
      await call.say(speech);
      await wait(2_500);
    },
    proves: (result) => said(result, 'customer').length <= 1 && said(result, 'bot').length === 1,
  },
  {
    name: 'bot_speaking',
    bot: {},
    reach: async (call) => {
      await answerBegun(call);
      await wait(1_500);
    },
    proves: (result) =>
      said(result, 'customer')[0] === TURN && has(result, 'user_turn') && cutShort(result, LONG),
  },
  {
    name: 'interruption_candidate',
    // Only many words may interrupt, and none come: the overlap stays open.
    bot: { min_words_interruption: 9, stt: { provider: 'scripted', script: [TURN, ''], word_ms: 150 } },
    reach: async (call) => {
      await answerBegun(call);
      void call.say(speech);
      await wait(700);
    },
    proves: (result) => said(result, 'customer').length === 1 && has(result, 'user_turn'),
  },
  {
    name: 'closing',
    bot: {
      tools: [END_CALL],
      llm: { provider: 'scripted', rules: [], fallback: { reply: LONG, end: true } },
    },
    reach: answerBegun,
    proves: (result) => said(result, 'customer')[0] === TURN && has(result, 'user_turn'),
  },
];

const plane = await ForeignPlane.start();
plane.config = ({ botId }) => {
  const state = STATES.find(({ name }) => name === botId);
  return {
    status: 200,
    body: plane.scriptedBot({
      bot_id: botId,
      opening_message: OPENING,
      stt: { provider: 'scripted', script: [TURN], loop: true },
      llm: { provider: 'scripted', rules: [], fallback: { reply: LONG } },
      ...state?.bot,
    }),
  };
};
const appliance = await Appliance.start({ ...plane.env, SLOTS: '5' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

for (const state of STATES) {
  t.test(`RT-65 RT-66 RT-75 a slot killed in the state ${state.name} leaves what was said`, async (t) => {
    const call = await placeWhenFree({ url: `${appliance.callUrl}${state.name}` });
    if (!state.isInOpening) await openingHeard(call);
    await state.reach(call);
    const workers = (await appliance.health())?.workers ?? [];
    const pid = workers.find((worker) => worker.bot_id === state.name)?.pid;
    if (!pid) return t.fail(`no slot carries the call: ${JSON.stringify(workers)}`);
    t.notOk(call.isClosed, 'the call stands');
    process.kill(pid, 'SIGKILL');
    t.equal((await call.closed).code, 1006, 'its caller is let go');
    const result = await plane.resultOf(call.sessionId);
    t.equal(result.disconnected_by, 'error');
    t.ok(has(result, 'slot_died'));
    if (!state.isInOpening) t.equal(said(result, 'bot')[0], OPENING);
    t.ok(state.proves(result), JSON.stringify({ transcript: result.transcript, events: result.events }));
    t.ok(result.recording_key, 'with its recording');
  });
}
