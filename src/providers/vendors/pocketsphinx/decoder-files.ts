import { PHONES } from './pronunciations.ts';
import type { SpokenGrammar } from './spoken-grammar.ts';

/**
 * The two texts that a decoder is started with. A grammar alone would map every noise to its nearest phrase, so beside
 * the bot's turns stands one more: any run of phones. Together with the price that the decoder takes per word
 * (pocketsphinx.ts) that run wins exactly where the words fit badly.
 */
export interface DecoderFiles {
  grammar: string;
  dictionary: string;
  /** For `-toprule`. */
  topRule: string;
}

/** Words of the run of phones begin so; no word of the dictionary holds an underscore. */
const PHONE_WORD = 'phone_';

export function decoderFiles(
  grammar: SpokenGrammar,
  pronunciations: ReadonlyMap<string, readonly string[]>,
  rejectsOthers: boolean,
): DecoderFiles {
  const turns = grammar.publicRules.map((rule) => `<${rule}>`);
  const entries = [...pronunciations].flatMap(([word, ways]) =>
    ways.map((phones, index) => `${word}${index === 0 ? '' : `(${index + 1})`} ${phones}`),
  );
  let garbage = '';
  if (rejectsOthers) {
    turns.push('<trunkline-others>');
    const phoneWords = PHONES.map((phone) => `${PHONE_WORD}${phone.toLowerCase()}`);
    for (const [index, word] of phoneWords.entries()) entries.push(`${word} ${PHONES[index]}`);
    // At least three phones: a single one fits a click, and nothing that a person says is shorter than two or three.
    garbage =
      `<trunkline-phone> = ${phoneWords.join(' | ')};\n` +
      '<trunkline-more> = <trunkline-phone> <trunkline-more> | <NULL>;\n' +
      '<trunkline-others> = <trunkline-phone> <trunkline-phone> <trunkline-phone> <trunkline-more>;\n';
  }
  return {
    grammar: `${grammar.source}${garbage}public <trunkline-turn> = ${turns.join(' | ')};\n`,
    dictionary: `${entries.join('\n')}\n`,
    topRule: 'bot.trunkline-turn',
  };
}

/**
 * One line of the decoder as text: '' where it is blank, null where the caller said something that the grammar does
 * not know.
 */
export function readHypothesis(line: string): string | null {
  const words = line.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return words.some((word) => word.startsWith(PHONE_WORD)) ? null : words.join(' ');
}
