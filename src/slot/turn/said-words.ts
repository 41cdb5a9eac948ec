import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { normalised } from './interruption-meaning.ts';
import { isSameWord } from './word-likeness.ts';

/** A clause as it was written, and as the voice was given it. */
export interface SaidClause {
  id: number;
  text: string;
  spoken: string;
}

/** An echo comes back no later than this after the bot was heard: the longest line, and the bounds of speech. */
const ECHO_TAIL_SAMPLES = 1.6 * LINE_RATE_HZ;
/** Clauses that are remembered; more are never heard within the reach of an echo. */
const MAX_CLAUSES = 24;
/** Words of a transcript that are looked at, and of the bot: a sentence or two each. */
const MAX_HEARD_WORDS = 40;
const MAX_SAID_WORDS = 240;
/** Of so few words none may be misheard; of more, some. */
const EXACT_WORDS = 2;
const MISHEARD_SHARE = 0.5;
/** A word of the bot that an engine left out says less than one that the bot did not say. */
const LEFT_OUT_COST = 0.5;

/**
 * What the bot has just said, as far as an echo can still bring it back. Whether words that an engine heard are the
 * bot's is told here; whether they sound like it, in echo-gate.ts (RT-18).
 */
export class SaidWords {
  private readonly clauses: {
    id: number;
    texts: readonly string[][];
    fromSample: number;
    untilSample: number;
  }[] = [];

  /** Audio of a clause is heard between two samples of the line clock. */
  heard(clause: SaidClause, fromSample: number, untilSample: number): void {
    const last = this.clauses.at(-1);
    if (last?.id === clause.id) {
      last.untilSample = Math.max(last.untilSample, untilSample);
      return;
    }
    const texts = [wordsOf(clause.text), wordsOf(clause.spoken)];
    this.clauses.push({ id: clause.id, texts, fromSample, untilSample });
    if (this.clauses.length > MAX_CLAUSES) this.clauses.shift();
  }

  /** Whether words that were heard between two samples are a part of what the bot said just before, or meanwhile. */
  holds(text: string, fromSample: number, toSample: number): boolean {
    const heard = wordsOf(text).slice(-MAX_HEARD_WORDS);
    if (heard.length === 0) return false;
    const recent = this.clauses.filter(
      (clause) => clause.untilSample >= fromSample - ECHO_TAIL_SAMPLES && clause.fromSample <= toSample,
    );
    return [0, 1].some((kind) => {
      const said = recent.flatMap(({ texts }) => texts[kind] ?? []).slice(-MAX_SAID_WORDS);
      return isPartOf(heard, said);
    });
  }
}

function isPartOf(heard: readonly string[], said: readonly string[]): boolean {
  if (heard.length === 1) return said.includes(heard[0] as string);
  const most = heard.length > EXACT_WORDS ? heard.length * MISHEARD_SHARE : LEFT_OUT_COST;
  return misheard(heard, said) <= most;
}

/**
 * How much must have been misheard, left out or put in, were the words heard a stretch of those said: the distance of
 * edits with a free beginning and end.
 */
function misheard(heard: readonly string[], said: readonly string[]): number {
  const isExact = heard.length <= EXACT_WORDS;
  let above = new Array<number>(said.length + 1).fill(0);
  for (const [row, word] of heard.entries()) {
    const costs = [row + 1];
    const isLast = row === heard.length - 1;
    for (const [column, other] of said.entries()) {
      const isSame = word === other || (!isExact && isSameWord(word, other, isLast));
      const same = (above[column] ?? 0) + (isSame ? 0 : 1);
      costs.push(Math.min(same, (above[column + 1] ?? 0) + 1, (costs[column] ?? 0) + LEFT_OUT_COST));
    }
    above = costs;
  }
  return Math.min(...above);
}

function wordsOf(text: string): string[] {
  const plain = normalised(text);
  return plain === '' ? [] : plain.split(' ');
}
