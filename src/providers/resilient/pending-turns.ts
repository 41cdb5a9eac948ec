import type { SttFinal, SttResult } from '../contract/speech-to-text.ts';

/** Pieces of one turn that are kept apart; more are joined, so that a caller who never pauses costs no memory. */
const MAX_PIECES = 64;
/** A vendor's time stamps are this exact, in seconds; less than the shortest word. */
const STAMP_TOLERANCE_S = 0.05;

/** A stretch of the caller's audio whose text is asked for at its end. Positions are samples since the call began. */
export interface BookedTurn {
  readonly startAt: number;
  /** Null while it is open. */
  endAt: number | null;
  /** What sessions that are gone had settled of it. */
  carried: SttFinal[];
  /** The audio that `carried` stands for ends here. */
  settledAt: number;
  /** What the present session has settled of it. */
  fresh: SttFinal[];
}

/**
 * Which audio has become which text, across sessions that break: what is settled is not heard again, what is not
 * settled is, so that no word is lost and none is doubled.
 *
 * Only the first turn whose text is still out carries pieces over a break. Those of later turns are dropped with the
 * session, because the audio from the first on is heard again as a whole.
 */
export class PendingTurns {
  private readonly tolerance: number;
  private turns: BookedTurn[];

  constructor(sampleRate: number) {
    this.tolerance = Math.round(sampleRate * STAMP_TOLERANCE_S);
    this.turns = [freshTurn(0)];
  }

  /** Turns that ended and whose text is still out, oldest first. */
  get pending(): readonly BookedTurn[] {
    return this.turns.slice(0, -1);
  }

  get open(): BookedTurn {
    return this.turns.at(-1) as BookedTurn;
  }

  /** From here on the audio is needed again when the session breaks. */
  get neededFrom(): number {
    return (this.turns[0] as BookedTurn).settledAt;
  }

  /** The session will not change this piece any more; its `uptoSample` counts from the beginning of the call. */
  final(piece: SttFinal): void {
    const upto = piece.uptoSample;
    // Late news of a turn that is over.
    if (upto !== null && upto <= this.neededFrom) return;
    const turn =
      this.pending.find((past) => upto === null || upto <= (past.endAt ?? 0) + this.tolerance) ?? this.open;
    turn.fresh.push(piece);
    if (turn.fresh.length > MAX_PIECES) turn.fresh = [joinPieces(turn.fresh)];
  }

  /** Ends the open turn there and begins the next. */
  end(at: number): BookedTurn {
    const turn = this.open;
    turn.endAt = at;
    this.turns.push(freshTurn(at));
    return turn;
  }

  /** The text of an ended turn is out, or nobody wants it any more. */
  settle(turn: BookedTurn): void {
    this.turns = this.turns.filter((other) => other !== turn || other.endAt === null);
  }

  /** Forgets the open turn up to there. */
  discard(at: number): void {
    this.turns = [...this.pending, freshTurn(at)];
  }

  /** The session is gone: what it had settled in order and with a time stamp is kept. */
  broke(): void {
    const first = this.turns[0] as BookedTurn;
    for (const piece of first.fresh) {
      if (piece.uptoSample === null) break;
      first.carried.push(piece);
      first.settledAt = Math.max(first.settledAt, Math.min(piece.uptoSample, first.endAt ?? Infinity));
    }
    if (first.carried.length > MAX_PIECES) first.carried = [joinPieces(first.carried)];
    for (const turn of this.turns) turn.fresh = [];
  }

  /** The whole text of the first turn that is still out, given what the present session has of it. */
  textSoFar(text: string): string {
    return joinTexts([...(this.turns[0] as BookedTurn).carried.map((piece) => piece.text), text]);
  }

  /** The whole of a turn, given what the last session made of its rest. */
  result(turn: BookedTurn, rest: SttResult): SttResult {
    if (turn.carried.length === 0) return rest;
    const last: SttFinal = { ...rest, uptoSample: null };
    const whole = joinPieces([...turn.carried, last]);
    const { text, confidence } = whole;
    const language = rest.language ?? whole.language;
    return { text, confidence, ...(language === undefined ? {} : { language }) };
  }
}

function freshTurn(at: number): BookedTurn {
  return { startAt: at, endAt: null, carried: [], settledAt: at, fresh: [] };
}

/** Confidence is that of the words, however they were cut into pieces. */
function joinPieces(pieces: readonly SttFinal[]): SttFinal {
  let words = 0;
  let sum = 0;
  for (const { text, confidence } of pieces) {
    if (confidence === null) continue;
    const count = text.split(/\s+/).filter(Boolean).length;
    words += count;
    sum += confidence * count;
  }
  const language = pieces.findLast((piece) => piece.language)?.language;
  return {
    text: joinTexts(pieces.map((piece) => piece.text)),
    confidence: words === 0 ? null : sum / words,
    uptoSample: pieces.at(-1)?.uptoSample ?? null,
    ...(language === undefined ? {} : { language }),
  };
}

function joinTexts(texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter(Boolean)
    .join(' ');
}
