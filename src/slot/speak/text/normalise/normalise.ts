import { dates } from './dates.ts';
import { maskedIds, mixedCodes, namedCodes, phones, shortNumbers } from './identifiers.ts';
import { otherLanguage } from './indian-languages.ts';
import type { LanguagePack } from './language-pack.ts';
import { abbreviations, acronyms, rates, units } from './letters.ts';
import { money } from './money.ts';
import { apart, framedNumbers, plain, powers, signs } from './numbers.ts';
import { partNumbers } from './part-numbers.ts';
import type { Rule } from './pattern.ts';
import { times } from './times.ts';

/**
 * What is written to what is said (RT-40). The order matters: what needs the most context goes first, and every rule
 * leaves words behind, which no later rule takes for numbers.
 */
const RULES: readonly Rule[] = [
  abbreviations,
  partNumbers,
  rates,
  maskedIds,
  dates,
  times,
  money,
  phones,
  namedCodes,
  shortNumbers,
  ...framedNumbers,
  signs,
  units,
  powers,
  mixedCodes,
  acronyms,
  apart,
  plain,
];

/** Those that have something to do where no digit stands. */
const WORD_RULES: readonly Rule[] = [abbreviations, partNumbers, rates, powers, signs, acronyms, apart];

/** The text of one clause with numbers, dates, amounts, codes and abbreviations in words of its language. */
export function normalise(text: string, pack: LanguagePack): string {
  if (pack === otherLanguage) return text;
  let spoken = asciiDigits(text);
  for (const rule of /\d/.test(spoken) ? RULES : WORD_RULES) spoken = rule(spoken, pack);
  return spoken;
}

/** The zeros of the Indian scripts, Devanagari to Malayalam, and of full-width forms. */
const ZEROS = [0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xff10];
const NATIVE_DIGIT = /[०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯０-９]/g;

function asciiDigits(text: string): string {
  return text.replace(NATIVE_DIGIT, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = ZEROS.find((start) => code >= start && code <= start + 9) ?? code;
    return String(code - zero);
  });
}
