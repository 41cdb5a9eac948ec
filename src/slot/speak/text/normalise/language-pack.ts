import { readTexts } from '../../../../platform/text-table.ts';

/** What one language needs to say numbers and signs. A rule that finds its words missing leaves the text alone. */
export interface LanguagePack {
  /** BCP 47. */
  readonly code: string;
  /** A letter of the script that this language is written in. */
  readonly letter: RegExp;
  /** The words of the digits 0 to 9. */
  readonly digits: readonly string[];
  /**
   * A whole number without sign or separators, at most 15 digits, in words. Null: numbers stay in digits, which the
   * voices of that language read well; only identifiers are said digit by digit.
   */
  readonly cardinal: ((digits: string, scale: Scale) => string) | null;
  /** "21" to "twenty first"; null where the language has no rule here. */
  readonly ordinal: ((digits: string) => string) | null;
  /** "2.5" before a scale word where the language has a word for it ("ढाई"); null: read as a decimal. */
  readonly half: ((whole: string) => string) | null;
  /** A year in words, where years are read in their own way; null: as a number. */
  readonly year: ((year: number) => string) | null;
  /** How a number is read whose writing does not tell. */
  readonly scale: Scale;
  readonly dateOrder: 'day first' | 'month first';
  readonly words: PackWords;
  readonly money: Readonly<Record<Currency, MoneyWords>>;
  /** Written scale words ("lakh", "cr") in lower case to the spoken one. */
  readonly scaleWords: Readonly<Record<string, string>>;
  /** Written units behind a number, as written, to their spoken forms: one, several. */
  readonly units: Readonly<Record<string, readonly [string, string]>>;
  /** Names of the letters A to Z; null: the letters themselves, apart. */
  readonly letterNames: readonly string[] | null;
  /** Words for calling, or their beginnings, behind which a short number is one to dial. */
  readonly dialWords: readonly string[];
  /** Full names of the months; empty: dates are left alone. */
  readonly months: readonly string[];
  /** A date of which all parts are known; `month` is 1 to 12. */
  readonly date: ((day: number, month: number, year: number | null) => string) | null;
  /** A time of day; `half` is given where the text said AM or PM; `lead` says whether the part of day stands before. */
  readonly time: ((time: TimeOfDay) => string) | null;
}

/** `indian`: lakh and crore; `western`: million and billion. */
export type Scale = 'indian' | 'western';
export type Currency = 'INR' | 'USD' | 'EUR' | 'GBP';

export interface TimeOfDay {
  hour: number;
  minute: number;
  half: 'am' | 'pm' | null;
  /** The text already names the part of the day ("शाम 5:30"). */
  hasPartOfDay: boolean;
}

export interface MoneyWords {
  readonly one: string;
  readonly many: string;
  /** The hundredth part: one, several. */
  readonly part: readonly [string, string];
}

/** Empty words are left out of the speech. */
export interface PackWords {
  readonly and: string;
  /** Between whole amount and hundredth parts. */
  readonly moneyAnd: string;
  readonly at: string;
  readonly dot: string;
  readonly point: string;
  readonly minus: string;
  readonly plus: string;
  readonly percent: string;
  readonly to: string;
  readonly number: string;
  readonly over: string;
  readonly times: string;
  readonly equals: string;
  readonly about: string;
  /** Before the visible digits of a masked identifier. */
  readonly endingIn: string;
  /** The keys `*` and `#`. */
  readonly star: string;
  readonly hash: string;
  /** The stroke of "₹50/km". */
  readonly per: string;
  /** 24/7. */
  readonly roundTheClock: string;
  /** These have "…" in the place of the number. */
  readonly lessThan: string;
  readonly moreThan: string;
  readonly atMost: string;
  readonly atLeast: string;
  readonly plusMinus: string;
  readonly squared: string;
  readonly cubed: string;
  readonly decade: string;
}

/** A phrase with a number in the place of its dots. */
export function fillIn(phrase: string, number: string): string {
  return phrase.replace('…', () => number);
}

/** The part of a pack that is words alone. */
type SpokenWords = Pick<
  LanguagePack,
  'digits' | 'words' | 'money' | 'scaleWords' | 'units' | 'letterNames' | 'months' | 'dialWords'
