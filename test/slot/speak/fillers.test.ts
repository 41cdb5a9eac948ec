import t from 'tap';
import { LocalProviderHealth, providerKey } from '../../../src/providers/resilient/provider-health.ts';
import { fillerLines } from '../../../src/providers/spoken-lines/filler-lines.ts';
import { type FillerReason, Fillers } from '../../../src/slot/speak/fillers.ts';
import { predictedWaitMs } from '../../../src/slot/speak/predicted-wait.ts';
import { until } from '../../harness/wait.ts';

t.setTimeout(280_000);

function fillersUnderTest(options: { predicted: number | null; lines?: string[] }) {
  const state = { isWaitedFor: true, canInterject: true };
  const spoken: { line: string; reason: FillerReason }[] = [];
  const asked: string[] = [];
  const fillers = new Fillers({
    lines: options.lines ?? ['One moment.', 'Let me see.'],
    predictedWaitMs: () => options.predicted,
    isWaitedFor: () => state.isWaitedFor,
    interject: async (line) => {
      asked.push(line);
      return state.canInterject;
    },
    onSpoken: (line, reason) => spoken.push({ line, reason }),
  });
  t.teardown(() => fillers.stop());
  return { fillers, spoken, asked, state };
}

t.test('RT-45 a wait that is foreseen above 1.2 s is bridged, a shorter one never', async (t) => {
  const slow = fillersUnderTest({ predicted: 900 });
  const quick = fillersUnderTest({ predicted: 600 });
  const unknown = fillersUnderTest({ predicted: null });
  for (const { fillers } of [slow, quick, unknown]) fillers.turnTaken(500);
  await until(() => slow.spoken.length === 1, 'the line was said');
  t.same(slow.spoken, [{ line: 'One moment.', reason: 'predicted' }]);
  // Its timer was due no later than the one that has fired.
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.same([...quick.asked, ...unknown.asked], []);
});

t.test('RT-45 an answer that comes before the filler is due goes without it', async (t) => {
  const { fillers, asked } = fillersUnderTest({ predicted: 3_000 });
  fillers.turnTaken(0);
  fillers.botSpoke();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  t.same(asked, []);
});

t.test('RT-45 RT-21 never two in a row, never the same line twice running', async (t) => {
  const { fillers, spoken } = fillersUnderTest({ predicted: null });
  t.ok(await fillers.owed());
  t.notOk(await fillers.owed(), 'another kind of line is needed now');
  t.notOk(fillers.mayBridge, 'nor may a tool say its own');
  fillers.botSpoke();
  t.ok(await fillers.owed());
  fillers.botSpoke();
  t.ok(await fillers.owed());
  t.same(
    spoken.map(({ line }) => line),
    ['One moment.', 'Let me see.', 'One moment.'],
  );
  fillers.botSpoke();
  fillers.toolSpoke('I am writing that down.');
  t.notOk(await fillers.owed());
});

t.test('RT-45 two clocks that are due together say one line', async (t) => {
  const { fillers, spoken } = fillersUnderTest({ predicted: 5_000 });
  const said = await Promise.all([fillers.owed(), fillers.owed()]);
  t.same(said, [true, false]);
  t.equal(spoken.length, 1);
});

t.test('a filler that cannot be heard does not count, and a caller who speaks hears none', async (t) => {
  const { fillers, spoken, asked, state } = fillersUnderTest({ predicted: null });
  state.canInterject = false;
  t.notOk(await fillers.owed());
  t.ok(fillers.mayBridge);
  state.isWaitedFor = false;
  state.canInterject = true;
  t.notOk(await fillers.owed());
  t.equal(asked.length, 1);
  state.isWaitedFor = true;
  fillers.stop();
  t.notOk(await fillers.owed());
  t.same(spoken, []);
  const none = fillersUnderTest({ predicted: 9_000, lines: [] });
  t.notOk(await none.fillers.owed(), 'a bot without lines says none');
});

t.test('RT-45 the wait is foreseen from what the host has measured', async (t) => {
  const weather = new LocalProviderHealth();
  const config = { llm: { provider: 'openai', model: 'm' }, tts: { provider: 'elevenlabs', voice: 'v' } };
  t.equal(predictedWaitMs(config, weather), null, 'nothing is foreseen of a model that nobody has met');
  for (let at = 0; at < 9; at++) {
    weather.begin(providerKey('llm', config.llm));
    weather.ended(providerKey('llm', config.llm), { result: 'ok', ms: 1_000 });
  }
  const modelOnly = predictedWaitMs(config, weather) ?? 0;
  t.ok(modelOnly > 1_100 && modelOnly < 1_600, `${modelOnly} ms with a voice that is not known`);
  for (let at = 0; at < 9; at++) {
    weather.begin(providerKey('tts', config.tts));
    weather.ended(providerKey('tts', config.tts), { result: 'ok', ms: 2_000 });
  }
  const both = predictedWaitMs(config, weather) ?? 0;
  t.ok(both > 2_700 && both < 3_300, `${both} ms`);
});

t.test('RT-45 the lines are the bot’s own, or short ones in its language', async (t) => {
  const voice = (language: string) => ({ tts: { provider: 'x', language }, stt: { provider: 'x' } });
  t.match(fillerLines(voice('hi-IN'))[0], /क्षण/);
  t.equal(fillerLines(voice('xx'))[0], 'One moment, please.');
  t.same(fillerLines({ ...voice('hi'), filler_lines: ['Ek minute.'] }), ['Ek minute.']);
  t.same(fillerLines({ ...voice('hi'), filler_lines: [] }), [], 'an empty list means none');
});
