import { readLists } from '../../../platform/text-table.ts';
import type { KnownName } from './name-speller.ts';

const TABLE = readLists(import.meta.url, 'known-names.txt');

/** Names as people write them in Devanagari. */
export const KNOWN_NAMES: readonly KnownName[] = [
  'men',
  'women',
  'family',
  'muslim',
  'sikh',
  'christian',
  'south east',
  'compounds',
].flatMap(spellings);

/** What compounds are made of: `lal`, `preet`, `vardhan`. */
export const NAME_ELEMENTS: readonly KnownName[] = spellings('elements');

const SHORT_NAMES = new Map(spellings('short names'));
const TITLES = new Map(spellings('titles'));
const IN_HINDI = new Set([...TITLES.values()].map((title) => title.replace(/\.$/, '')));

/** The Hindi for a title or a short form, without its full stop, or null for any other word. */
export function titleOf(word: string): string | null {
  const plain = word.toLowerCase();
  return TITLES.get(plain) ?? SHORT_NAMES.get(plain) ?? null;
}

/** Whether a word, with or without its full stop and in either script, stands beside the name and is not part of it. */
export function isTitle(word: string): boolean {
  const plain = word.toLowerCase().normalize('NFC').replace(/\.$/, '');
  return TITLES.has(plain) || IN_HINDI.has(plain);
}

/** A name stands with its Latin spellings behind it. */
function spellings(section: string): KnownName[] {
  return (TABLE.get(section) ?? []).flatMap((entry) => {
    const [devanagari = '', ...latin] = entry.split(' ');
    return latin.map((spelling): KnownName => [spelling, devanagari]);
  });
}
