import { atLevel } from '../src/cli/scenario/caller-sounds.ts';
import { loadModelPath } from '../src/platform/model-files.ts';
import { projectPath } from '../src/platform/project-paths.ts';
import { VoiceActivity } from '../src/slot/listen/voice-activity.ts';
import { bargeIns, botLines, shortAnswers } from './echo-corpus.ts';
import { callOnLine, type EchoLine, type EchoOutcome } from './echo-line.ts';
import { describeRate, type Rate, rateOf } from './rates.ts';

/** How callers with short answers are heard on lines without an echo, and bots on lines with one (RT-18). */
export interface EchoPlan {
  /** Answers of one word on lines without an echo. */
  answers: number;
  /** Calls of two lines of the bot on a line with an echo, in which nobody says anything; and with a caller who breaks in. */
  echoes: number;
  bargeIns: number;
  seed: number;
}

export interface EchoFigures {
  /** No turn came of it, though an engine heard the word: by synthetic and by recorded voices. */
  lost: Rate;
  lostSynthetic: Rate;
  lostRecorded: Rate;
  /** Of these, so many were taken for an echo. */
  takenForEcho: number;
  /** Lines of the bot that its own echo cut, with words on the way and without; and turns of nobody. */
  cutByEcho: Rate;
  cutByEchoWithInterims: Rate;
  nobodysTurns: Rate;
  pauses: Rate;
  /** Callers who broke in and did not stop the bot within three seconds, on lines without an echo and with one. */
  bargeIns: { missed: Rate; cutAfterMsP50: number | null }[];
}

/** An answer begins so long after the question, at such a level. */
const ANSWER_MS = { min: 200, max: 1_200 };
const ANSWER_DBFS = { min: -34, max: -16 };
const NOISES_DBFS = [null, null, -65, -58, -52];
const ECHO_DELAY_MS = { min: 60, max: 800 };
const ECHO_LOSS_DB = { min: 6, max: 30 };
const MISHEARS = 0.1;
const BARGE_IN_DBFS = { min: -26, max: -16 };
const BARGE_IN_BOUND_MS = 3_000;

export async function benchEcho(plan: EchoPlan, say: (sentence: string) => void): Promise<EchoFigures> {
  const vad = await VoiceActivity.create(
    await loadModelPath('silero-vad', process.env.MODEL_DIR ?? projectPath('models')),
  );
  try {
    say(`${plan.answers} answers of one word on lines without an echo`);
    const answers = await judgeAnswers(plan, vad);
    say(`${plan.echoes} calls on lines with an echo, ${plan.bargeIns} of callers who break in`);
    const silent = await judgeSilentCallers(plan, vad);
    const breaking = [await judgeBargeIns(plan, vad, false), await judgeBargeIns(plan, vad, true)];
    return { ...answers, ...silent, bargeIns: breaking };
  } finally {
    await vad.close();
  }
}

export function describeEcho(figures: EchoFigures): string[] {
  return [
    `answers of one word that were lost, no echo: ${describeRate(figures.lost)}; ${figures.takenForEcho} taken for an echo`,
    `  synthetic ${describeRate(figures.lostSynthetic)}`,
    `  recorded  ${describeRate(figures.lostRecorded)}`,
    `lines that their own echo cut: ${describeRate(figures.cutByEcho)}`,
    `  by words on the way ${describeRate(figures.cutByEchoWithInterims)}`,
    `lines after which nobody's words became a turn: ${describeRate(figures.nobodysTurns)}`,
    `lines that their echo paused: ${describeRate(figures.pauses)}`,
    ...figures.bargeIns.map(
      ({ missed, cutAfterMsP50 }, index) =>
        `callers who broke in and did not stop the bot, ${index === 0 ? 'no' : 'with an'} echo: ${describeRate(missed)}; ` +
        `the others in the middle after ${cutAfterMsP50?.toFixed(0)} ms`,
    ),
  ];
}

