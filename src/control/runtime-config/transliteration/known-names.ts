import { CHRISTIAN } from './known-names/christian.ts';
import { COMPOUNDS } from './known-names/compounds.ts';
import { ELEMENTS } from './known-names/elements.ts';
import { FAMILY } from './known-names/family.ts';
import { MEN } from './known-names/men.ts';
import { MUSLIM } from './known-names/muslim.ts';
import { SIKH } from './known-names/sikh.ts';
import { SOUTH_EAST } from './known-names/south-east.ts';
import { WOMEN } from './known-names/women.ts';
import type { KnownName } from './name-speller.ts';

/**
 * Names as people write them in Devanagari. In the tables a name stands with its Latin spellings behind it, and a bar
 * stands between names. A third of the common spellings measures the rest: the test of name transliteration takes them
 * out of these tables, builds a speller without them and asks it for them.
 */
export const KNOWN_NAMES: readonly KnownName[] = [
  MEN,
  WOMEN,
  FAMILY,
  MUSLIM,
  SIKH,
  CHRISTIAN,
  SOUTH_EAST,
  COMPOUNDS,
].flatMap(readTable);

/** What compounds are made of: `lal`, `preet`, `vardhan`. */
export const NAME_ELEMENTS: readonly KnownName[] = readTable(ELEMENTS);

function readTable(table: string): KnownName[] {
  return table
    .normalize('NFC')
    .trim()
    .split(/\s*[|\n]\s*/)
    .flatMap((entry) => {
      const [devanagari = '', ...spellings] = entry.split(' ');
      return spellings.map((latin): KnownName => [latin, devanagari]);
    });
}
