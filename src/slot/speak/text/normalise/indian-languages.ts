import { type LanguagePack, spokenWords, type TimeOfDay } from './language-pack.ts';
import { joinWords } from './pattern.ts';

const SCRIPTS = {
  mr: 'Devanagari',
  bn: 'Bengali',
  ta: 'Tamil',
  te: 'Telugu',
  gu: 'Gujarati',
  kn: 'Kannada',
  ml: 'Malayalam',
  pa: 'Gurmukhi',
};

/**
 * Languages whose voices read whole numbers well from digits: telephone numbers and identifiers are said digit by
 * digit, signs and currencies become words, and grouping commas go, because some voices stop at them.
 */
export const INDIAN_LANGUAGES: readonly LanguagePack[] = Object.entries(SCRIPTS).map(([language, script]) =>
  wordsOnly(language, `${language}-IN`, new RegExp(`(?!\\p{N})\\p{Script=${script}}`, 'u')),
);

/** Any other language: markup is still taken out, but no word is put in that might be of the wrong language. */
export const otherLanguage: LanguagePack = wordsOnly('other', 'und', /\p{L}/u);

function wordsOnly(language: string, code: string, letter: RegExp): LanguagePack {
  const { numbers: _digitsOnly, ...words } = spokenWords(language);
  return {
    ...words,
    code,
    letter,
    cardinal: null,
    ordinal: null,
    half: null,
    year: null,
    scale: 'indian',
    dateOrder: 'day first',
    // Days, years and hours are among the numbers that the voice reads; what it would not read right are the strokes.
    date:
      words.months.length === 0
        ? null
        : (day, month, year) => joinWords(String(day), words.months[month - 1] ?? '', String(year ?? '')),
    time: words.months.length === 0 ? null : (time) => digitTime(time, words.letterNames),
  };
}

/** "9:05 A M": a full hour without its zeros where a half of the day follows. */
function digitTime({ hour, minute, half }: TimeOfDay, letters: readonly string[] | null): string {
  const clock = `${hour}:${String(minute).padStart(2, '0')}`;
  if (half === null) return clock;
  const [first, last] = letters
    ? [letters[half === 'am' ? 0 : 15], letters[12]]
    : [half === 'am' ? 'A' : 'P', 'M'];
  return `${minute === 0 ? hour : clock} ${first} ${last}`;
}
