/**
 * Streamed text into clauses for speech: a clause ends at sentence punctuation, at a comma once it is long enough to
 * sound right, or at a length that no voice should be made to wait for. The first clause ends earlier, because the
 * caller waits for it.
 */
const MIN_FIRST_CLAUSE_CHARS = 12;
const MIN_CLAUSE_CHARS = 40;
const MAX_CLAUSE_CHARS = 240;
/** Latin and Devanagari sentence ends. A full stop inside a number ("3.5") has no space behind it and does not count. */
const SENTENCE_END = /[.!?।…]["')\]]*\s/g;
const SOFT_END = /[,;:]\s/g;

export class ClauseSplitter {
  private pending = '';
  private isFirst = true;

  /** Adds streamed text; returns the clauses that are complete now. */
  push(text: string): string[] {
    this.pending += text;
    const clauses: string[] = [];
    for (let end = this.findEnd(); end > 0; end = this.findEnd()) {
      const clause = this.pending.slice(0, end).trim();
      this.pending = this.pending.slice(end);
      if (clause !== '') {
        clauses.push(clause);
        this.isFirst = false;
      }
    }
    return clauses;
  }

  /** The rest, once the stream has ended. */
  flush(): string[] {
    const clause = this.pending.trim();
    this.pending = '';
    this.isFirst = true;
    return clause === '' ? [] : [clause];
  }

  private findEnd(): number {
    const hard = endOfFirst(SENTENCE_END, this.pending, 2);
    if (hard > 0 && hard <= MAX_CLAUSE_CHARS) return hard;
    const soft = endOfFirst(SOFT_END, this.pending, this.isFirst ? MIN_FIRST_CLAUSE_CHARS : MIN_CLAUSE_CHARS);
    if (soft > 0 && soft <= MAX_CLAUSE_CHARS) return soft;
    if (this.pending.length <= MAX_CLAUSE_CHARS) return 0;
    const lastSpace = this.pending.lastIndexOf(' ', MAX_CLAUSE_CHARS);
    return lastSpace > 0 ? lastSpace + 1 : MAX_CLAUSE_CHARS;
  }
}

/** Where the first match that leaves at least `minChars` before it ends; 0 where there is none. */
function endOfFirst(pattern: RegExp, text: string, minChars: number): number {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    if (end >= minChars) return end;
  }
  return 0;
}