> & { numbers: readonly string[] };

const TABLE = readTexts(import.meta.url, 'number-words.txt');

/** How scale words are written in Latin letters, whatever the language. */
const SCALE_SPELLINGS = {
  thousand: ['k', 'thousand'],
  lakh: ['l', 'lac', 'lakh', 'lakhs'],
  crore: ['cr', 'crore', 'crores'],
};

/** The words of a language in number-words.txt; those that it lacks are empty. */
export function spokenWords(language: string): SpokenWords {
  const table = TABLE.get(language) ?? new Map<string, string>();
  const one = (key: string) => table.get(key) ?? '';
  const several = (key: string) =>
    one(key)
      .split(' ')
      .filter((word) => word !== '');
  const below = (prefix: string) =>
    [...table].flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : []));
  const scaleWords: Record<string, string> = {};
  for (const [key, spellings] of Object.entries(SCALE_SPELLINGS)) {
    if (table.has(key)) for (const written of [...spellings, one(key)]) scaleWords[written] = one(key);
  }
  for (const [spoken = '', written = ''] of below('scale ')) {
    for (const word of written.split(' ')) scaleWords[word] = spoken;
  }
  const numbers = several('numbers');
  return {
    numbers,
    digits: numbers.slice(0, 10),
    words: {
      and: one('and'),
      moneyAnd: one('money_and'),
      at: one('at'),
      dot: one('dot'),
      point: one('point'),
      minus: one('minus'),
      plus: one('plus'),
      percent: one('percent'),
      to: one('to'),
      number: one('number'),
      over: one('over'),
      times: one('times'),
      equals: one('equals'),
      about: one('about'),
      endingIn: one('ending_in'),
      star: one('star'),
      hash: one('hash'),
      per: one('per'),
      roundTheClock: one('round_the_clock'),
      lessThan: one('less_than'),
      moreThan: one('more_than'),
      atMost: one('at_most'),
      atLeast: one('at_least'),
      plusMinus: one('plus_minus'),
      squared: one('squared'),
      cubed: one('cubed'),
      decade: one('decade'),
    },
    dialWords: several('dial'),
    money: {
      INR: moneyWords(one('INR')),
      USD: moneyWords(one('USD')),
      EUR: moneyWords(table.get('EUR') ?? 'euro'),
      GBP: moneyWords(table.get('GBP') ?? 'pound'),
    },
    scaleWords,
    units: Object.fromEntries(
      below('unit ').map(([written = '', words = '']) => {
        const [single = '', many = single] = words.split(', ');
        return [written, [single, many] as const];
      }),
    ),
    letterNames: table.has('letters') ? several('letters') : null,
    months: several('months'),
  };
}

/** "rupee, rupees, paisa, paise", or "word, part" where one and many are the same. */
function moneyWords(words: string): MoneyWords {
  const [first = '', second = '', ...parts] = words.split(', ');
  const [part = second, manyParts = part] = parts;
  return { one: first, many: parts.length > 0 ? second : first, part: [part, manyParts] };
}

/** Digits one by one in groups, with a short pause between the groups. */
export function sayDigits(groups: readonly string[], pack: LanguagePack): string {
  return groups.map((group) => [...group].map((digit) => pack.digits[Number(digit)]).join(' ')).join(', ');
}

/** How people group a number that was written without gaps: pairs and threes for short ones, fives for mobiles. */
export function digitGroups(digits: string): string[] {
  const sizes: Readonly<Record<number, readonly number[]>> = {
    6: [3, 3],
    7: [3, 4],
    8: [4, 4],
    9: [3, 3, 3],
    10: [5, 5],
    11: [4, 3, 4],
    12: [4, 4, 4],
  };
  if (digits.length < 6) return [digits];
  const groups: string[] = [];
  let at = 0;
  for (const size of sizes[digits.length] ?? []) {
    groups.push(digits.slice(at, at + size));
    at += size;
  }
  for (; at < digits.length; at += 4) groups.push(digits.slice(at, at + 4));
  return groups;
}
