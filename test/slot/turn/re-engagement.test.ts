import t from 'tap';
import { reEngagementPlan } from '../../../src/slot/turn/re-engagement.ts';
import { turnRules } from '../../../src/slot/turn/turn-rules.ts';
import { TurnWorld } from './turn-world.ts';

/** A caller who never says a word. */
const MS = 8;
const ENGINE = {
  strategy: 'model',
  givesInterims: true,
  flushAtStop: false,
  wordWaitSamples: () => 0,
} as const;
const BOT = { vad: {}, min_words_interruption: 0, max_call_duration_seconds: 600 };

function silentCall(settings: Parameters<typeof reEngagementPlan>[0], language = 'en') {
  return new TurnWorld(turnRules(BOT, ENGINE, reEngagementPlan(settings, language)));
}

/** Seconds until the bot hangs up; `speaks` is how long each line takes that it says before. */
function endsAfter(world: TurnWorld, speaks = 0): number {
  let lines = 0;
  while (!world.isOver) {
    world.pass(10 * MS);
    const asked = world.state.linesUsed;
    if (asked === lines) continue;
    lines = asked;
    world.beginReply(false);
    world.startAudio();
    world.pass(speaks * 1_000 * MS);
    world.endReply('played');
  }
  return world.now / (1_000 * MS);
}

t.test('R60 RT-20 a bot that is to say nothing to a silent caller does not hang up on them', async (t) => {
  const quiet = silentCall({ enabled: false, after_seconds: 2 });
  quiet.pass(6_000 * MS);
  t.notOk(quiet.isOver, 'two lines and three pauses would have taken longer');
  t.equal(quiet.state.linesUsed, 0, 'and it says none of them');
  const saidAfter = endsAfter(silentCall({ after_seconds: 2 }), 2);
  const quietAfter = endsAfter(silentCall({ enabled: false, after_seconds: 2 }));
  t.ok(Math.abs(quietAfter - saidAfter) < 1.5, `${quietAfter} s without lines, ${saidAfter} s with them`);
  t.ok(endsAfter(silentCall({ enabled: false })) > 24, 'three pauses of 8 s where nothing is set');
  t.ok(endsAfter(silentCall({ enabled: false, prompts: [] })) > 24, 'as well where it has no lines at all');
});

t.test('R60 RT-20 its own setting says when the call ends, and a word begins the wait anew', async (t) => {
  t.equal(Math.round(endsAfter(silentCall({ enabled: false, end_after_seconds: 90 }))), 90);
  const world = silentCall({ enabled: false, end_after_seconds: 5 });
  world.pass(4_000 * MS);
  world.send({ type: 'caller_activity' });
  world.pass(4_000 * MS);
  t.notOk(world.isOver);
  world.pass(1_100 * MS);
  t.ok(world.isOver);
});

t.test('RT-20 the lines of a bot without its own are in the language of its voice', async (t) => {
  const linesIn = (language: string | undefined) => reEngagementPlan({}, language).lines;
  t.same(linesIn('en-IN'), ['Are you still there?', 'I cannot hear you. Please say something.']);
  t.match(linesIn('hi-IN')[0], /क्या आप/);
  t.match(linesIn('ta')[1], /கேட்கவில்லை/);
  t.match(linesIn('de-DE')[0], /noch da/);
  t.same(linesIn('xx'), linesIn(undefined), 'English where the language is not known');
  t.same(reEngagementPlan({ prompts: ['Hello?'] }, 'hi').lines, ['Hello?'], 'its own come first');
  t.same(reEngagementPlan({ prompts: [] }, 'hi').lines, [], 'and none are none');
});
