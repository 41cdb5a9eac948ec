import { monotonicMs } from '../../../platform/clock.ts';
import { readLists } from '../../../platform/text-table.ts';

/**
 * Streamed text into clauses for speech (RT-38): a clause ends at sentence punctuation, at a comma once it is long
 * enough to sound right, or at a length that no voice should be made to wait for. The first clause is shorter, because
 * the caller waits for it. Time ends clauses too: ask `dueAtMs` when, and `flushDue` then.
 *
 * Every decision is taken from the text before it and a bounded look ahead, so that the same text gives the same
 * clauses however it was cut into pushes. Only time may change that.
 */
const MIN_FIRST_CLAUSE_WORDS = 3;
const MIN_CLAUSE_CHARS = 40;
/** Without punctuation a first clause is cut at a word after this much, some six seconds of speech. */
const MAX_FIRST_CLAUSE_CHARS = 90;
const MAX_CLAUSE_CHARS = 240;
/** The first clause may go without its comma after this long (RT-38). */
const FIRST_CLAUSE_WAIT_MS = 250;
/** A model that sends nothing for this long has stalled: what is there is spoken (RT-38). */
const STALL_MS = 350;

const HARD_END = /[.!?।॥…؟。！？۔]/;
/** These end a sentence even with no space behind them; the full stop of "3.5" or of a site name does not. */
const ENDS_WITHOUT_SPACE = /[।॥。！？۔]/;
const SOFT_END = /[,;:،、，—–]/;
const CLOSER = /["'”’»)\]।॥.!?…。！？]/;
const SPACE = /\s/;
/** Words before which a breath sounds natural; a first clause without a comma is cut before one. */
const CONNECTIVE =
  /^(?:and|but|or|so|because|that|which|who|if|when|while|to|for|with|और|लेकिन|मगर|कि|तो|क्योंकि|या|आणि|पण|এবং|কিন্তু|અને|પણ)$/iu;
/** A word that belongs to the one behind it: an amount, a title, a number with its unit. */
const LEANS_ON_NEXT = /(?:\d|[₹$€£#]|(?:^|\s)(?:rs|inr|usd|no|dr|mr|mrs|ms|रु|डॉ)\.?)$/iu;

export class ClauseSplitter {
  private pending = '';
  private scanned = 0;
  private lastSpace = 0;
  private words = 0;
  private isFirst = true;
  private firstTextMs: number | null = null;
  private lastTextMs = 0;

  /** Adds streamed text; returns the clauses that are complete now. `nowMs` is on the monotonic clock. */
  push(text: string, nowMs: number = monotonicMs()): string[] {
    if (text === '') return [];
    this.pending += text;
    this.firstTextMs ??= nowMs;
    this.lastTextMs = nowMs;
    const clauses: string[] = [];
    for (let end = this.findEnd(); end > 0; end = this.findEnd()) this.take(end, clauses);
    return clauses;
  }

  /** When `flushDue` could have something to give; null while nothing waits. */
  dueAtMs(): number | null {
    if (this.firstTextMs === null || this.pending.trim() === '') return null;
    const stallMs = this.lastTextMs + STALL_MS;
    const firstMs = this.firstTextMs + FIRST_CLAUSE_WAIT_MS;
    return this.isFirst && this.lastTextMs < firstMs ? Math.min(firstMs, stallMs) : stallMs;
  }

  /** What must not wait any longer: a first clause after 250 ms, everything after a stall of 350 ms. Whole words only. */
  flushDue(nowMs: number): string[] {
    if (this.firstTextMs === null) return [];
    const hasStalled = nowMs - this.lastTextMs >= STALL_MS;
    const isLate = this.isFirst && nowMs - this.firstTextMs >= FIRST_CLAUSE_WAIT_MS;
    if (!hasStalled && !isLate) return [];
    const clauses: string[] = [];
    const end = hasStalled ? endOfWholeWords(this.pending) : endOfEarlyClause(this.pending);
    if (end > 0) this.take(end, clauses);
    // What is left is a part of a word or of an amount: asked again one stall later, not at once.
    else if (hasStalled) this.lastTextMs = nowMs;
    return clauses;
  }

  /** The rest, once the stream has ended. */
  flush(): string[] {
    const clauses: string[] = [];
    // The end of the text is as good as a space: what was waiting for a look ahead is decided now.
    this.pending += ' ';
    for (let end = this.findEnd(); end > 0; end = this.findEnd()) this.take(end, clauses);
    this.take(this.pending.length, clauses);
    this.isFirst = true;
    this.firstTextMs = null;
    return clauses;
  }

  private take(end: number, clauses: string[]): void {
    const clause = this.pending.slice(0, end).trim();
    this.pending = this.pending.slice(end);
    this.scanned = 0;
    this.lastSpace = 0;
    this.words = 0;
    if (clause === '') return;
    clauses.push(clause);
    this.isFirst = false;
  }

  /** Where the first clause of the pending text ends; 0 while that cannot be said yet. */
  private findEnd(): number {
    const text = this.pending;
    const limit = this.isFirst ? MAX_FIRST_CLAUSE_CHARS : MAX_CLAUSE_CHARS;
    for (; this.scanned < text.length; this.scanned++) {
      const at = this.scanned;
      const char = text.charAt(at);
      if (at >= limit) return this.lastSpace > 0 ? this.lastSpace : wholeCharacters(text, limit);
      if (SPACE.test(char)) {
        if (at > 0 && !SPACE.test(text.charAt(at - 1))) this.words += 1;
        if (char === '\n' && text.slice(0, at).trim() !== '') return at + 1;
        this.lastSpace = at + 1;
        continue;
      }
      if (HARD_END.test(char)) {
        const end = endOfSentence(text, at);
        if (end === null) return 0;
        if (end > 0 && end <= limit) return end;
      } else if (SOFT_END.test(char)) {
        if (at + 1 >= text.length) return 0;
        if (SPACE.test(text.charAt(at + 1)) && this.isLongEnough(at)) return at + 2;
      }
    }
    return 0;
  }

  private isLongEnough(at: number): boolean {
    return this.isFirst ? this.words + 1 >= MIN_FIRST_CLAUSE_WORDS : at + 1 >= MIN_CLAUSE_CHARS;
  }
}

/** Where the sentence ends whose punctuation stands at `at`: 0 if this is no end, null if more text must tell. */
function endOfSentence(text: string, at: number): number | null {
  let end = at + 1;
  while (end < text.length && CLOSER.test(text.charAt(end))) end++;
  if (end >= text.length) return null;
  const isSpaced = SPACE.test(text.charAt(end));
  if (!isSpaced) return ENDS_WITHOUT_SPACE.test(text.slice(at, end)) ? end : 0;
  if (text.charAt(at) !== '.' || end > at + 1) return end + 1;
  const isEnd = isFullStopAnEnd(text, at);
  return isEnd === null ? null : isEnd ? end + 1 : 0;
}

/** The end of the whole words of a text whose last word may still grow. */
function endOfWholeWords(text: string): number {
  const trimmed = text.trimEnd();
  const isWhole = trimmed.length < text.length || /[^\d\s][,;:.!?।॥…]["'”’)\]]*$/.test(trimmed);
  const end = isWhole ? trimmed.length : trimmed.search(/\s\S*$/);
  return end <= 0 ? 0 : withoutLeaning(text, end);
}

/** An early first clause: to its last comma, else before its last connective, else to its last word. */
function endOfEarlyClause(text: string): number {
  let comma = 0;
  for (let at = 0; at < text.length - 1; at++) {
    if (SOFT_END.test(text.charAt(at)) && SPACE.test(text.charAt(at + 1))) comma = at + 1;
  }
  if (comma > 0) return comma;
  const end = endOfWholeWords(text);
  const words = text.slice(0, end).split(/\s+/).filter(Boolean);
  if (words.length < MIN_FIRST_CLAUSE_WORDS) return 0;
  for (let cut = words.length - 1; cut >= MIN_FIRST_CLAUSE_WORDS; cut--) {
    if (!CONNECTIVE.test(words[cut] ?? '')) continue;
    const start = startOfWord(text, cut);
    return withoutLeaning(text, start);
  }
  return end;
}

function startOfWord(text: string, index: number): number {
  const gap = /\S+\s*/g;
  let start = text.length - text.trimStart().length;
  for (let word = 0; word < index; word++) {
    gap.lastIndex = start;
    const match = gap.exec(text);
    if (!match) break;
    start = match.index + match[0].length;
  }
  return start;
}

/** Takes words from the end that belong to the next one, so that no amount is torn from its currency or scale. */
function withoutLeaning(text: string, from: number): number {
  let end = from;
  // An amount, its currency and a title are a handful of words; the bound keeps a wall of digits cheap.
  for (let round = 0; round < 8; round++) {
    const head = text.slice(0, end).trimEnd();
    if (head === '' || !LEANS_ON_NEXT.test(head.slice(-12))) return head === '' ? 0 : end;
    end = head.search(/\s\S*$/);
    if (end <= 0) return 0;
  }
  return 0;
}

/** A cut that parts neither the two halves of a character nor a letter from its vowel signs. */
function wholeCharacters(text: string, limit: number): number {
  let end = limit;
  while (end > 1 && limit - end < 8 && /\p{M}|\p{Cf}|[\udc00-\udfff]/u.test(text.charAt(end))) end--;
  return end;
}

const SHORT_FORMS = readLists(import.meta.url, 'short-forms.txt');
/** Full stops that end no sentence. */
const NEVER_AN_END = new Set(SHORT_FORMS.get('never an end'));
/** Ends of a sentence only where a new one visibly begins behind them. */
const PERHAPS_AN_END = new Set(SHORT_FORMS.get('perhaps an end'));
const TIME_ZONES = new Set(SHORT_FORMS.get('time zones'));
/** Longer than any word of the lists. */
const LOOK_BACK_CHARS = 8;
/** Spaces between a full stop and what follows; more than this many count as a new sentence. */
const LOOK_AHEAD_CHARS = 8;

/** Whether the full stop at `at`, with a space behind it, ends a sentence; null while the next word must tell. */
function isFullStopAnEnd(text: string, at: number): boolean | null {
  const before = text.slice(Math.max(0, at - LOOK_BACK_CHARS), at);
  const word = /[\p{L}\p{M}][\p{L}\p{M}.]*$/u.exec(before)?.[0] ?? '';
  const lower = word.toLowerCase();
  if (NEVER_AN_END.has(lower)) return false;
  // An initial, as in "A. K. Rao"; "I" is a word.
  if (/^[A-HJ-Z]$/.test(word)) return false;
  // "1. Pay now": the number of a list stands alone.
  if (/^\s*\d{1,2}$/.test(text.slice(0, at))) return false;
  if (lower !== 'no' && !PERHAPS_AN_END.has(lower)) return true;
  const next = text.slice(at + 1, at + 1 + LOOK_AHEAD_CHARS).trimStart();
  if (next === '') return text.length > at + LOOK_AHEAD_CHARS ? true : null;
  if (lower === 'no') return !/^[\d#]/.test(next);
  // "3 p.m. IST": a time zone begins no sentence, and it is not known before it has ended.
  if (/^[A-Z]{1,5}$/.test(next) && text.length <= at + 1 + LOOK_AHEAD_CHARS) return null;
  if (TIME_ZONES.has(/^[A-Z]{2,5}(?![\p{L}\p{M}])/u.exec(next)?.[0] ?? '')) return false;
  return /^[\p{Lu}\p{Lo}"'“‘]/u.test(next);
}
