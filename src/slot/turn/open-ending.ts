import { readLists } from '../../platform/text-table.ts';
import { normalised } from './interruption-meaning.ts';

/** What the last words of a turn promise: nothing ends in an `open` one, something may end in a `doubtful` one. */
export type Ending = 'open' | 'doubtful' | 'whole';

/** Words that sentences do not end in, or seldom, by language (open-endings.txt). */
const ENDINGS = readLists(import.meta.url, 'open-endings.txt');
const KINDS: readonly Ending[] = ['open', 'doubtful', 'whole'];

/** Longest phrase of the table, in words. */
const MAX_WORDS = 4;
/** The end of a text that is looked at; no four words are longer. */
const MAX_TAIL_CHARS = 160;

/** Judges how a text ends, in a language (BCP 47) and in the English that is mixed into it; no language is English. */
export function endingJudge(language: string | undefined): (text: string) => Ending {
  const known = new Map<string, Ending>();
  // The language's own word comes last and counts: the "the" of Hindi ends sentences.
  for (const name of languagesOf(language)) {
    for (const kind of KINDS) {
      for (const phrase of ENDINGS.get(`${name} ${kind}`) ?? []) known.set(normalised(phrase), kind);
    }
  }
  return (text) => {
    const words = normalised(text.slice(-MAX_TAIL_CHARS)).split(' ').slice(-MAX_WORDS);
    for (let from = 0; from < words.length; from++) {
      const ending = known.get(words.slice(from).join(' '));
      if (ending) return asAsked(ending, text);
    }
    return 'whole';
  };
}

/** An engine that writes a question mark heard a question end. */
function asAsked(ending: Ending, text: string): Ending {
  if (!/[?؟]\s*$/u.test(text)) return ending;
  return ending === 'open' ? 'doubtful' : 'whole';
}

/** Into these languages their speakers mix English, words and numbers alike. */
const MIXED_WITH_ENGLISH = new Set(['hi', 'bn', 'gu', 'mr', 'ta', 'te', 'kn', 'ml', 'pa']);

/** The languages whose words a caller of this one uses, the own one last. */
export function languagesOf(language: string | undefined): string[] {
  const own = (language ?? 'en').toLowerCase().split(/[-_]/)[0] ?? '';
  return MIXED_WITH_ENGLISH.has(own) ? ['en', own] : [own];
}
