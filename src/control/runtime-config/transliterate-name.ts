import { LRUCache } from 'lru-cache';
import { isTitle, KNOWN_NAMES, NAME_ELEMENTS, titleOf } from './transliteration/known-names.ts';
import { createNameSpeller } from './transliteration/name-speller.ts';

/**
 * Longer text is no name; what is beyond is dropped, in units of UTF-16. The work grows with the letters of unknown
 * words, some 60 µs for each, and it is done on the loop that serves calls.
 */
const MAX_NAME_LENGTH = 64;
/** Words whose writing is remembered: a call asks for a name, its parts and its first name again, callers come back. */
const MAX_REMEMBERED_WORDS = 5_000;

/** Latin letters with their accents and apostrophes, as one word: `José`, `D'Souza`. */
const LATIN_WORD = /\p{Script=Latin}(?:\p{Script=Latin}|[\u0300-\u036f]|['’])*/gu;

/** Built when the process starts, in about 0.1 s, so that no call waits for it. */
const speller = createNameSpeller(KNOWN_NAMES, NAME_ELEMENTS);
const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED_WORDS });

/**
 * A person's name as people write it in Devanagari: `Mrs. Sunita K. Sharma` gives `श्रीमती सुनीता के. शर्मा`. Each
 * Latin word is written by itself; whatever else the text holds, Devanagari included, stays. Never throws.
 */
export function transliterateName(latin: string): string {
  const text = latin.slice(0, MAX_NAME_LENGTH);
  return withTitles(text).replace(LATIN_WORD, (word) => writeWord(word));
}

/** The first word of a name that is no title and no initial: `Dr. S. Ramesh Rao` gives `Ramesh`. */
export function firstNameOf(name: string): string {
  const words = name
    .slice(0, MAX_NAME_LENGTH)
    .trim()
    .split(/[\s,]+/u);
  const spoken = words.filter((word) => !isTitle(word));
  const isInitial = (word: string) =>
    /^(\p{L}\.?){1,3}$/u.test(word) && (word.includes('.') || word.length === 1);
  return spoken.find((word) => !isInitial(word)) ?? spoken[0] ?? words[0] ?? '';
}

/** A title, or the `S/o` of a record, with the full stop behind it: the Hindi brings its own. */
const TITLE = /(?<![\p{L}\p{M}])([A-Za-z](?:\/?[A-Za-z]){1,7})\.?(?![\p{L}\p{M}/])/gu;

function withTitles(text: string): string {
  // A word that stands alone is the name itself: `Sri`.
  if (/^\s*\p{L}+\s*$/u.test(text)) return text;
  return text.replace(TITLE, (whole, word: string) => {
    // In `MS Rao` the letters are initials; in `MS RAO` nobody can tell, and the title is more frequent.
    const areInitials = whole === word && INITIALS_OR_TITLE.test(word) && /[a-z]/.test(text);
    return areInitials ? whole : (titleOf(word) ?? whole);
  });
}

const INITIALS_OR_TITLE = /^(MS|KM|ER|SH)$/;

function writeWord(word: string): string {
  const letters = plainLetters(word);
  if (letters === '') return word;
  if (letters.length === 1 || isAbbreviation(word, letters)) {
    return [...letters].map((letter) => LETTER_NAMES[letter] ?? letter).join('');
  }
  const known = remembered.get(letters);
  if (known !== undefined) return known;
  const written = speller(letters).devanagari;
  remembered.set(letters, written);
  return written;
}

/** `RK` and `KL`, which nobody can say as a word, are read by letters. */
function isAbbreviation(word: string, letters: string): boolean {
  return letters.length <= 3 && word === word.toUpperCase() && !/[aeiouy]/.test(letters);
}

/** Letters a-z of a Latin word; empty where none is left. */
function plainLetters(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z]/g, (letter) => FOREIGN_LETTERS[letter] ?? '');
}

/** Letters that do not come apart into a-z and an accent. */
const FOREIGN_LETTERS: Readonly<Record<string, string>> = {
  æ: 'e',
  œ: 'e',
  ø: 'o',
  ß: 'ss',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** The names of the English letters as Hindi speakers write them. */
const LETTER_NAMES: Readonly<Record<string, string>> = {
  a: 'ए',
  b: 'बी',
  c: 'सी',
  d: 'डी',
  e: 'ई',
  f: 'एफ',
  g: 'जी',
  h: 'एच',
  i: 'आई',
  j: 'जे',
  k: 'के',
  l: 'एल',
  m: 'एम',
  n: 'एन',
  o: 'ओ',
  p: 'पी',
  q: 'क्यू',
  r: 'आर',
  s: 'एस',
  t: 'टी',
  u: 'यू',
  v: 'वी',
  w: 'डब्ल्यू',
  x: 'एक्स',
  y: 'वाई',
  z: 'जेड',
};
