import { createReadStream } from 'node:fs';
import { AppError } from '../../../platform/app-error.ts';
import { findEngineData } from '../../../platform/engine-programs.ts';

/** English phones of the acoustic model (the CMU set, without stress). */
export const PHONES: readonly string[] =
  'AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH'.split(
    ' ',
  );

const DICTIONARY = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';

/** Known words of this process; the dictionary of 134,000 is never held. `null`: looked for and not there. */
const known = new Map<string, readonly string[] | null>();
/** A slot serves few bots; when the words of many have gathered, all are forgotten. */
const MAX_KNOWN = 20_000;

/**
 * Pronunciations per word, each as phones with spaces, in the order of the dictionary; an empty list for a word that
 * it does not have. Reads the dictionary in pieces, and only when a word is new. Throws `engine_missing`.
 */
export async function findPronunciations(words: readonly string[]): Promise<Map<string, readonly string[]>> {
  const missing = new Set(words.filter((word) => !known.has(word)));
  if (missing.size > 0) {
    const found = await scanDictionary(missing);
    if (known.size + missing.size > MAX_KNOWN) known.clear();
    for (const word of missing) known.set(word, found.get(word) ?? null);
    return new Map(words.map((word) => [word, found.get(word) ?? known.get(word) ?? []]));
  }
  return new Map(words.map((word) => [word, known.get(word) ?? []]));
}

async function scanDictionary(wanted: ReadonlySet<string>): Promise<Map<string, string[]>> {
  const path = findEngineData(DICTIONARY);
  if (!path) {
    throw new AppError(
      'engine_missing',
      'the pronouncing dictionary is not installed; run "apt-get install pocketsphinx-en-us" or "npm run setup"',
    );
  }
  const found = new Map<string, string[]>();
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: 65_536 })) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line, wanted, found);
  }
  takeLine(rest, wanted, found);
  return found;
}

/** A line is `word PH ON ES`, or `word(2) PH ON ES` for a second way to say it. */
function takeLine(line: string, wanted: ReadonlySet<string>, found: Map<string, string[]>): void {
  const space = line.indexOf(' ');
  if (space <= 0) return;
  const bracket = line.indexOf('(', 1);
  const word = line.slice(0, bracket > 0 && bracket < space ? bracket : space);
  if (!wanted.has(word)) return;
  const phones = line.slice(space + 1).trim();
  const list = found.get(word);
  if (list) list.push(phones);
  else found.set(word, [phones]);
}
