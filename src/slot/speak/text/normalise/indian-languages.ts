import { type LanguagePack, spokenWords } from './language-pack.ts';

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
    date: null,
    time: null,
  };
}
