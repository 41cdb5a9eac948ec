import { type InterruptionPhrases, interruptionPhrases } from './phrases.ts';
import type { InterruptionMeaning } from './turn-types.ts';

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
  const lists: InterruptionPhrases = interruptionPhrases(rules.language);
  const backchannels = new Set((rules.backchannels ?? lists.backchannels).map(normalised));
  const stops = [...new Set((rules.stops ?? lists.stops).map(normalised))].map((phrase) => ` ${phrase} `);
  const minWords = Math.max(1, rules.minWords);
  return (text) => {
    const plain = normalised(text);
    if (plain === '') return 'nothing';
    const words = wordCount(plain);
    if (words <= 4 && stops.some((phrase) => ` ${plain} `.includes(phrase))) return 'interruption';
    if (isBackchannel(plain, backchannels)) return 'backchannel';
    return words >= minWords ? 'interruption' : 'too_few_words';
  };
}

/** "haan haan ok" is made of signs of listening and is one. */
function isBackchannel(plain: string, phrases: ReadonlySet<string>): boolean {
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

/** Asked into the silence of a bot that owes an answer; by language, in the spellings of transcripts. */
const CHECK_INS: ReadonlySet<string> = new Set([
  'hello',
  'hello hello',
  'helo',
  'hallo',
  'hey',
  'are you there',
  'hello are you there',
  'are you still there',
  'can you hear me',
  'anybody there',
  'हेलो',
  'हैलो',
  'हेलो हेलो',
  'हैलो हैलो',
  'सुन रहे हो',
  'sun rahe ho',
  'হ্যালো',
  'ஹலோ',
  'హలో',
  'ಹಲೋ',
  'હેલો',
]);

/** Whether these words only ask if the bot is still there. */
export function isCheckIn(text: string): boolean {
  return CHECK_INS.has(normalised(text));
}
