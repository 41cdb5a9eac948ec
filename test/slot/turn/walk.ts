import type { InterruptionMeaning, TurnEvent, TurnRules } from '../../../src/slot/turn/turn-types.ts';
import { seededRandom } from '../../harness/seeded-random.ts';
import { type Fault, must, TurnWorld, WALK_RULES } from './turn-world.ts';

const MS = 8;
const MEANINGS: InterruptionMeaning[] = [
  'nothing',
  'backchannel',
  'too_few_words',
  'answer',
  'interruption',
  'echo',
];
/** Longer than every guard but the one on speech and play-out. */
const PATIENCE_SAMPLES = 200_000 * MS;

/** Walks at random until `steps` are used; throws with seed and step where a promise is broken. */
export function walk(options: { seed: number; steps: number; rules?: Partial<TurnRules>; fault?: Fault }): {
  steps: number;
  calls: number;
  turns: number;
} {
  const random = seededRandom(options.seed);
  const rules = { ...WALK_RULES, ...options.rules };
  let turns = 0;
  let calls = 0;
  let done = 0;
  while (done < options.steps) {
    const world = new TurnWorld(rules, options.fault);
    calls++;
    const length = Math.min(20 + Math.floor(random() * 200), options.steps - done);
    try {
      for (let at = 0; at < length && !world.isOver; at++, done++) randomStep(world, random);
      if (!world.isOver) {
        if (random() < 0.5) becomesAudible(world);
        else comesToAnEnd(world);
      }
    } catch (error) {
      throw new Error(
        `seed ${options.seed}, step ${done}: ${(error as Error).message}\n${world.trace.join('\n')}`,
      );
    }
    done++;
    turns += world.taken.length;
  }
  return { steps: done, calls, turns };
}

function randomStep(world: TurnWorld, random: () => number): void {
  const pick = random();
  const meaning = MEANINGS[Math.floor(random() * MEANINGS.length)] ?? 'nothing';
  const at = (list: readonly unknown[]) => Math.floor(random() * list.length);
  if (pick < 0.16) world.pass(Math.floor(random() * (random() < 0.1 ? 12_000 : 600) * MS));
  else if (pick < 0.28) world.isSpeaking ? world.stopSpeech() : world.startSpeech();
  else if (pick < 0.38) world.sayWord();
  else if (pick < 0.46) world.interim(meaning);
  else if (pick < 0.56) world.answerText(at(world.askedTexts), meaning, random() < 0.1);
  else if (pick < 0.66) world.answerVerdict(at(world.askedVerdicts), random() < 0.2 ? null : random() < 0.6);
  else if (pick < 0.76) world.startAudio();
  else if (pick < 0.82) world.endReply(random() < 0.9 ? 'played' : 'failed');
  else if (pick < 0.84) dry(world);
  else if (pick < 0.86) speakUnasked(world, random() < 0.3);
  else if (pick < 0.88) bind(world, random() < 0.5);
  else if (pick < 0.885) world.send({ type: 'close', cause: random() < 0.5 ? 'end_call' : 'closure_phrase' });
  else if (pick < 0.91) world.engineEnds(meaning);
  else if (pick < 0.93) aside(world, random, meaning);
  else stale(world, random);
}

/** What arrives late, twice or for something that is long over must change nothing that matters. */
function stale(world: TurnWorld, random: () => number): void {
  const { state } = world;
  const kinds = 6;
  switch (Math.floor(random() * kinds)) {
    case 0:
      world.send({
        type: 'final',
        turn: state.turnCount - 1,
        text: 'old words',
        meaning: 'interruption',
      });
      return;
    case 1:
      world.send({
        type: 'verdict',
        turn: state.turnCount,
        epoch: (state.turn?.epoch ?? 0) - 1,
        complete: true,
        probability: 1,
      });
      return;
    case 2:
      world.send({ type: 'audio_started', reply: world.replies - 1 });
      return;
    case 3:
      world.send({ type: 'reply_ended', reply: world.replies - 1, how: 'played' });
      return;
    case 4:
      world.send({ type: 'speech_stop', lastSample: world.now });
      return;
    default:
      world.send({ type: 'caller_activity' });
      return;
  }
}

