import type { Replay, ReplaySettings, TurnLab } from '../src/cli/turnlab/turn-lab.ts';
import { LINE_RATE_HZ } from '../src/contracts/limits.ts';
import type { TurnJudge } from '../src/slot/listen/turn-model.ts';
import {
  backchannels,
  type LabelledTurn,
  labelledTurns,
  noiseMinute,
  speechSources,
} from './conversation-corpus.ts';
import { type Rate, rateOf } from './rates.ts';
import { quantile } from './spread.ts';

/** How turns and interruptions are judged on material whose truth is known. */
export interface JudgedSet {
  judge: Judge;
  /** Turns that were called over before their last word, where nothing was spliced in. */
  natural: Rate;
  naturalHuman: Rate;
  /** The same with a pause in the middle of the sentence. */
  spliced: Rate;
  splicedByPause: { pauseMs: number; rate: Rate }[];
  /** Of all: called over so early that the bot would have been heard before the caller went on. */
  heard: Rate;
  /** The same of those with a pause, and with providers that take less. */
  heardSpliced: Rate;
  heardSplicedSooner: Rate;
  /** Turns that were called over more than 1.2 s after their last word, or never. */
  late: Rate;
  waitMsP50: number | null;
  waitMsP95: number | null;
  /** Where nothing was spliced in: whole sentences, said in one go. */
  wholeWaitMsP50: number | null;
  wholeWaitMsP95: number | null;
}

/** Who calls turns over: the turn model, the words alone, both together, or silence. */
export const JUDGES = ['acoustics', 'words', 'both', 'silence'] as const;
export type Judge = (typeof JUDGES)[number];

export interface JudgedInterruptions {
  /** Whole sentences over the bot that did not cut it. */
  missed: Rate;
  onsetToHoldMsP50: number | null;
  onsetToHoldMsP95: number | null;
  onsetToCutMsP50: number | null;
  /** Signs of listening that paused the bot, and that cut it. */
  backchannelsHeld: Rate;
  backchannelsCut: Rate;
  noiseHours: number;
  noiseHolds: number;
  noiseCuts: number;
}

const LATE_SAMPLES = 1.2 * LINE_RATE_HZ;
/** What model and voice take at good providers (350 and 150 ms); a turn is taken back until then. */
export const PROVIDERS_MS = 500;
const PROVIDERS_SAMPLES = (PROVIDERS_MS * LINE_RATE_HZ) / 1000;
/** The quickest that are in use. */
export const QUICK_PROVIDERS_MS = 300;
const QUICK_PROVIDERS_SAMPLES = (QUICK_PROVIDERS_MS * LINE_RATE_HZ) / 1000;

/** Lets the words alone decide: whoever stops has finished, as far as the sound goes. */
const alwaysComplete: TurnJudge = {
  judge: async () => ({ decidedBy: 'model', probability: 1, computeMs: 0 }),
  close: async () => undefined,
};

/** The labelled turns through voice activity, turn model and turn machine, once for each judge. */
export async function judgeTurns(
  lab: TurnLab,
  share: number,
  textMs: number,
): Promise<Record<Judge, JudgedSet>> {
  const judged: Record<Judge, JudgedTurn[]> = { acoustics: [], words: [], both: [], silence: [] };
  for (const turn of await labelledTurns(share)) {
    const heard = await lab.hear({ caller: turn.samples, bot: new Int16Array(0) });
    for (const judge of JUDGES) {
      const replay = await lab.replay(heard, settingsOf(judge, turn, textMs));
      judged[judge].push(judgedTurn(turn, replay));
    }
  }
  return {
    acoustics: judgedSet('acoustics', judged.acoustics),
    words: judgedSet('words', judged.words),
    both: judgedSet('both', judged.both),
    silence: judgedSet('silence', judged.silence),
  };
}

function settingsOf(judge: Judge, turn: LabelledTurn, textMs: number): ReplaySettings {
  const words = {
    language: 'en',
    spoken: turn.words,
    textSamples: (textMs * LINE_RATE_HZ) / 1000,
    botSaid: turn.botSaid,
  };
  switch (judge) {
    case 'acoustics':
      return { vad: {} };
    case 'words':
      return { vad: {}, words, judge: alwaysComplete };
    case 'both':
      return { vad: {}, words };
    case 'silence':
      return { vad: { turn_model: 'off' } };
  }
}

interface JudgedTurn {
  turn: LabelledTurn;
  isEarly: boolean;
  /** The longest that providers may take for nobody to hear an answer that came too early; 0 where none did. */
  heardSamples: number;
  waitSamples: number | null;
}

function judgedTurn(turn: LabelledTurn, { turns, speech }: Replay): JudgedTurn {
  const early = turns.filter((found) => found.decidedAt < turn.endSample);
  const end = turns.find((found) => found.decidedAt >= turn.endSample);
  const untilHeard = early.map((found) => {
    const goesOn = speech.find((span) => span.from >= found.to)?.from ?? turn.endSample;
    return goesOn - found.decidedAt;
  });
  return {
    turn,
    isEarly: early.length > 0,
    heardSamples: Math.max(0, ...untilHeard),
    waitSamples: end ? end.decidedAt - turn.endSample : null,
  };
}

