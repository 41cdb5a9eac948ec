import { readLists, readTexts } from '../../platform/text-table.ts';
import { normalised } from './interruption-meaning.ts';
import { type Ending, languagesOf } from './open-ending.ts';

/** A number that the bot has asked for, or that the caller has announced. */
export interface AskedNumber {
  /** How many digits it may have, ascending; empty where that is not known. */
  lengths: readonly number[];
  /** A date with its year. */
  isDate: boolean;
}

const NAMES = readLists(import.meta.url, 'asked-numbers.txt');
/** What stands behind the count in "the six digit code". */
const COUNTED = new Set(NAMES.get('digits')?.map(normalised));
/** The names of such numbers, by kind and length (asked-numbers.txt). */
const KINDS = [...NAMES].flatMap(([section, names]) => {
  if (section === 'digits') return [];
  const [kind, ...lengths] = section.split(' ');
  return [{ isDate: kind === 'birth', lengths: lengths.map(Number), names: names.map(asFound) }];
});
/** How digits are spoken (spoken-digits.txt). */
const SPOKEN = readTexts(import.meta.url, 'spoken-digits.txt');

/** Longest tail of a line or an answer that is looked at. */
const MAX_CHARS = 400;
/** No number that is asked for without a known length is shorter. */
const SHORTEST = 4;
/** A day has at most this many digits; with the month as a word behind or before it, the year is missing. */
const DAY = 2;
/** Of a date in digits alone: a day and a month, and the shortest that is surely whole ("05 03 85"). */
const DAY_AND_MONTH = 3;
const WHOLE_DATE = 6;

/** What a spoken word is to a number. */
interface NumberWord {
  digits: number;
  /** "twenty" in "twenty five": a digit behind it counts with it. */
  isTens: boolean;
  /** "double five". */
  times: number;
  isMonth: boolean;
}

/** The number that a line asks for or announces; the one named last. Null where it names none. */
export function askedNumber(line: string): AskedNumber | null {
  const plain = ` ${normalised(line.slice(-MAX_CHARS))} `;
  const counted = countedDigits(plain);
  if (counted !== null) return { lengths: [counted], isDate: false };
  let found: AskedNumber | null = null;
  let foundAt = -1;
  for (const { names, ...number } of KINDS) {
    for (const name of names) {
      const at = plain.lastIndexOf(name);
      if (at > foundAt) [found, foundAt] = [number, at];
    }
  }
  return found;
}

/** As a line holds it. In scripts other than ours a word may go on: endings are written to it there. */
function asFound(name: string): string {
  return /\p{Script=Latin}$/u.test(name) ? ` ${normalised(name)} ` : ` ${normalised(name)}`;
}

/** "ten" of "your ten digit number". */
function countedDigits(plain: string): number | null {
  const words = plain.trim().split(' ');
  const at = words.findLastIndex((word, index) => index > 0 && COUNTED.has(word));
  const word = words[at - 1];
  if (word === undefined) return null;
  if (/^\p{Nd}{1,2}$/u.test(word)) return Number(asciiDigits(word)) || null;
  for (const spoken of SPOKEN.values()) {
    for (let value = 1; value <= 9; value++) {
      if (wordsIn(spoken, String(value)).includes(word)) return value;
    }
    if (wordsIn(spoken, 'two')[0] === word) return 10;
  }
  return null;
}

/**
 * Judges whether an answer ends in a part of the number that it should be, in a language (BCP 47) and in mixed-in
 * English. Null: it does not end in a number, and says nothing about it.
 */
