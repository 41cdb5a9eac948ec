import type { WordTiming } from '../contract/text-to-speech.ts';

/** The pace of a voice that has not been measured: some 14 characters a second. */
export const MS_PER_CHARACTER = 1000 / 14;
/** A timed word may stand this far behind the last one that was found: normalised numbers are spelt differently. */
const SEARCH_CHARACTERS = 60;

/**
 * What is left of a clause when its audio broke off after `givenMs`: from the first word that was not given whole.
 * The timings of the voice decide where it gave any that are found in the text, else its pace does. '' where nothing
 * is left.
 */
export function restOfText(
  text: string,
  givenMs: number,
  words: readonly WordTiming[],
  msPerCharacter: number,
): string {
  if (givenMs <= 0) return text.trim();
  const timed = afterTimedWords(text, givenMs, words);
  return text.slice(timed ?? afterPace(text, givenMs / msPerCharacter)).trim();
}

/** Null where the timings do not reach as far as the audio, or do not fit the text. */
function afterTimedWords(text: string, givenMs: number, words: readonly WordTiming[]): number | null {
  const last = words.at(-1);
  if (!last || last.endMs < givenMs - lengthOf(last)) return null;
  const lower = text.toLowerCase();
  let at = 0;
  for (const word of words) {
    if (word.endMs > givenMs) break;
    const wanted = bare(word.text);
    if (wanted === '') continue;
    const found = lower.indexOf(wanted, at);
    if (found === -1 || found - at > SEARCH_CHARACTERS) return null;
    at = found + wanted.length;
  }
  return endOfWord(text, at);
}

/** The end of the last whole word within so many characters. */
function afterPace(text: string, characters: number): number {
  let end = 0;
  for (const word of text.matchAll(/\S+/g)) {
    const wordEnd = word.index + word[0].length;
    if (wordEnd > characters) break;
    end = wordEnd;
  }
  return end;
}

/** Punctuation behind a word belongs to it. */
function endOfWord(text: string, at: number): number {
  return at === 0 ? 0 : at + (/^\S*/.exec(text.slice(at))?.[0].length ?? 0);
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '');
}

function lengthOf(word: WordTiming): number {
  return Math.max(0, word.endMs - word.startMs);
}
