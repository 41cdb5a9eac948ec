import t from 'tap';
import { reEngagementPlan } from '../../../src/slot/turn/re-engagement.ts';
import { turnRules } from '../../../src/slot/turn/turn-rules.ts';
import { TurnWorld, WALK_RULES } from './turn-world.ts';

/** What the bot owes and what the caller does not say: two clocks, both the machine's (RT-20, RT-21). */
const MS = 8;
const rules = { ...WALK_RULES, fillerSamples: 3_000 * MS, reEngageSamples: 2_000 * MS };

/** A caller has asked something and the bot works on it; the last word was spoken at `world.now`. */
function asked(): TurnWorld {
  const world = new TurnWorld(rules);
  world.startSpeech();
  world.sayWord();
  world.pass(500 * MS);
  world.stopSpeech();
  world.answerVerdict(0, true);
  world.answerText(0, 'interruption', false);
  return world;
}

/** The kinds of action that came while so much time passed. */
function actionsIn(world: TurnWorld, ms: number): string[] {
  world.trace.length = 0;
  world.pass(ms * MS);
  return world.trace.flatMap((line) =>
    [...line.matchAll(/"type":"(say_\w+|re_engage|end)"/g)].map((m) => m[1] ?? ''),
  );
}

t.test(
  'RT-21 RT-59 an answer that is owed brings a line after 3 s of silence, again and again, then the end',
  async (t) => {
    const world = asked();
    t.same(actionsIn(world, 2_700), [], 'the caller waits');
    t.same(actionsIn(world, 200), ['say_filler'], 'counted from the last word');
    world.send({ type: 'line_busy', untilSample: world.now + 2_000 * MS });
    t.same(actionsIn(world, 4_900), [], 'time counts from the end of the line');
    t.same(actionsIn(world, 200), ['say_filler']);
    t.same(actionsIn(world, 2_500), ['say_rescue'], 'after ten seconds in all');
    t.equal(actionsIn(world, 10_000).at(-1), 'end', 'and after twenty the call is given up');
    t.ok(world.isOver);
  },
);

t.test('RT-21 an answer settles the debt, one that runs dry begins it anew', async (t) => {
  const world = asked();
  world.startAudio();
  t.same(actionsIn(world, 60_000), [], 'it is being heard');
  if (world.live) world.live.audible = false;
  world.send({ type: 'audio_dry', reply: world.live?.id ?? 0 });
  t.same(actionsIn(world, 2_900), []);
  t.same(actionsIn(world, 200), ['say_filler']);
});

t.test('RT-20 silence brings the lines in order, then gives up; a word begins them anew', async (t) => {
  const world = new TurnWorld(rules);
  t.same(actionsIn(world, 1_900), []);
  t.same(actionsIn(world, 200), ['re_engage']);
  world.beginReply(false);
  world.startAudio();
  t.same(actionsIn(world, 5_000), [], 'the line is being spoken');
  world.endReply('played');
  t.same(actionsIn(world, 1_900), [], 'and time counts from its end');
  t.same(actionsIn(world, 200), ['re_engage']);
  world.startSpeech();
  world.sayWord();
  world.pass(500 * MS);
  world.stopSpeech();
  world.answerVerdict(0, true);
  world.answerText(0, 'interruption', false);
  world.startAudio();
  world.endReply('played');
  t.same(actionsIn(world, 4_100), ['re_engage', 're_engage'], 'both lines again');
  t.same(actionsIn(world, 2_000), ['end']);
});

t.test('RT-21 what is transcribed for long is owed from the last word on', async (t) => {
  const world = new TurnWorld({ ...rules, finalWaitSamples: 5_000 * MS });
  world.startSpeech();
  world.sayWord();
  world.pass(500 * MS);
  world.stopSpeech();
  world.answerVerdict(0, true);
  t.same(actionsIn(world, 2_700), []);
  t.same(actionsIn(world, 200), ['say_filler'], 'though the text is still to come');
});

/** The rules of a call as they are served, which are what a caller meets. */
const served = turnRules(
  { vad: {}, min_words_interruption: 0, max_call_duration_seconds: 600 },
  { strategy: 'model', givesInterims: true, flushAtStop: false, wordWaitSamples: () => 0 },
  reEngagementPlan({}, 'en'),
);

/** A goodbye that was ordered with the words, and its reply. */
function sayingGoodbye(): TurnWorld {
  const world = new TurnWorld(served);
  world.beginReply(true);
  world.send({ type: 'close', cause: 'end_call' });
  return world;
}

t.test('RT-23 a goodbye that is never heard to its end is cut after 8 s', async (t) => {
  const world = sayingGoodbye();
  t.notOk(actionsIn(world, 7_990).includes('end'));
  t.same(actionsIn(world, 20), ['end']);
  t.equal(world.expired.get('goodbye_cap'), 1);
});

t.test(
  'RT-23 a goodbye that is being heard is not cut, and 300 ms after its end the bot hangs up',
  async (t) => {
    const world = sayingGoodbye();
    world.startAudio();
    for (let second = 0; second < 12; second++) {
      world.send({ type: 'line_busy', untilSample: world.now + 1_000 * MS });
      t.notOk(actionsIn(world, 1_000).includes('end'), `second ${second}`);
    }
    world.endReply('played');
    t.same(actionsIn(world, 290), []);
    t.same(actionsIn(world, 20), ['end']);
    t.notOk(world.expired.has('goodbye_cap'));

    const stuck = sayingGoodbye();
    stuck.startAudio();
    stuck.send({ type: 'line_busy', untilSample: stuck.now + 3_000 * MS });
    t.notOk(actionsIn(stuck, 10_990).includes('end'), '8 s from its last sound');
    t.same(actionsIn(stuck, 20), ['end']);
  },
);

t.test('RT-23 an order to hang up stands when the words of the goodbye fail', async (t) => {
  const world = sayingGoodbye();
  world.endReply('failed');
  t.same(actionsIn(world, 290), []);
  t.same(actionsIn(world, 20), ['end']);
});
