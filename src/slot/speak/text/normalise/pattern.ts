import type { LanguagePack } from './language-pack.ts';

/**
 * Pieces of the patterns that all rules share. Every repetition has a bound, and a match can start at few places of a
 * text only, so that the time of a rule grows with the length of the text and no faster.
 */
export const START = '(?<![\\p{L}\\p{M}\\p{N}])';
export const END = '(?![\\p{L}\\p{M}\\p{N}])';
/** A number as people write it: "500", "1,50,000", "1,500,000.25". */
export const NUMBER = '(?<![\\d][.,]?)\\d{1,18}(?:,\\d{2,3}){0,6}(?:\\.\\d{1,6})?(?!\\d)';

/** One step of the normalisation: text in, text out. */
export type Rule = (text: string, pack: LanguagePack) => string;

/** A pattern that is built once for each language. */
export function patternFor(build: (pack: LanguagePack) => RegExp): (pack: LanguagePack) => RegExp {
  const built = new Map<LanguagePack, RegExp>();
  return (pack) => {
    const known = built.get(pack);
    if (known) return known;
    const pattern = build(pack);
    built.set(pack, pattern);
    return pattern;
  };
}

/** One of these words, the longest first. */
export function anyOf(words: readonly string[]): string {
  const sorted = [...words].filter((word) => word !== '').sort((a, b) => b.length - a.length);
  return `(?:${sorted.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`;
}

export function joinWords(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}