export function numberJudge(
  language: string | undefined,
): (text: string, asked: AskedNumber) => Ending | null {
  const known = new Map<string, NumberWord>();
  for (const name of languagesOf(language)) readNumberWords(SPOKEN.get(name), known);
  return (text, asked) => {
    const words = normalised(text.slice(-MAX_CHARS)).split(' ');
    const run = trailingNumber(words, known);
    if (run.isCutShort) return 'open';
    if (!run.endsInNumber) return null;
    // A single digit behind other words is one of them: "send it to me too", "bata do".
    if (run.digits === 1 && !run.hasMonth && run.words < words.length) return null;
    if (asked.isDate) return dateEnding(run);
    const longest = asked.lengths.at(-1);
    if (longest === undefined) return run.digits < SHORTEST ? 'open' : 'doubtful';
    if (run.digits >= longest) return 'whole';
    return asked.lengths.includes(run.digits) ? 'doubtful' : 'open';
  };
}

interface NumberRun {
  words: number;
  digits: number;
  hasMonth: boolean;
  last: string;
  endsInNumber: boolean;
  /** It ends in "double". */
  isCutShort: boolean;
}

/** Day and month without the year are half a date of birth, and "nineteen" may be half a year. */
function dateEnding({ digits, hasMonth, last }: NumberRun): Ending {
  if (digits <= (hasMonth ? DAY : DAY_AND_MONTH)) return 'open';
  if (!hasMonth) return digits < WHOLE_DATE ? 'doubtful' : 'whole';
  return /^(19|20|nineteen|twenty)$/.test(last) ? 'doubtful' : 'whole';
}

/** The number that the words end in. */
function trailingNumber(words: readonly string[], known: ReadonlyMap<string, NumberWord>): NumberRun {
  let from = words.length;
  while (from > 0 && numberWord(words[from - 1] ?? '', known)) from--;
  const run: NumberRun = {
    words: 0,
    digits: 0,
    hasMonth: false,
    last: '',
    endsInNumber: false,
    isCutShort: false,
  };
  let times = 1;
  let followsTens = false;
  for (const word of words.slice(from)) {
    const part = numberWord(word, known);
    if (!part) continue;
    run.words++;
    run.last = word;
    run.hasMonth ||= part.isMonth;
    // "twenty five" has two digits, and "twenty" has them already.
    if (!(followsTens && part.digits === 1)) run.digits += part.digits * times;
    followsTens = part.isTens;
    times = part.times;
    run.endsInNumber = part.digits > 0 || part.isMonth;
    run.isCutShort = part.times > 1;
  }
  return run;
}

function numberWord(word: string, known: ReadonlyMap<string, NumberWord>): NumberWord | undefined {
  const figures = /^(\p{Nd}+)(?:st|nd|rd|th)?$/u.exec(word)?.[1];
  return figures === undefined ? known.get(word) : { ...BETWEEN, digits: [...figures].length };
}

/** A word that stands between two parts of a number, such as "and". */
const BETWEEN: NumberWord = { digits: 0, isTens: false, times: 1, isMonth: false };

function readNumberWords(
  spoken: ReadonlyMap<string, string> | undefined,
  into: Map<string, NumberWord>,
): void {
  const put = (key: string, meaning: Partial<NumberWord>) => {
    for (const word of wordsIn(spoken, key)) into.set(word, { ...BETWEEN, ...meaning });
  };
  for (let value = 0; value <= 9; value++) put(String(value), { digits: 1 });
  put('one', { digits: 1 });
  put('two', { digits: 2 });
  put('tens', { digits: 2, isTens: true });
  put('double', { times: 2 });
  put('triple', { times: 3 });
  put('months', { isMonth: true });
  put('between', BETWEEN);
}

function wordsIn(spoken: ReadonlyMap<string, string> | undefined, key: string): string[] {
  const words = normalised(spoken?.get(key) ?? '');
  return words === '' ? [] : words.split(' ');
}

/** Of any script: each script's digits follow one another from its zero. */
function asciiDigits(figures: string): string {
  return figures.replace(/\p{Nd}/gu, (figure) => {
    let zero = figure.codePointAt(0) as number;
    const value = zero;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && value - zero < 9) zero--;
    return String(value - zero);
  });
}
