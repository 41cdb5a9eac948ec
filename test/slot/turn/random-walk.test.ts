import t from 'tap';
import type { TimerName, TurnRules, TurnState } from '../../../src/slot/turn/turn-types.ts';
import type { Fault } from './turn-world.ts';
import { walk } from './walk.ts';

const KINDS: { name: string; rules: Partial<TurnRules> }[] = [
  { name: 'the turn model', rules: {} },
  {
    name: 'the turn model, text at every stop, two words to interrupt',
    rules: { flushAtStop: true, minWords: 2 },
  },
  { name: 'an engine that detects turns', rules: { strategy: 'stt' } },
  {
    name: 'silence, three words to interrupt and no interims',
    rules: { strategy: 'silence', flushAtStop: true, minWords: 3, givesInterims: false },
  },
];
const SEEDS = 125;
const STEPS = 2_000;

for (const kind of KINDS) {
  t.test(
    `RT-09 from every state the next turn is audible, and nothing waits for ever: ${kind.name}`,
    async (t) => {
      let steps = 0;
      let turns = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const walked = walk({ seed, steps: STEPS, rules: kind.rules });
        steps += walked.steps;
        turns += walked.turns;
      }
      t.ok(steps >= SEEDS * STEPS, `${steps} steps, ${turns} turns`);
      t.ok(turns > steps / 200, 'the walk holds conversations and not only noise');
    },
  );
}

function without(...names: TimerName[]): Fault['state'] {
  return (state: TurnState) => {
    for (const name of names) state.timers.delete(name);
  };
}

const FAULTS: Fault[] = [
  { name: 'no timer waits for a transcript', state: without('final_wait') },
  { name: 'no timer waits for the turn model', state: without('verdict_wait') },
  { name: 'no timer ends speech that never stops', state: without('speech_stuck') },
  { name: 'no timer decides who goes on when two speak', state: without('interruption_decide') },
  { name: 'no timer ends what the bot owes', state: without('debt_end') },
  { name: 'no timer follows a goodbye', state: without('closing_listen') },
  {
    name: 'a verdict on an older state is believed',
    event: (event, state) =>
      event.type === 'verdict'
        ? { ...event, turn: state.turn?.id ?? 0, epoch: state.turn?.epoch ?? 0 }
        : event,
  },
  {
    name: 'a transcript is taken for that of another turn',
    event: (event, state) => (event.type === 'final' ? { ...event, turn: state.turn?.id ?? 0 } : event),
  },
  {
    name: 'audio of an older reply counts for the present one',
    event: (event, state) =>
      event.type === 'audio_started' && state.reply ? { ...event, reply: state.reply.id } : event,
  },
  {
    name: 'the end of an older reply ends the present one',
    event: (event, state) =>
      event.type === 'reply_ended' && state.reply ? { ...event, reply: state.reply.id } : event,
  },
  {
    name: 'a paused bot is not told to go on',
    actions: (all) => all.filter(({ type }) => type !== 'resume_bot'),
  },
  { name: 'the bot is not cut', actions: (all) => all.filter(({ type }) => type !== 'cut_bot') },
  {
    name: 'a question is forgotten when its answer is withdrawn',
    actions: (all, state) => {
      if (state.turn && all.some(({ type }) => type === 'withdraw')) state.turn.settledText = '';
      return all;
    },
  },
  {
    name: 'the engine keeps what was taken from it',
    actions: (all) => all.filter(({ type }) => type !== 'discard'),
  },
];

for (const fault of FAULTS) {
  t.test(`the random walk finds the fault: ${fault.name}`, async (t) => {
    t.throws(() => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        for (const { rules } of KINDS) walk({ seed, steps: STEPS, rules, fault });
      }
    });
  });
}
