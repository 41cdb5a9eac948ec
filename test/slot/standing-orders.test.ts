import t, { type Test } from 'tap';
import type { RuntimeConfig } from '../../src/contracts/runtime-config.ts';
import { monotonicMs } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { rescueLines } from '../../src/providers/spoken-lines/rescue-lines.ts';
import { LineClock } from '../../src/slot/audio/line-clock.ts';
import { Answering, type AnsweringParts } from '../../src/slot/call/answering.ts';
import type { UserTurn } from '../../src/slot/call/call-reporter.ts';
import { FailureHandler } from '../../src/slot/call/failure-handler.ts';
import { PreemptiveGeneration } from '../../src/slot/call/preemptive-generation.ts';
import { BotVoice } from '../../src/slot/speak/bot-voice.ts';
import { LineCache } from '../../src/slot/speak/line-cache.ts';
import { speakableOptions } from '../../src/slot/speak/text/to-speakable.ts';
import { reEngagementPlan } from '../../src/slot/turn/re-engagement.ts';
import { createTurnMachine, step } from '../../src/slot/turn/turn-machine.ts';
import { samplesOf, turnRules } from '../../src/slot/turn/turn-rules.ts';
import { dueTimer } from '../../src/slot/turn/turn-timers.ts';
import type { TurnAction, TurnEvent } from '../../src/slot/turn/turn-types.ts';
import { until } from '../harness/wait.ts';
import { timedVoice } from './speak/spoken-call.ts';
import { ModelOnPaper, type Part, talk } from './think/talk.ts';

/** What the bot was told to do is done though its words fail (RT-59): answers, voice and turn machine put together. */
t.setTimeout(280_000);
t.jobs = 4;

const TURN = { id: 1, text: 'that is all', endpointMs: 0, transcribeMs: 0 } as UserTurn;
const BYE: Part = { name: 'end_call', args: { reason: 'done' } };
const DESK: Part = { name: 'transfer_call', args: { target: 'desk' } };
const GOODBYE = 'Have a nice day.';
const lines = rescueLines({ tts: { provider: 'cartesia', language: 'en' }, stt: { provider: 'deepgram' } });
const nothing = new Proxy({}, { get: () => () => undefined });
const pause = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms));

interface Bench {
  answering: Answering;
  preemptive: PreemptiveGeneration;
  voice: BotVoice;
  model: ModelOnPaper;
  /** What the voice of the bot was given; and what of it fails. */
  given: string[];
  failing: Set<string>;
  /** What was heard, line by line. */
  heard(): string[];
  ends: TurnAction[];
  orders: object[];
  rescues: object[];
}

