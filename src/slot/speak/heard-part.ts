import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { WordTiming } from '../../providers/contract/text-to-speech.ts';

/** How far a clause was heard, from how long it was heard (RT-42). */
export interface ClauseAudio {
  /** As it was written. */
  text: string;
  /** As the voice was given it. */
  spoken: string;
  /** Of the voice, in milliseconds from the first sample; empty where it gives none. */
  words: readonly WordTiming[];
  /** All of its audio, or what it will come to. */
  totalSamples: number;
}

/**
 * The whole words of the written text within the first `heardSamples` of its audio. By the voice's timings as far as
 * they reach, beyond them in proportion to the characters, which is an estimate.
 */
export function heardPart(
  clause: ClauseAudio,
  heardSamples: number,
): { text: string; evidence: 'words' | 'estimate' | 'none' } {
  const { text, spoken, totalSamples } = clause;
  if (heardSamples <= 0 || totalSamples <= 0) return { text: '', evidence: 'none' };
  if (heardSamples >= totalSamples) return { text, evidence: 'estimate' };
  const heardMs = (heardSamples * 1000) / LINE_RATE_HZ;
  const totalMs = (totalSamples * 1000) / LINE_RATE_HZ;
  const timed = timedChars(spoken, clause.words, heardMs);
  const restShare = (heardMs - timed.untilMs) / Math.max(1, totalMs - timed.untilMs);
  const chars = timed.isExact
    ? timed.chars
    : timed.chars + Math.max(0, restShare) * (spoken.length - timed.chars);
  const written = heardOriginalChars(text, spoken, Math.floor(chars));
  const heard = cutAtWord(text, pastPunctuation(text, written) / text.length);
  if (heard === '') return { text: '', evidence: 'none' };
  return { text: heard, evidence: timed.isExact ? 'words' : 'estimate' };
}

/** The whole words within the first `fraction` of a text; characters stand for time. */
export function cutAtWord(text: string, fraction: number): string {
  if (fraction >= 1) return text;
  const limit = Math.floor(text.length * fraction + 1e-6);
  if (limit <= 0) return '';
  if (/\s/.test(text.charAt(limit))) return text.slice(0, limit).trimEnd();
  const lastSpace = text.slice(0, limit).search(/\s\S*$/);
  return lastSpace === -1 ? '' : text.slice(0, lastSpace).trimEnd();
}

/** How many characters the words that have ended make up; exact while a later word is known to have not ended. */
function timedChars(
  spoken: string,
  words: readonly WordTiming[],
  heardMs: number,
): { chars: number; untilMs: number; isExact: boolean } {
  const folded = spoken.toLowerCase();
  let chars = 0;
  let untilMs = 0;
  for (const word of words) {
    if (word.endMs > heardMs) return { chars, untilMs, isExact: true };
    const wanted = word.text.trim().toLowerCase();
    const at = wanted === '' ? -1 : folded.indexOf(wanted, chars);
    // A voice that times something else than it was given is followed where it comes back to the text.
    if (at === -1 || at > chars + MAX_LEAP_CHARS) continue;
    chars = at + wanted.length;
    untilMs = word.endMs;
  }
  return { chars, untilMs, isExact: false };
}

/** Further ahead the same letters are another word. */
const MAX_LEAP_CHARS = 40;

/** A comma belongs to the word before it. */
function pastPunctuation(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[^\s\p{L}\p{M}\p{N}]/u.test(text.charAt(at))) at++;
  return at;
}

/**
 * From what was spoken back to what was written: how many characters of `text` the first `heardChars` of its `spoken`
 * form stand for. Words that are the same on both sides anchor the two; between anchors the share is proportional.
 * The ledger cuts there (RT-17), so the transcript shows "₹1,50,000" where the caller heard "one lakh fifty thousand".
 */
export function heardOriginalChars(text: string, spoken: string, heardChars: number): number {
  if (heardChars <= 0) return 0;
  if (heardChars >= spoken.length) return text.length;
  if (text === spoken) return heardChars;
  let from: Anchor = { written: 0, said: 0 };
  for (const anchor of anchors(text, spoken)) {
    if (anchor.said > heardChars) return between(from, anchor, heardChars);
    from = anchor;
  }
  return between(from, { written: text.length, said: spoken.length }, heardChars);
}

interface Anchor {
  written: number;
  said: number;
}

/** An anchor is looked for this many words ahead; a number of any length is shorter in words. */
const MAX_WORDS_AHEAD = 40;

/** Beginnings and ends of the words that both texts have, in order. */
function anchors(text: string, spoken: string): Anchor[] {
  const said = wordsOf(spoken);
  const found: Anchor[] = [];
  let next = 0;
  for (const word of wordsOf(text)) {
    for (let ahead = next; ahead < Math.min(said.length, next + MAX_WORDS_AHEAD); ahead++) {
      const candidate = said[ahead];
      if (candidate?.word !== word.word) continue;
      found.push({ written: word.at, said: candidate.at });
      found.push({ written: word.at + word.word.length, said: candidate.at + word.word.length });
      next = ahead + 1;
      break;
    }
  }
  return found;
}

function wordsOf(text: string): Array<{ word: string; at: number }> {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].map((match) => ({ word: match[0], at: match.index }));
}

function between(from: Anchor, to: Anchor, heardChars: number): number {
  const span = to.said - from.said;
  const share = span === 0 ? 1 : (heardChars - from.said) / span;
  return Math.round(from.written + share * (to.written - from.written));
}
