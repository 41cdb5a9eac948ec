import { readLists } from '../../platform/text-table.ts';
import type { InterruptionMeaning } from './turn-types.ts';

/** Short things that people say over the bot or into its silence (phrases.txt). */
const PHRASES = readLists(import.meta.url, 'phrases.txt');

/** Words of a transcript that are looked at; what is longer is an interruption in any case. */
const MAX_WORDS = 50;

export interface InterruptionRules {
  language: string | undefined;
  /** `min_words_interruption` of the bot. */
  minWords: number;
  /** The bot's own lists; each replaces the built-in one where given. */
  backchannels?: readonly string[];
  stops?: readonly string[];
}

/**
 * What words mean that are said while the bot has the floor (RT-12, RT-13): one of the stop phrases always takes it, a
 * sign of listening never does, and anything else does from the bot's number of words on.
 */
export function interruptionJudge(rules: InterruptionRules): (text: string) => InterruptionMeaning {
  const backchannels = new Set(
    (rules.backchannels ?? listed('backchannels', rules.language)).map(normalised),
  );
  const stops = [...new Set((rules.stops ?? listed('stops', rules.language)).map(normalised))].map(
    (phrase) => ` ${phrase} `,
  );
  const minWords = Math.max(1, rules.minWords);
  return (text) => {
    const plain = normalised(text);
    if (plain === '') return 'nothing';
    const words = wordCount(plain);
    if (words <= 4 && stops.some((phrase) => ` ${plain} `.includes(phrase))) return 'interruption';
    if (isMadeOf(plain, backchannels)) return 'backchannel';
    return words >= minWords ? 'interruption' : 'too_few_words';
  };
}

/**
 * Whether words that would not stop the bot can answer a question that it is ending (RT-13): a sign of listening only
 * where it says yes or no as well, anything that is none in any case.
 */
export function answerJudge(
  language: string | undefined,
): (text: string, meaning: InterruptionMeaning) => boolean {
  const answers = new Set(listed('answers', language).map(normalised));
  return (text, meaning) =>
    meaning === 'too_few_words' || (meaning === 'backchannel' && isMadeOf(normalised(text), answers));
}

/** What a language has and what holds everywhere; callers in India mix English into every language. */
function listed(kind: 'backchannels' | 'stops' | 'answers', language: string | undefined): string[] {
  const own = (language ?? '').toLowerCase().split('-')[0] ?? '';
  return ['every', 'en', own].flatMap((name) => PHRASES.get(`${name} ${kind}`) ?? []);
}

/** "haan haan ok" is made of signs of listening and is one. */
function isMadeOf(plain: string, phrases: ReadonlySet<string>): boolean {
  if (phrases.has(plain)) return true;
  const words = plain.split(' ');
  return words.length <= 4 && words.every((word) => phrases.has(word));
}

/** Lower case, without punctuation, one space between words; marks of Indic scripts belong to their letters. */
export function normalised(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(?<=\p{L})['\u2019](?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

/** Words in any script that puts spaces between them; a number is one word. */
export function wordCount(text: string): number {
  const plain = normalised(text);
  return plain === '' ? 0 : Math.min(plain.split(' ').length, MAX_WORDS);
}

/** Asked into the silence of a bot that owes an answer. */
const CHECK_INS: ReadonlySet<string> = new Set(PHRASES.get('every check-ins'));

/** Whether these words only ask if the bot is still there. */
export function isCheckIn(text: string): boolean {
  return CHECK_INS.has(normalised(text));
}