/** One answer to one turn over a line that nobody interrupts. `isKept`: the lines of the bot are on the disk. */
function bench(t: Test, answers: Part[][], { isKept = true } = {}): Bench {
  const config = {
    ambient_sound: null,
    tts: { provider: 'cartesia', language: 'en' },
    stt: { provider: 'deepgram' },
    vad: {},
    min_words_interruption: 0,
    re_engagement: {},
    max_call_duration_seconds: 600,
  } as unknown as RuntimeConfig;
  const model = new ModelOnPaper(...answers);
  const tools = ['end_call', 'transfer_call'].map((name) => ({ type: 'built_in', name }));
  const { agent } = talk(model, {
    tools,
    transfer_targets: [{ name: 'desk', destination: '+912240000001', message: 'Putting you through.' }],
  } as unknown as Partial<RuntimeConfig>);
  const { voice: tts, given, failing } = timedVoice();
  const kept = new LineCache({
    cache: { get: async () => null, put: async () => undefined } as never,
    voice: { provider: 'cartesia' },
    texts: Object.values(lines),
    logger: createLogger({ level: 'silent', role: 'test' }),
  });
  if (isKept) for (const text of Object.values(lines)) kept.learn(text, new Int16Array(1_600).fill(500));
  // The engine of this host would stand in for a line that is not kept.
  kept.lastResort = async () => null;
  const startedMs = monotonicMs();
  const nowSample = () => samplesOf(monotonicMs() - startedMs);
  const rules = {
    strategy: 'model',
    givesInterims: true,
    flushAtStop: false,
    wordWaitSamples: () => 0,
  } as const;
  const state = createTurnMachine(turnRules(config, rules, reEngagementPlan({}, 'en')));
  const actions: TurnAction[] = [];
  const floor = {
    state,
    send: (event: TurnEvent) => void actions.push(...step(state, event, nowSample())),
  };
  const begun: number[] = [];
  const voice: BotVoice = new BotVoice({
    config,
    tts,
    lines: kept,
    speakable: speakableOptions('en'),
    transport: { sendAudio: () => {}, sendMark: () => {}, sendClear: () => {} } as never,
    recorder: null,
    clock: new LineClock(monotonicMs),
    floor: () => floor,
    hooks: {
      ...(nothing as ConstructorParameters<typeof BotVoice>[0]['hooks']),
      onTick: () => voice.tick(),
      onFrame: () => undefined,
      onEnded: () => undefined,
      onOwnWords: () => undefined,
      onHeard: () => undefined,
      onSynthesized: () => undefined,
      onFirstAudio: () => undefined,
      onBegun: ({ id }) => begun.push(id),
      onFailure: (reply, failure) =>
        failureHandler.replyFailed(reply, failure, answering.mendingOf(reply, failure)),
    },
  });
  const rescues: object[] = [];
  const failureHandler = new FailureHandler({
    voice,
    lines,
    log: { event: (event: string, told: object) => void rescues.push({ event, ...told }) } as never,
    hooks: { onGivingUp: (error) => t.fail(error), onGivenUp: (error) => t.fail(error) },
  });
  const preemptive = new PreemptiveGeneration({
    agent,
    isOn: true,
    onUsed: () => undefined,
    onWasted: () => undefined,
  });
  const orders: object[] = [];
  const answering = new Answering({
    config,
    voice,
    agent,
    failureHandler,
    preemptive,
    reporter: nothing,
    measures: nothing,
    fillers: nothing,
    floor: () => ({ turns: floor, waits: nothing }),
    onAfterSpeech: (after: object) => void orders.push(after),
    onTurnLogged: () => undefined,
  } as unknown as AnsweringParts);
  voice.start();
  const timers = setInterval(() => {
    const due = dueTimer(state, nowSample());
    if (due) floor.send({ type: 'timer', name: due.name });
  }, 5);
  t.teardown(() => {
    clearInterval(timers);
    answering.stop();
    voice.stop();
  });
  return {
    answering,
    preemptive,
    voice,
    model,
    given,
    failing,
    heard: () => begun.map((id) => voice.ledger.heardText(id)).filter((text) => text !== ''),
    get ends() {
      return actions.filter(({ type }) => type === 'end');
    },
    orders,
    rescues,
  };
}

