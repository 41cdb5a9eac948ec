import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { msOf } from '../../slot/turn/turn-rules.ts';
import type { Replay, ReplayedTurn } from './replay-turns.ts';

/** What other settings would have changed in a call. */
export interface TurnComparison {
  before: TurnSummary;
  after: TurnSummary;
  /** Turn ends that cut the caller off before and do not any more. */
  cutInsAvoided: number;
  cutInsAdded: number;
  /** Mean difference of the wait over the turns that end at the same word in both; null where there is none. */
  addedWaitMs: number | null;
  sameEnds: number;
}

export interface TurnSummary {
  turns: number;
  /** Turn ends after which the caller went on with the same sentence. */
  cutIns: number;
  /** From the caller's last word to the decision. */
  waitMsMedian: number | null;
  /** Times the bot was paused, and times it was cut, because of speech over it. */
  held: number;
  cut: number;
}

/** A caller who speaks again this soon after their last word had not finished. */
const SAME_SENTENCE_SAMPLES = 1.5 * LINE_RATE_HZ;
/** A bot that was heard for longer than this in between has been answered, and not talked over. */
const ANSWERED_SAMPLES = 1 * LINE_RATE_HZ;
/** Ends this near to each other are the same end: the segmenter may place them a window apart. */
const SAME_END_SAMPLES = 0.1 * LINE_RATE_HZ;

/** Lays two replays of one recording side by side. */
export function compareTurns(before: Replay, after: Replay): TurnComparison {
  const cutBefore = before.turns.filter((turn) => isCutIn(turn, before));
  const cutAfter = after.turns.filter((turn) => isCutIn(turn, after));
  const pairs = before.turns.flatMap((turn) => {
    const same = after.turns.find((other) => sameEnd(turn, other));
    return same ? [waitOf(same) - waitOf(turn)] : [];
  });
  return {
    before: summaryOf(before, cutBefore.length),
    after: summaryOf(after, cutAfter.length),
    cutInsAvoided: cutBefore.filter((turn) => !cutAfter.some((other) => sameEnd(turn, other))).length,
    cutInsAdded: cutAfter.filter((turn) => !cutBefore.some((other) => sameEnd(turn, other))).length,
    addedWaitMs:
      pairs.length === 0 ? null : Math.round(pairs.reduce((sum, ms) => sum + ms, 0) / pairs.length),
    sameEnds: pairs.length,
  };
}

/** Whether a turn was called over although the caller went on. */
export function isCutIn(turn: ReplayedTurn, replay: Replay): boolean {
  const next = replay.speech.find((span) => span.from > turn.to);
  if (!next || next.from - turn.to > SAME_SENTENCE_SAMPLES || next.from < turn.decidedAt) return false;
  const botSamples = replay.botSpans.reduce(
    (sum, span) => sum + Math.max(0, Math.min(span.to, next.from) - Math.max(span.from, turn.to)),
    0,
  );
  return botSamples < ANSWERED_SAMPLES;
}

export function waitOf(turn: ReplayedTurn): number {
  return msOf(turn.decidedAt - turn.to);
}

function summaryOf(replay: Replay, cutIns: number): TurnSummary {
  const waits = replay.turns.map(waitOf).sort((one, other) => one - other);
  return {
    turns: replay.turns.length,
    cutIns,
    waitMsMedian: waits[Math.floor(waits.length / 2)] ?? null,
    held: replay.overlaps.filter((overlap) => overlap.heldAt !== null).length,
    cut: replay.overlaps.filter((overlap) => overlap.cutAt !== null).length,
  };
}

function sameEnd(one: ReplayedTurn, other: ReplayedTurn): boolean {
  return Math.abs(one.to - other.to) <= SAME_END_SAMPLES;
}
