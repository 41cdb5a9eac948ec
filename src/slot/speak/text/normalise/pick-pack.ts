import { englishElsewhere, englishIndia, englishUnitedStates } from './english.ts';
import { hindi } from './hindi.ts';
import { INDIAN_LANGUAGES, otherLanguage } from './indian-languages.ts';
import type { LanguagePack } from './language-pack.ts';

/** The language of a bot by its BCP 47 tag. English without a region is Indian English, which reads both writings. */
export function packOf(language: string): LanguagePack {
  const [primary = '', ...rest] = language.toLowerCase().split(/[-_]/);
  if (primary === 'en') {
    if (rest.includes('us')) return englishUnitedStates;
    return rest.length === 0 || rest.includes('in') ? englishIndia : englishElsewhere;
  }
  if (primary === 'hi') return hindi;
  return INDIAN_LANGUAGES.find((pack) => pack.code.startsWith(`${primary}-`)) ?? otherLanguage;
}

const LATIN = /\p{Script=Latin}/u;

/**
 * The language that the numbers of one clause are said in. Bots mix languages: a Hindi bot that answers in Latin
 * letters speaks English numbers, an English bot that answers in Devanagari speaks Hindi ones.
 */
export function packForClause(base: LanguagePack, clause: string): LanguagePack {
  if (base === otherLanguage || base.letter.test(clause)) return base;
  if (LATIN.test(clause)) return englishIndia;
  if (hindi.letter.test(clause)) return hindi;
  return INDIAN_LANGUAGES.find((pack) => pack.letter.test(clause)) ?? base;
}
