import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import type { SttSession } from '../../src/providers/speech-to-text.ts';
import { CallerListener, type UserTurn } from '../../src/slot/listen/caller-listener.ts';
import { EngineTurns, SILENT_ENGINE_MS, STUCK_TURN_MS } from '../../src/slot/listen/engine-turns.ts';
import { LateSession } from '../../src/slot/listen/late-session.ts';
import { VoiceActivity } from '../../src/slot/listen/voice-activity.ts';
import { humanSpeech } from '../support/human-speech.ts';

t.test('RT-09 an open turn of the engine is bounded, and sooner where the engine is silent', async (t) => {
  const turns = new EngineTurns();
  t.equal(turns.trustedUntilMs(10_000), 10_000 + SILENT_ENGINE_MS, 'it never heard the speech');
  turns.took({ type: 'start' }, 9_000);
  t.equal(turns.trustedUntilMs(10_000), 10_000 + SILENT_ENGINE_MS, 'it heard it and says nothing more');
  turns.sign(12_000);
  t.equal(turns.trustedUntilMs(10_000), 12_000 + SILENT_ENGINE_MS, 'it still listens');
  turns.sign(14_500);
  t.equal(turns.trustedUntilMs(10_000), 10_000 + STUCK_TURN_MS, 'but not for ever');
  turns.took({ type: 'end', text: 'yes', confidence: null }, 14_600);
  t.equal(turns.isOpen, false);
});

interface Heard {
  turns: UserTurn[];
  empty: number;
  interruptions: number;
}

async function listenerUnderTest(engineDetectsTurns: () => boolean, flushText = 'asked for') {
  const heard: Heard = { turns: [], empty: 0, interruptions: 0 };
  let flushes = 0;
  const session: SttSession = {
    feed: () => undefined,
    async flush() {
      flushes++;
      return { text: flushText, confidence: null };
    },
    discard: () => undefined,
    close: async () => undefined,
  };
  const vad = await VoiceActivity.create(await loadModelPath('silero-vad', projectPath('models')));
  const listener = new CallerListener({
    vad,
    turnModel: null,
    stt: session,
    wantsSilence: () => true,
    engineDetectsTurns,
    config: {},
    hooks: {
      botHasTheFloor: () => true,
      onInterruption: () => heard.interruptions++,
      onTurn: (turn) => heard.turns.push(turn),
      onEmptyTurn: () => heard.empty++,
      onTranscriptionFailure: (error) => t.fail(error.message),
    },
  });
  t.teardown(() => listener.close());
  return { listener, heard, flushes: () => flushes };
}

/** Feeds audio faster than real time and waits until it has been looked at. */
async function hear(listener: CallerListener, samples: Int16Array): Promise<void> {
  for (let at = 0; at < samples.length; at += 160) {
    listener.hear(samples.subarray(at, at + 160));
    if (at % 8_000 === 0) await wait(5);
  }
  await wait(300);
}

const speech = humanSpeech('goforward.raw');
const silence = (seconds: number) => new Int16Array(seconds * LINE_RATE_HZ);

async function until(holds: () => boolean, timeoutMs = 15_000): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!holds() && performance.now() < deadline) await wait(20);
  return holds();
}

t.test('RT-05 the engine ends the turns, voice activity still notices interruptions', async (t) => {
  const { listener, heard, flushes } = await listenerUnderTest(() => true);
  listener.onEngineTurn({ type: 'start' });
  await hear(listener, speech);
  t.equal(heard.interruptions, 1, 'the bot is cut by the speech, not by the engine');
  await hear(listener, silence(1));
  t.equal(heard.turns.length, 0, 'a second of silence ends nothing by itself');
  t.equal(listener.turnIsOpen, true);
  listener.onInterim();
  listener.onEngineTurn({ type: 'eager_end', text: 'go forward ten', confidence: 0.5 });
  listener.onEngineTurn({ type: 'resumed' });
  t.equal(heard.turns.length, 0);
  listener.onEngineTurn({ type: 'end', text: ' go forward ten meters ', confidence: 0.9 });
  t.match(heard.turns, [{ text: 'go forward ten meters', confidence: 0.9, decidedBy: 'stt' }]);
  t.ok((heard.turns[0]?.endpointMs ?? -1) >= 0);
  t.equal(listener.turnIsOpen, false);
  t.equal(flushes(), 0, 'nothing is asked twice');
});

t.test('RT-05 speech that only the engine hears is a turn; one without words is an empty one', async (t) => {
  const { listener, heard } = await listenerUnderTest(() => true);
  await hear(listener, silence(1));
  listener.onEngineTurn({ type: 'start' });
  t.equal(listener.turnIsOpen, true);
  listener.onEngineTurn({ type: 'end', text: 'haan', confidence: null });
  t.match(heard.turns, [{ text: 'haan', decidedBy: 'stt' }]);
  listener.onEngineTurn({ type: 'start' });
  listener.onEngineTurn({ type: 'end', text: ' ', confidence: null });
  t.equal(heard.empty, 1);
});

t.test('RT-09 an engine that says nothing of what was spoken is asked for its text', async (t) => {
  const { listener, heard, flushes } = await listenerUnderTest(() => true);
  await hear(listener, speech);
  const quiet = async () => {
    while (heard.turns.length === 0) await hear(listener, silence(0.2));
  };
  await Promise.race([quiet(), wait(20_000)]);
  t.match(heard.turns, [{ text: 'asked for', decidedBy: 'stt_timeout' }]);
  t.equal(flushes(), 1);
});

t.test(
  'RT-05 an engine that detects no turns takes over in the middle: the local rules end them',
  async (t) => {
    let detects = true;
    const { listener, heard } = await listenerUnderTest(() => detects);
    listener.onEngineTurn({ type: 'start' });
    await hear(listener, speech);
    detects = false;
    listener.onEngineTurn({ type: 'end', text: 'too late', confidence: null });
    await hear(listener, silence(2));
    t.ok(await until(() => heard.turns.length > 0));
    t.match(heard.turns, [{ text: 'asked for', decidedBy: 'silence_rule' }]);
  },
);

t.test('audio that comes while the engine connects is fed once it has, and a flush waits', async (t) => {
  const fed: number[] = [];
  const opening = Promise.withResolvers<SttSession>();
  const late = new LateSession(opening.promise);
  late.feed(Int16Array.of(1, 2));
  late.feed(Int16Array.of(3));
  const flushed = late.flush(AbortSignal.timeout(10_000));
  opening.resolve({
    feed: (samples) => fed.push(...samples),
    flush: async () => ({ text: fed.join(' '), confidence: null }),
    discard: () => undefined,
    close: async () => undefined,
  });
  t.match(await flushed, { text: '1 2 3' });
  late.feed(Int16Array.of(4));
  t.same(fed, [1, 2, 3, 4]);
  await late.close();

  const never = new LateSession(new Promise<SttSession>(() => undefined));
  await t.rejects(never.flush(AbortSignal.timeout(50)), { name: 'TimeoutError' });
  await never.close();
  const failed = new LateSession(Promise.reject(new Error('refused')));
  await t.rejects(failed.flush(AbortSignal.timeout(10_000)), /refused/);
});
