import t from 'tap';
import { TurnWorld, WALK_RULES } from './turn-world.ts';

/** Somebody speaks over the bot, and what they say is held to sound like it, rightly or not. */
const MS = 8;

function spokenOver(): TurnWorld {
  const world = new TurnWorld(WALK_RULES);
  world.beginReply(false);
  world.startAudio();
  world.pass(2_000 * MS);
  world.startSpeech();
  return world;
}

const told = (world: TurnWorld, action: string) =>
  world.trace.filter((line) => line.includes(`"type":"${action}"`)).length;

t.test('RT-18 what sounds like the bot from the beginning does not hold it', async (t) => {
  const world = spokenOver();
  world.send({ type: 'doubted' });
  world.pass(1_000 * MS);
  t.notOk(world.state.isPaused);
  t.equal(told(world, 'pause_bot'), 0);
});

t.test('RT-11 RT-18 a bot that is held is not let go because what holds it sounds like it', async (t) => {
  const world = spokenOver();
  world.pass(WALK_RULES.interruptionPauseSamples + 20 * MS);
  t.ok(world.state.isPaused, 'somebody speaks, and the bot waits');
  world.send({ type: 'doubted' });
  t.ok(world.state.isPaused, 'it goes on waiting for their words');
  world.send({ type: 'undoubted', fromSample: world.now - 32 * MS });
  world.sayWord();
  world.sayWord();
  world.interim('interruption');
  t.equal(told(world, 'cut_bot'), 1, 'and gives way to them');
  t.equal(told(world, 'resume_bot'), 0, 'without a sound in between');
});

t.test('RT-14 RT-18 a bot that is held in doubt goes on after the bound when no word comes', async (t) => {
  const world = spokenOver();
  world.pass(WALK_RULES.interruptionPauseSamples + 20 * MS);
  world.send({ type: 'doubted' });
  world.pass(WALK_RULES.interruptionDecideSamples + 20 * MS);
  t.notOk(world.state.isPaused);
  t.equal(told(world, 'resume_bot'), 1);
});