const isOver = (call: Bench) => until(() => call.ends.length > 0, 'the call ends');
/** Long enough for a second end, or a second order, to show itself. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 600));

t.test('RT-59 RT-23 R96 the bot hangs up though its goodbye fails: the kept line stands in', async (t) => {
  const call = bench(t, [[GOODBYE, BYE]]);
  call.failing.add(GOODBYE);
  call.answering.answer(TURN);
  await isOver(call);
  t.same(call.heard(), [lines.goodbye]);
  t.match(call.rescues, [{ event: 'rescue_spoken', line: 'goodbye', reason: 'order_stands' }]);
  t.equal(call.answering.endReason, 'done');
  await aWhile();
  t.match(call.ends, [{ cause: 'end_call' }]);
  t.equal(call.ends.length, 1);
  t.equal(call.model.requests.length, 1, 'no model is asked for what it has said already');
});

t.test('RT-59 RT-23 where nothing can be spoken the bot hangs up without a word', async (t) => {
  const call = bench(t, [[GOODBYE, BYE]], { isKept: false });
  for (const text of [GOODBYE, lines.goodbye]) call.failing.add(text);
  call.answering.answer(TURN);
  await isOver(call);
  t.same(call.heard(), []);
  await aWhile();
  t.match(call.ends, [{ cause: 'end_call' }]);
  t.equal(call.ends.length, 1);
});

t.test('RT-59 RT-23 a voice that fails before the order has come does not outrun it', async (t) => {
  const call = bench(t, [[`${GOODBYE} `, pause(300), BYE]]);
  call.failing.add(GOODBYE);
  call.answering.answer(TURN);
  await isOver(call);
  t.same(call.heard(), [lines.rescue, lines.goodbye], 'the words are tried once more, and fail again');
  t.equal(call.given.filter((text) => text === GOODBYE).length, 2);
  t.match(call.ends, [{ cause: 'end_call' }]);
  t.equal(call.model.requests.length, 1);
});

t.test(
  'RT-59 RT-23 words that were heard are not said again, and the order behind them stands',
  async (t) => {
    const call = bench(t, [['It is all settled. ', `${GOODBYE} `, BYE]]);
    call.failing.add(GOODBYE);
    call.answering.answer(TURN);
    await isOver(call);
    t.same(call.heard(), ['It is all settled.', lines.goodbye]);
    t.match(call.ends, [{ cause: 'end_call' }]);
  },
);

t.test('RT-59 RT-23 a model that fails at its goodbye has ordered the end all the same', async (t) => {
  const call = bench(t, [[BYE], [() => Promise.reject(new Error('the model is gone'))]]);
  call.answering.answer(TURN);
  await isOver(call);
  t.same(call.heard(), [lines.goodbye]);
  t.match(call.ends, [{ cause: 'end_call' }]);
});

t.test('RT-59 RT-35 a caller is passed on though the words before it fail, once', async (t) => {
  const call = bench(t, [['Of course.', DESK]]);
  for (const text of ['Of course.', 'Putting you through.']) call.failing.add(text);
  call.answering.answer(TURN);
  await until(() => call.orders.length > 0, 'the transfer is made');
  t.same(call.heard(), [lines.connecting]);
  await aWhile();
  t.match(call.orders, [{ kind: 'transfer', order: { target: 'desk' } }]);
  t.equal(call.orders.length, 1);
  t.same(call.ends, []);
});

t.test('RT-59 RT-35 words that can be said the second time carry their order, once', async (t) => {
  const call = bench(t, [['Of course. ', pause(300), DESK]]);
  call.failing.add('Of course.');
  call.answering.answer(TURN);
  await until(() => call.rescues.length > 0, 'the voice has failed');
  call.failing.clear();
  await until(() => call.orders.length > 0, 'the transfer is made');
  t.same(call.heard(), [lines.rescue, 'Of course. Putting you through.']);
  await aWhile();
  t.equal(call.orders.length, 1);
  t.equal(call.model.requests.length, 1);
});

t.test(
  'RT-16 an answer that is cut is not carried out, neither its own words nor the kept ones',
  async (t) => {
    for (const fails of [false, true]) {
      const call = bench(t, [['Of course.', DESK]]);
      if (fails) for (const text of ['Of course.', 'Putting you through.']) call.failing.add(text);
      call.answering.answer(TURN);
      await until(() => call.given.length > 0 && (!fails || call.rescues.length > 0), 'it is being said');
      call.voice.cut();
      await aWhile();
      t.same(call.orders, []);
      await until(() => !call.voice.isBusy, 'the line is quiet');
    }
  },
);

t.test('RT-51 an answer that was thought ahead is said, and fails nowhere', async (t) => {
  const call = bench(t, [['It is noon.']]);
  call.preemptive.begin(TURN.id, TURN.text);
  await until(() => call.model.requests.length === 1, 'the model was asked ahead');
  await aWhile();
  call.answering.answer(TURN);
  await until(() => call.heard().length > 0, 'it is heard');
  t.same(call.heard(), ['It is noon.']);
  t.same(call.rescues, []);
});
