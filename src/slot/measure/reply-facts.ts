import type { WaitStage } from '../../contracts/call-measures.ts';

/**
 * What is known of one reply on its way to the caller's ear, in monotonic milliseconds, and whose turn it is to act at
 * any moment of it. Null stands for what has not happened yet.
 */
export interface ReplyFacts {
  readonly reply: number;
  /** What it answers; null where the bot speaks by itself. */
  turn: AnsweredTurn | null;
  /** From here on the caller waits for it; infinite while it is only prepared. */
  owedFromMs: number;
  llm: { askedMs: number; firstTokenMs: number | null; endedMs: number | null }[];
  tools: { id: string; fromMs: number; endedMs: number | null }[];
  clauses: ClauseFacts[];
  firstSoundMs: number | null;
  endedMs: number | null;
}

export interface AnsweredTurn {
  turn: number;
  lastSample: number;
  /** The caller's last sound, and when the packet with it was here. */
  lastSpeechMs: number;
  arrivedMs: number;
  /** It was decided that the turn is over, and its text was there. */
  decidedMs: number;
  textMs: number;
}

export interface ClauseFacts {
  readonly unit: number;
  /** To the voice, its first audio, its last. */
  givenMs: number;
  firstByteMs: number | null;
  doneMs: number | null;
  /** The first frame left, and was heard. */
  sentMs: number | null;
  heardMs: number | null;
}

export function newReplyFacts(reply: number): ReplyFacts {
  return {
    reply,
    turn: null,
    owedFromMs: Number.POSITIVE_INFINITY,
    llm: [],
    tools: [],
    clauses: [],
    firstSoundMs: null,
    endedMs: null,
  };
}

/**
 * Who has to act at a moment for this reply to sound, or null where it owes nothing: before it is owed, after its end,
 * and once all of it has been heard. The moment must be a silent one; what sounds is the caller's business.
 */
export function stageAt(facts: ReplyFacts, atMs: number): WaitStage | null {
  if (atMs < facts.owedFromMs || atMs >= (facts.endedMs ?? Number.POSITIVE_INFINITY)) return null;
  const { turn } = facts;
  if (turn && atMs < turn.arrivedMs) return 'carrier';
  if (turn && atMs < turn.decidedMs) return 'turn_wait';
  if (turn && atMs < turn.textMs) return 'stt';
  for (const clause of facts.clauses) {
    const stage = clauseStage(clause, atMs);
    if (stage) return stage;
  }
  if (facts.tools.some((tool) => tool.fromMs <= atMs && isBefore(atMs, tool.endedMs))) return 'tool';
  const request = facts.llm.findLast((one) => one.askedMs <= atMs && isBefore(atMs, one.endedMs));
  if (request) return isBefore(atMs, request.firstTokenMs) ? 'llm' : 'clause';
  // Between two steps, or before the first: the model is about to be asked.
  const isToContinue =
    facts.llm.some((one) => one.askedMs > atMs) ||
    facts.tools.some((one) => one.fromMs > atMs) ||
    facts.clauses.some((one) => one.givenMs > atMs);
  return isToContinue || isBefore(atMs, facts.firstSoundMs) ? 'llm' : null;
}

/** Moments at which the stage may change. */
export function stageEdges(facts: ReplyFacts): number[] {
  const { turn } = facts;
  return [
    facts.owedFromMs,
    facts.endedMs,
    facts.firstSoundMs,
    ...(turn ? [turn.arrivedMs, turn.decidedMs, turn.textMs] : []),
    ...facts.llm.flatMap((one) => [one.askedMs, one.firstTokenMs, one.endedMs]),
    ...facts.tools.flatMap((one) => [one.fromMs, one.endedMs]),
    ...facts.clauses.flatMap((one) => [one.givenMs, one.firstByteMs, one.sentMs, one.heardMs, one.doneMs]),
  ].filter((edge) => edge !== null);
}

/** A clause that is not on its way yet, or has been heard as far as there is any of it, holds nothing up. */
function clauseStage(clause: ClauseFacts, atMs: number): WaitStage | null {
  if (atMs < clause.givenMs) return null;
  if (isBefore(atMs, clause.firstByteMs)) return isBefore(atMs, clause.doneMs) ? 'tts' : null;
  if (isBefore(atMs, clause.sentMs)) return 'pacing';
  if (isBefore(atMs, clause.heardMs)) return 'playout';
  // It is being heard; where it is silent meanwhile, the voice is slower than its own speech.
  return isBefore(atMs, clause.doneMs) ? 'tts' : null;
}

/** Whether something that may not have happened was still to come at a moment. */
function isBefore(atMs: number, happenedMs: number | null): boolean {
  return happenedMs === null || atMs < happenedMs;
}
