import t from 'tap';
import { atLevel, makeSound } from '../../src/cli/scenario/caller-sounds.ts';
import { ScenarioError } from '../../src/cli/scenario/field-reader.ts';
import { judgeScenario, matches } from '../../src/cli/scenario/judge-scenario.ts';
import { stepTimes } from '../../src/cli/scenario/line-times.ts';
import type { PlayedCall } from '../../src/cli/scenario/play-scenario.ts';
import { readScenario } from '../../src/cli/scenario/read-scenario.ts';
import { levelDbfs } from '../../src/cli/voice-tracker.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { FRAME_SAMPLES } from '../../src/contracts/limits.ts';

t.test('RT-76 a scenario is JSON with comments, and what is left out has its default', async (t) => {
  const scenario = readScenario(`{
    // what it promises
    "title": "A question is // answered",
    "steps": [{ "say": "hello" /* by a voice */ }, { "dtmf": "1#", "into_bot_ms": 300 }]
  }`);
  t.equal(scenario.title, 'A question is // answered');
  t.same(scenario.wires, ['json']);
  t.match(scenario.steps[0], {
    action: { kind: 'say', pieces: [{ kind: 'words', text: 'hello', wordsPerMinute: 165 }] },
    when: { kind: 'after_bot', quietMs: 700 },
    expect: { answerWithinMs: null },
  });
  t.match(scenario.steps[1], { action: { kind: 'dtmf', digits: '1#' }, when: { kind: 'into_bot', ms: 300 } });
  t.same(scenario.caller.transfer, { answer: 'ok', afterMs: 100 });
});

t.test('RT-76 a mistake in a scenario is refused with the place and what is meant', async (t) => {
  const refused = (text: string, sentence: RegExp) =>
    t.throws(() => readScenario(text), { message: sentence, constructor: ScenarioError });
  const step = (inner: string) => `{"title": "x", "steps": [${inner}]}`;
  refused('{"title": "x",', /^not JSON/);
  refused('{}', /^scenario\.title is a text$/);
  refused('{"title": "x", "stepps": []}', /^scenario has no key "stepps"; did you mean "steps"\?$/);
  refused(step('{}'), /^steps\[0\] needs exactly one of say, sound/);
  refused(step('{"say": "x", "dtmf": "1"}'), /^steps\[0\] needs exactly one of/);
  refused(step('{"say": "x", "at_ms": 1, "into_bot_ms": 2}'), /^steps\[0\] says when twice/);
  refused(step('{"dtmf": "x"}'), /^steps\[0\]\.dtmf is digits/);
  refused(step('{"say": "x", "expect": {"anser_within_ms": 3}}'), /no key "anser_within_ms"; did you mean/);
  refused(step('{"say": {"text": "x", "dbfs": 3}}'), /steps\[0\]\.say\[0\]\.dbfs is a number from -60 to -3/);
  refused('{"title": "x", "wires": ["sip"]}', /wires holds "sip"; known are json, binary, partner/);
  refused('{"title": "x", "expect": {"bot_says": ["("]}}', /scenario\.expect\.bot_says/);
  refused('{"title": "x", "expect": {"events": [{"count": 1}]}}', /each needs the name "event"/);
});

t.test('a value is matched in part, by pattern or by bounds', async (t) => {
  const value = { event: 'tool_call', args: { day: 'friday', n: 3 }, list: [{ a: 1 }, { a: 2, b: 3 }] };
  t.ok(matches(value, { event: 'tool_call' }));
  t.ok(matches(value, { args: { day: '/^FRI/' } }));
  t.ok(matches(value, { args: { n: { above: 2, below: 4 } } }));
  t.ok(matches(value, { list: [{ b: 3 }] }));
  t.ok(matches(null, null));
  t.notOk(matches(value, { event: 'tool' }), 'a plain text is the whole text');
  t.notOk(matches(value, { args: { n: { above: 3 } } }));
  t.notOk(matches(value, { list: [{ a: 3 }] }));
  t.notOk(matches(value, { missing: 1 }));
  t.notOk(matches(undefined, '/x/'));
});

/** A side of the line, written in tenths of a second: `x` is voice. */
function side(text: string): Int16Array {
  const perTenth = 5 * FRAME_SAMPLES;
  const samples = new Int16Array(text.length * perTenth);
  for (const [index, sign] of [...text].entries()) {
    if (sign !== 'x') continue;
    for (let at = 0; at < perTenth; at++) samples[index * perTenth + at] = at % 2 === 0 ? 3_000 : -3_000;
  }
  return samples;
}

