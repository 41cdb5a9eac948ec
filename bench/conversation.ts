import { TurnLab } from '../src/cli/turnlab/turn-lab.ts';
import { projectPath } from '../src/platform/project-paths.ts';
import {
  JUDGES,
  type Judge,
  type JudgedInterruptions,
  type JudgedSet,
  judgeInterruptions,
  judgeTurns,
  PROVIDERS_MS,
  QUICK_PROVIDERS_MS,
} from './conversation-lab.ts';
import {
  CONVERSATION_BOT,
  measureOnWire,
  type Percentiles,
  type WireFigures,
  type WirePlan,
} from './conversation-wire.ts';
import { BenchFleet } from './fleet-run.ts';
import { describeRate, mostPerHour } from './rates.ts';

/** How good the conversation is: what callers feel on the wire, and how turns are judged on labelled material. */
export interface ConversationPlan extends WirePlan {
  /** Share of the labelled set. */
  share: number;
  noiseMinutes: number;
}

export interface ConversationFigures {
  wires: WireFigures[];
  turns: Record<Judge, JudgedSet>;
  overlaps: JudgedInterruptions;
  goals: Goal[];
}

/** A goal and whether it was met; the times belong to the machine, so that a miss is printed and fails nothing. */
export interface Goal {
  what: string;
  limit: number;
  found: number | null;
  met: boolean;
}

/** The text of a turn comes at once: the later it does, the less of what was decided too early is heard. */
const TEXT_MS = 0;

const JUDGE_NAMES: Record<Judge, string> = {
  acoustics: 'the turn model',
  words: 'the words alone',
  both: 'the turn model and the words',
  silence: 'silence alone',
};

/** Runs both halves. `onFleet` gets the fleet as soon as it runs, because its processes outlive a broken-off bench. */
export async function benchConversation(
  plan: ConversationPlan,
  say: (sentence: string) => void,
  onFleet: (fleet: BenchFleet) => void = () => undefined,
): Promise<ConversationFigures> {
  say(`calls over the wire: ${plan.calls} on each, ${plan.atOnce} at once`);
  const fleet = await BenchFleet.start(plan.atOnce + 1, CONVERSATION_BOT);
  onFleet(fleet);
  const wires: WireFigures[] = [];
  try {
    for (const wire of ['json', 'partner'] as const) wires.push(await measureOnWire(fleet, wire, plan));
  } finally {
    await fleet.stop();
  }
  say('labelled turns through voice activity, turn model and turn machine');
  const lab = await TurnLab.open(process.env.MODEL_DIR ?? projectPath('models'), { turnModel: true });
  try {
    const turns = await judgeTurns(lab, plan.share, TEXT_MS);
    say(`${plan.noiseMinutes} minutes of noise, real interruptions and signs of listening over the bot`);
    const overlaps = await judgeInterruptions(lab, plan);
    return { wires, turns, overlaps, goals: goalsOf(wires, turns, overlaps) };
  } finally {
    await lab.close();
  }
}

function goalsOf(
  wires: readonly WireFigures[],
  turns: Record<Judge, JudgedSet>,
  overlaps: JudgedInterruptions,
): Goal[] {
  const atMost = (what: string, limit: number, found: number | null | undefined): Goal => ({
    what,
    limit,
    found: found ?? null,
    met: found !== null && found !== undefined && found <= limit,
  });
  const [json, partner] = [
    wires.find(({ wire }) => wire === 'json'),
    wires.find(({ wire }) => wire === 'partner'),
  ];
  const { acoustics, both } = turns;
  const slower = (both.wholeWaitMsP50 ?? Number.NaN) - (acoustics.wholeWaitMsP50 ?? Number.NaN);
  const percent = (share: number | null | undefined) => (share == null ? null : share * 100);
  return [
    atMost('opening audio after the answer, p95 ms', 250, json?.openingMs.p95),
    atMost('reply gap, our share, p50 ms', 300, json?.modelGapMs.p50),
    atMost('reply gap, our share, p95 ms', 450, json?.modelGapMs.p95),
    atMost('onset to silence, p95 ms', 350, json?.onsetToPauseMs.p95),
    atMost('decision to last frame, max ms', 20, json?.decisionToLastFrameMs.max),
    atMost('decision to last frame on the partner stream, max ms', 60, partner?.decisionToLastFrameMs.max),
    atMost('premature turn ends by model and words, %', 3, percent(both.natural.share)),
    atMost('the same with a pause spliced into the sentence, %', 3, percent(both.spliced.share)),
    atMost(`of these, heard with providers of ${PROVIDERS_MS} ms, %`, 8, percent(both.heardSpliced.share)),
    atMost('whole sentences slower by the words, p50 ms', 20, slower),
    atMost('false barge-ins per hour of noise', 1, overlaps.noiseCuts / overlaps.noiseHours),
  ];
}