/** What happens beside the conversation: engines that change or stall, echoes, lines that bridge, keys. */
function aside(world: TurnWorld, random: () => number, meaning: InterruptionMeaning): void {
  const untilSample = world.now + Math.floor(random() * 4_000 * MS);
  const events: TurnEvent[] = [
    { type: 'final_delayed', untilSample },
    { type: 'line_busy', untilSample },
    { type: 'awaits_caller' },
    { type: 'not_speech' },
    { type: 'doubted' },
    { type: 'undoubted', fromSample: world.now - 32 * MS },
    { type: 'line_returned' },
    { type: 'engine_turn', what: random() < 0.5 ? 'start' : 'eager_end', text: '', meaning },
    { type: 'engine_turn', what: 'resumed', text: '', meaning },
    {
      type: 'strategy',
      strategy: (['model', 'silence', 'stt'] as const)[Math.floor(random() * 3)] ?? 'model',
    },
  ];
  const event = events[Math.floor(random() * events.length)];
  if (event?.type === 'line_returned') world.returnLine();
  else if (event) world.send(event);
}

function dry(world: TurnWorld): void {
  if (!world.live?.audible) return;
  world.live.audible = false;
  world.send({ type: 'audio_dry', reply: world.live.id });
}

/** A line of the bot's own: a prompt, a warning. The call never says one over another. */
function speakUnasked(world: TurnWorld, isProtected: boolean): void {
  if (!world.live && world.state.phase === 'caller_silent') world.beginReply(isProtected);
}

function bind(world: TurnWorld, isProtected: boolean): void {
  if (!world.live) return;
  world.live.isProtected ||= isProtected;
  world.send({ type: 'reply_bound', reply: world.live.id, isProtected });
}

/** From here on everything works: the next turn of the caller must be answered so that they hear it. */
function becomesAudible(world: TurnWorld): void {
  settleAll(world);
  if (world.isOver || world.state.closing) return;
  const before = world.taken.length;
  world.startSpeech();
  world.sayWord();
  world.pass(900 * MS);
  world.interim('interruption');
  world.stopSpeech();
  for (let round = 0; round < 40 && world.taken.length === before && !world.isOver; round++) {
    if (world.state.rules.strategy === 'stt') world.engineEnds('interruption');
    world.answerVerdict(world.askedVerdicts.length - 1, true);
    world.answerText(world.askedTexts.length - 1, 'interruption', false);
    world.pass(50 * MS);
    if (world.taken.length > before) break;
    world.endReply('played');
  }
  must(world.taken.length > before, `a clean turn is not taken in ${world.state.phase}`);
  world.startAudio();
  must(
    world.state.phase === 'bot_speaking',
    `the answer to a clean turn is not heard in ${world.state.phase}`,
  );
}

/** Whoever still speaks stops, and what is outstanding is answered. */
function settleAll(world: TurnWorld): void {
  if (world.isSpeaking) world.stopSpeech();
  for (let round = 0; round < 60 && !world.isOver; round++) {
    while (world.askedVerdicts.length > 0) world.answerVerdict(0, true);
    while (world.askedTexts.length > 0) world.answerText(0, 'interruption', false);
    world.startAudio();
    world.endReply('played');
    if (world.state.phase === 'caller_silent' || world.state.phase === 'closing') return;
    world.pass(500 * MS);
  }
  must(world.isOver, `nothing is outstanding and ${world.state.phase} does not end`);
}

/** From here on nobody does anything: the timers alone must bring the call to its end. */
function comesToAnEnd(world: TurnWorld): void {
  const endSample = world.now + PATIENCE_SAMPLES;
  while (!world.isOver && world.now < endSample) world.pass(1_000 * MS);
  must(world.isOver, `without any event ${world.state.phase} lasts for ever`);
}