async function judgeAnswers(
  plan: EchoPlan,
  vad: VoiceActivity,
): Promise<Pick<EchoFigures, 'lost' | 'lostSynthetic' | 'lostRecorded' | 'takenForEcho'>> {
  const random = seeded(plan.seed);
  const [questions, answers] = [await botLines(), await shortAnswers()];
  const kinds = { synthetic: { n: 0, lost: 0 }, recorded: { n: 0, lost: 0 } };
  let takenForEcho = 0;
  for (let trial = 0; trial < plan.answers; trial++) {
    const kind = trial % 3 === 0 ? 'recorded' : 'synthetic';
    const clip = pick(answers[kind], random);
    const outcome = await callOnLine(
      {
        ...lineOf(trial, random),
        bot: [pick(questions, random)],
        caller: {
          clip: { text: clip.text, samples: atLevel(clip.samples, between(ANSWER_DBFS, random)) },
          after: 'end',
          ms: between(ANSWER_MS, random),
        },
        echo: null,
      },
      vad,
    );
    const isLost = !outcome.taken.some((text) => text.includes(clip.text));
    kinds[kind].n++;
    if (!isLost) continue;
    kinds[kind].lost++;
    if (outcome.doubts > 0) takenForEcho++;
  }
  const { synthetic, recorded } = kinds;
  return {
    lost: rateOf(synthetic.lost + recorded.lost, synthetic.n + recorded.n),
    lostSynthetic: rateOf(synthetic.lost, synthetic.n),
    lostRecorded: rateOf(recorded.lost, recorded.n),
    takenForEcho,
  };
}

async function judgeSilentCallers(
  plan: EchoPlan,
  vad: VoiceActivity,
): Promise<Pick<EchoFigures, 'cutByEcho' | 'cutByEchoWithInterims' | 'nobodysTurns' | 'pauses'>> {
  const random = seeded(plan.seed + 1);
  const lines = await botLines();
  const found: { line: EchoLine; outcome: EchoOutcome }[] = [];
  for (let trial = 0; trial < plan.echoes; trial++) {
    const line: EchoLine = {
      ...lineOf(trial, random),
      bot: [pick(lines, random), pick(lines, random)],
      caller: null,
      echo: echoOf(random),
    };
    found.push({ line, outcome: await callOnLine(line, vad) });
  }
  const cuts = (of: typeof found) => of.reduce((sum, { outcome }) => sum + outcome.cuts, 0);
  const withInterims = found.filter(({ line }) => line.givesInterims);
  const turns = found.reduce((sum, { outcome }) => sum + Math.min(2, outcome.taken.length), 0);
  const pauses = found.reduce((sum, { outcome }) => sum + Math.min(2, outcome.pauses), 0);
  return {
    cutByEcho: rateOf(cuts(found), 2 * found.length),
    cutByEchoWithInterims: rateOf(cuts(withInterims), 2 * withInterims.length),
    nobodysTurns: rateOf(turns, 2 * found.length),
    pauses: rateOf(pauses, 2 * found.length),
  };
}

async function judgeBargeIns(
  plan: EchoPlan,
  vad: VoiceActivity,
  hasEcho: boolean,
): Promise<EchoFigures['bargeIns'][number]> {
  const random = seeded(plan.seed + 2);
  const [lines, sentences] = [await botLines(), await bargeIns()];
  const times: number[] = [];
  for (let trial = 0; trial < plan.bargeIns; trial++) {
    const sentence = pick(sentences, random);
    const outcome = await callOnLine(
      {
        ...lineOf(trial, random),
        bot: [pick(lines, random), pick(lines, random)],
        caller: {
          clip: { ...sentence, samples: atLevel(sentence.samples, between(BARGE_IN_DBFS, random)) },
          after: 'beginning',
          ms: 300 + 900 * random(),
        },
        echo: hasEcho ? echoOf(random) : null,
      },
      vad,
    );
    const { cutAfterMs } = outcome;
    if (cutAfterMs !== null && cutAfterMs <= BARGE_IN_BOUND_MS) times.push(cutAfterMs);
  }
  times.sort((one, other) => one - other);
  return {
    missed: rateOf(plan.bargeIns - times.length, plan.bargeIns),
    cutAfterMsP50: times[times.length >> 1] ?? null,
  };
}

/** What is the same of all lines: every second engine tells words on the way, every third bot wants two of them. */
function lineOf(trial: number, random: () => number): Omit<EchoLine, 'bot' | 'caller' | 'echo'> {
  return {
    gapMs: 1_500,
    tailMs: 3_500,
    noiseDbfs: pick(NOISES_DBFS, random),
    givesInterims: trial % 2 === 0,
    minWords: trial % 3 === 0 ? 2 : 0,
    mishears: MISHEARS,
    seed: trial + 1,
    random,
  };
}

function echoOf(random: () => number): EchoLine['echo'] {
  return { delayMs: between(ECHO_DELAY_MS, random), lossDb: between(ECHO_LOSS_DB, random) };
}

function between({ min, max }: { min: number; max: number }, random: () => number): number {
  return min + (max - min) * random();
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Numbers from 0 to 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