/** The figures as lines for people. */
export function describeConversation(figures: ConversationFigures): string[] {
  const lines = ['', 'conversation, providers that take no time'];
  for (const wire of figures.wires) {
    lines.push(
      `${wire.wire} wire, ${wire.calls} calls`,
      row('answer to opening ms', spread(wire.openingMs)),
      row('end of speech to reply ms', `${spread(wire.replyGapMs)}, ${wire.unanswered} unanswered`),
      ...(wire.modelGapMs.n > 0 ? [row('  ended by the turn model', spread(wire.modelGapMs))] : []),
      row('onset to pause ms', `${spread(wire.onsetToPauseMs)}, ${wire.missedBargeIns} missed`),
      row('decision to last frame ms', spread(wire.decisionToLastFrameMs)),
    );
  }
  for (const judge of JUDGES) {
    const set = figures.turns[judge];
    lines.push(
      `turn ends by ${JUDGE_NAMES[judge]}, labelled by construction`,
      row('premature', describeRate(set.natural)),
      row('  human clips', describeRate(set.naturalHuman)),
      row('premature, pause spliced in', describeRate(set.spliced)),
      ...set.splicedByPause.map(({ pauseMs, rate }) => row(`  of ${pauseMs} ms`, describeRate(rate))),
      row(
        'of all, heard by the caller',
        `${describeRate(set.heard)} if model and voice take ${PROVIDERS_MS} ms`,
      ),
      row('  of those with a pause', describeRate(set.heardSpliced)),
      row(`  in ${QUICK_PROVIDERS_MS} ms`, describeRate(set.heardSplicedSooner)),
      row('late (over 1.2 s)', describeRate(set.late)),
      row('wait after last word ms', `p50 ${set.waitMsP50 ?? '-'}, p95 ${set.waitMsP95 ?? '-'}`),
      row('  whole sentences', `p50 ${set.wholeWaitMsP50 ?? '-'}, p95 ${set.wholeWaitMsP95 ?? '-'}`),
    );
  }
  const { overlaps } = figures;
  lines.push(
    'speech over the bot, by its length alone (words are not known here)',
    row('interruptions missed', describeRate(overlaps.missed)),
    row(
      'onset to pause ms',
      `p50 ${overlaps.onsetToHoldMsP50 ?? '-'}, p95 ${overlaps.onsetToHoldMsP95 ?? '-'}`,
    ),
    row('onset to cut ms', `p50 ${overlaps.onsetToCutMsP50 ?? '-'}`),
    row('backchannels that pause', describeRate(overlaps.backchannelsHeld)),
    row('backchannels that cut', describeRate(overlaps.backchannelsCut)),
    row(
      'noise',
      `${overlaps.noiseHolds} pauses and ${overlaps.noiseCuts} cuts in ${overlaps.noiseHours.toFixed(2)} h, at most ${mostPerHour(overlaps.noiseCuts, overlaps.noiseHours).toFixed(1)} cuts per hour at 95 %`,
    ),
    'goals',
    ...figures.goals.map(({ what, limit, found, met }) =>
      row(
        met ? 'met' : 'MISSED',
        `${what}: ${found === null ? 'none' : Math.round(found * 10) / 10}, goal ${limit}`,
      ),
    ),
  );
  return lines;
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(28)}${text}`;
}

function spread(values: Percentiles): string {
  return values.n === 0 ? 'none' : `p50 ${values.p50}, p95 ${values.p95}, max ${values.max} (n ${values.n})`;
}
