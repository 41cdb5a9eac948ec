import t from 'tap';
import { TurnWorld, WALK_RULES } from './turn-world.ts';

/** A turn that was called over by ear: in this world every fifth word promises more, and the others do not. */
const MS = 8;

/** The caller has said so many words and stopped, and the turn model calls the turn complete 274 ms after the last. */
function stopped(words: number): TurnWorld {
  const world = new TurnWorld(WALK_RULES);
  world.startSpeech();
  say(world, words);
  world.answerText(0, 'interruption', false);
  return world;
}

function say(world: TurnWorld, words: number): void {
  for (let word = 0; word < words; word++) world.sayWord();
  world.pass(1_500 * MS);
  world.stopSpeech();
  world.pass(50 * MS);
  world.answerVerdict(world.askedVerdicts.length - 1, true);
}

const decidedBy = (world: TurnWorld) =>
  world.trace.flatMap((line) => /"type":"take_turn".*"decidedBy":"(\w+)"/.exec(line)?.[1] ?? []);

t.test('RT-04 a turn whose last words promise more waits up to its end, and is then taken', async (t) => {
  const world = stopped(5);
  t.equal(world.state.phase, 'deciding');
  t.notOk(world.state.timers.has('debt_end'), 'nobody is owed an answer while they may go on');
  world.pass((1_600 - 274 - 20) * MS);
  t.same(world.taken, [], 'not before');
  world.pass(40 * MS);
  t.same(world.taken, ['w1 w2 w3 w4 w5']);
  t.same(decidedBy(world), ['words']);
  t.ok(world.state.timers.has('debt_end'));
});

t.test('RT-04 whole words are taken in the moment in which their text comes', async (t) => {
  const world = stopped(4);
  t.same(world.taken, ['w1 w2 w3 w4']);
  t.same(decidedBy(world), ['model']);
});

t.test('RT-04 who goes on within that wait says one turn', async (t) => {
  const world = stopped(5);
  world.pass(700 * MS);
  world.startSpeech();
  t.equal(world.state.phase, 'caller_speaking');
  say(world, 2);
  t.same(world.taken, [], 'nothing was taken between');
  world.answerText(world.askedTexts.length - 1, 'interruption', false);
  t.same(world.taken, ['w1 w2 w3 w4 w5 w6 w7']);
});

t.test('RT-06 a text that comes after the wait is over is taken at once, whatever it promises', async (t) => {
  const world = new TurnWorld({ ...WALK_RULES, finalWaitSamples: 3_000 * MS });
  world.startSpeech();
  say(world, 5);
  world.pass(2_000 * MS);
  t.same(world.taken, []);
  world.answerText(0, 'interruption', false);
  t.same(world.taken, ['w1 w2 w3 w4 w5']);
});

t.test('RT-06 words heard on the way that stand for a text promise as much', async (t) => {
  const world = new TurnWorld({ ...WALK_RULES, finalWaitSamples: 500 * MS });
  world.startSpeech();
  for (let word = 0; word < 5; word++) world.sayWord();
  world.interim('interruption');
  say(world, 0);
  world.pass(600 * MS);
  t.same(world.taken, [], 'the text did not come, and its words promise more');
  world.pass(800 * MS);
  t.same(world.taken, ['w1 w2 w3 w4 w5']);
});