function judgedSet(judge: Judge, judged: readonly JudgedTurn[]): JudgedSet {
  const waitsOf = (of: readonly JudgedTurn[]) =>
    Float64Array.from(
      of.flatMap(({ waitSamples }) => (waitSamples === null ? [] : [toMs(waitSamples)])),
    ).sort();
  const share = (of: readonly JudgedTurn[], is: (one: JudgedTurn) => boolean) =>
    rateOf(of.filter(is).length, of.length);
  const early = (of: readonly JudgedTurn[]) => share(of, ({ isEarly }) => isEarly);
  const spliced = judged.filter(({ turn }) => turn.pauseMs > 0);
  const natural = judged.filter(({ turn }) => turn.pauseMs === 0);
  const pauses = [...new Set(spliced.map(({ turn }) => turn.pauseMs))].sort((one, other) => one - other);
  const isHeard = (one: JudgedTurn) => one.heardSamples > PROVIDERS_SAMPLES;
  const waits = waitsOf(judged);
  const wholeWaits = waitsOf(natural);
  return {
    judge,
    natural: early(natural),
    naturalHuman: early(natural.filter(({ turn }) => turn.kind === 'human')),
    spliced: early(spliced),
    splicedByPause: pauses.map((pauseMs) => ({
      pauseMs,
      rate: early(spliced.filter(({ turn }) => turn.pauseMs === pauseMs)),
    })),
    heard: share(judged, isHeard),
    heardSpliced: share(spliced, isHeard),
    heardSplicedSooner: share(spliced, (one) => one.heardSamples > QUICK_PROVIDERS_SAMPLES),
    late: share(judged, ({ waitSamples }) => waitSamples === null || waitSamples > LATE_SAMPLES),
    waitMsP50: quantile(waits, 0.5),
    waitMsP95: quantile(waits, 0.95),
    wholeWaitMsP50: quantile(wholeWaits, 0.5),
    wholeWaitMsP95: quantile(wholeWaits, 0.95),
  };
}

/** Real interruptions, signs of listening and noise over a bot that speaks all the time. */
export async function judgeInterruptions(
  lab: TurnLab,
  plan: { share: number; noiseMinutes: number },
): Promise<JudgedInterruptions> {
  const sentences = thinned(
    (await speechSources()).map(({ speech }) => speech),
    plan.share,
  );
  const onsetToHold: number[] = [];
  const onsetToCut: number[] = [];
  for (const speech of sentences) {
    const first = await overBot(lab, speech);
    if (first?.heldAt != null) onsetToHold.push(toMs(first.heldAt - ONSET_SAMPLES));
    if (first?.cutAt != null) onsetToCut.push(toMs(first.cutAt - ONSET_SAMPLES));
  }
  const short = thinned(await backchannels(), plan.share);
  let held = 0;
  let cut = 0;
  for (const clip of short) {
    const overlap = await overBot(lab, clip);
    if (overlap?.heldAt != null) held++;
    if (overlap?.cutAt != null) cut++;
  }
  let noiseHolds = 0;
  let noiseCuts = 0;
  for (let minute = 0; minute < plan.noiseMinutes; minute++) {
    const caller = noiseMinute(1_000 + minute);
    const replay = await replayOver(lab, caller);
    noiseHolds += replay.overlaps.filter((overlap) => overlap.heldAt !== null).length;
    noiseCuts += replay.overlaps.filter((overlap) => overlap.cutAt !== null).length;
  }
  const holds = Float64Array.from(onsetToHold).sort();
  return {
    missed: rateOf(sentences.length - onsetToCut.length, sentences.length),
    onsetToHoldMsP50: quantile(holds, 0.5),
    onsetToHoldMsP95: quantile(holds, 0.95),
    onsetToCutMsP50: quantile(Float64Array.from(onsetToCut).sort(), 0.5),
    backchannelsHeld: rateOf(held, short.length),
    backchannelsCut: rateOf(cut, short.length),
    noiseHours: plan.noiseMinutes / 60,
    noiseHolds,
    noiseCuts,
  };
}

const ONSET_SAMPLES = 3 * LINE_RATE_HZ;

async function overBot(lab: TurnLab, speech: Int16Array) {
  const caller = new Int16Array(ONSET_SAMPLES + speech.length + 3 * LINE_RATE_HZ);
  caller.set(speech, ONSET_SAMPLES);
  seededHiss(caller);
  return (await replayOver(lab, caller)).overlaps[0];
}

/** A bot that is heard from beginning to end, as a tone: only when it speaks matters here. */
async function replayOver(lab: TurnLab, caller: Int16Array): Promise<Replay> {
  const bot = new Int16Array(caller.length);
  for (let at = 0; at < bot.length; at++) bot[at] = at % 16 < 8 ? 2_000 : -2_000;
  return lab.replay(await lab.hear({ caller, bot }), { vad: {} });
}

function seededHiss(samples: Int16Array): void {
  for (let at = 0; at < samples.length; at++)
    samples[at] = (samples[at] as number) + ((at * 7_919) % 31) - 15;
}

function thinned<T>(items: readonly T[], share: number): T[] {
  return items.filter((_, index) => Math.floor(index * share) !== Math.floor((index + 1) * share));
}

function toMs(samples: number): number {
  return Math.round((samples * 1000) / LINE_RATE_HZ);
}