t.test('what follows a step is read off the two sides of the line', async (t) => {
  const step = { fromFrame: 50, toFrame: 75, played: true };
  const spoken = side('..........xxxxx...............');
  const answered = stepTimes(step, spoken, side('.xxxxxx............xxxxx......'), 0);
  t.match(answered, { fromMs: 1_000, toMs: 1_500, answerMs: 400, stopMs: null, quietMs: 400 });
  const cut = stepTimes(step, spoken, side('.....xxxxxxxx............xxx..'), 0);
  t.match(cut, { stopMs: 300, answerMs: 1_000 }, 'a bot that is talked over stops, and answers later');
  const resumed = stepTimes(step, spoken, side('.....xxxxxxxx....xxxxxxxxxxx..'), 0);
  t.match(resumed, { stopMs: 300, resumeMs: 200 });
  const unmoved = stepTimes(step, spoken, side('.....xxxxxxxxxxxxxxxxxxxxxxx..'), 0);
  t.match(unmoved, { goesOnMs: 1_780 });
  const silent = stepTimes(step, spoken, side('..............................'), 0);
  t.match(silent, { answerMs: null, stopMs: null, quietMs: 1_500, goesOnMs: 0 });
});

function playedCall(change: Partial<PlayedCall>): PlayedCall {
  const silence = new Int16Array(100 * FRAME_SAMPLES);
  return {
    sessionId: 's',
    refusal: null,
    steps: [],
    events: [],
    spoken: silence,
    heard: silence,
    startedAtMs: 0,
    readyAtMs: 10,
    closed: { atMs: 2_000, code: 1000, reason: '' },
    callerClosed: false,
    ...change,
  };
}

t.test('every kind of expectation can fail', async (t) => {
  const wishes: Record<string, unknown>[] = [
    { closed_by: 'caller' },
    { close_code: 4404 },
    { ends_within_ms: 100 },
    { clears: 2 },
    { receives: [{ type: 'transfer' }] },
    { bot_says: ['goodbye'] },
    { bot_says: ['morning', 'good'] },
    { caller_says: ['nothing'] },
    { never_says: ['morning'] },
    { events: [{ event: 'interrupted' }] },
    { events: [{ event: 'call_started', count: 2 }] },
    { no_events: [{ event: 'call_started' }] },
    { results: { disconnected_by: 'customer' } },
  ];
  const results = {
    disconnected_by: 'bot',
    transcript: [{ speaker: 'bot', text: 'Good morning', timestamp: 0 }],
    events: [{ event: 'call_started', ts: 0 }],
  } as unknown as CallResults;
  for (const expect of wishes) {
    const scenario = readScenario(JSON.stringify({ title: 'x', expect }));
    const checks = judgeScenario(scenario, playedCall({}), results);
    t.equal(checks.at(-1)?.ok, false, JSON.stringify(expect));
  }
  const step = readScenario('{"title": "x", "steps": [{"say": "a", "expect": {"answer_within_ms": 50}}]}');
  const played = playedCall({ steps: [{ fromFrame: 10, toFrame: 20, played: true }] });
  t.match(judgeScenario(step, played, results), [{ ok: false, found: 'it never did' }]);
  t.match(judgeScenario(step, playedCall({}), results), [{ ok: false }], 'a step that never took place');
});

t.test('without results, what needs them is neither right nor wrong', async (t) => {
  const scenario = readScenario('{"title": "x", "expect": {"bot_says": ["good"], "close_code": 1000}}');
  t.match(judgeScenario(scenario, playedCall({}), null), [{ ok: true }, { ok: null }]);
});

t.test('a caller sounds as loud as the scenario says', async (t) => {
  const [step] = readScenario(
    '{"title": "x", "steps": [{"sound": {"kind": "noise", "ms": 500, "dbfs": -30}}]}',
  ).steps;
  if (!step) return t.fail('no step');
  const noise = await makeSound(step.action, '.');
  t.equal(noise.length, 4_000);
  t.ok(Math.abs(levelDbfs(noise) + 30) < 1, `${levelDbfs(noise)} dB`);
  const tone = Int16Array.from({ length: 8_000 }, (_, at) => 9_000 * Math.sin(at));
  t.ok(Math.abs(levelDbfs(atLevel(tone, -20)) + 20) < 1);
  t.same(atLevel(new Int16Array(800), -20), new Int16Array(800), 'silence stays silence');
});

t.test('spoken words, recordings and pauses follow each other in one line', async (t) => {
  const [step] = readScenario(
    '{"title": "x", "steps": [{"say": ["hello", {"pause_ms": 400}, {"file": "pocketsphinx:goforward.raw", "to_ms": 500}]}]}',
  ).steps;
  if (!step) return t.fail('no step');
  const sound = await makeSound(step.action, '.');
  t.ok(sound.length > 4_000 + 3_200 + 800, `${sound.length} samples`);
  const pause = sound.subarray(sound.length - 4_000 - 3_000, sound.length - 4_000 - 200);
  t.ok(levelDbfs(pause) < -60, 'the pause is silent');
});
