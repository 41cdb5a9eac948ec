import { readLists } from '../../platform/text-table.ts';
import { normalised } from '../turn/interruption-meaning.ts';

/** What the words of a greeting are typical of. */
export type PhraseKind = (typeof KINDS)[number];
const KINDS = ['screening', 'mailbox', 'invitation', 'announcement', 'absence'] as const;

/** The lists of each language and kind, "hi mailbox". */
export const ANSWER_PHRASES = readLists(import.meta.url, 'answer-phrases.txt');

export interface PhraseFinding {
  kind: PhraseKind;
  phrase: string;
}

/** Phrases of a bot beside the built-in ones. */
export interface OwnPhrases {
  voicemail?: readonly string[] | undefined;
  screening?: readonly string[] | undefined;
}

/** Text that is looked at, in characters; a greeting says what it is within that. */
const MAX_TEXT = 2_000;

/**
 * Finds phrases of answering machines, network announcements and call screening in a transcript, in the language of
 * the bot and in English and Hindi, which the networks of India speak everywhere (RT-27, RT-29). Make it once per call.
 */
export function phraseFinder(
  language: string | undefined,
  own: OwnPhrases = {},
): (text: string) => PhraseFinding[] {
  const base = (language ?? '').toLowerCase().split('-')[0] ?? '';
  const phrases: Phrase[] = [];
  const add = (kind: PhraseKind, texts: readonly string[]) => {
    for (const text of texts) {
      const parts = text
        .split('*')
        .map(folded)
        .filter((part) => part !== '');
      const endsAtWord = /\p{Script=Latin}$/u.test(parts.at(-1) ?? '');
      if (parts.length > 0)
        phrases.push({ kind, phrase: text, parts: parts.map((part) => ` ${part}`), endsAtWord });
    }
  };
  for (const name of new Set(['en', 'hi', base])) {
    for (const kind of KINDS) add(kind, ANSWER_PHRASES.get(`${name} ${kind}`) ?? []);
  }
  add('mailbox', own.voicemail ?? []);
  add('screening', own.screening ?? []);
  return (text) => {
    const plain = ` ${folded(text.slice(0, MAX_TEXT))}`;
    return phrases.filter((phrase) => isIn(plain, phrase)).map(({ kind, phrase }) => ({ kind, phrase }));
  };
}

interface Phrase {
  kind: PhraseKind;
  phrase: string;
  /** Folded, each behind a space. */
  parts: readonly string[];
  /** Latin letters end at a word; Indian scripts put endings onto their words. */
  endsAtWord: boolean;
}

/** A star stands for up to so many words, since engines and announcements put some in between. */
const MAX_WORDS_BETWEEN = 4;
/** "Do you want to leave a message" is asked by a person who answers for another one. */
const OFFER = /(?:you (?:want|like|wish) to|(?:can|shall|should|could|may|will) (?:i|you)|let me|lemme)$/;

/** `plain` is folded, behind a space. As regular expressions some 200 phrases would take 75 ms to compile. */
function isIn(plain: string, { kind, parts, endsAtWord }: Phrase): boolean {
  const [first = ''] = parts;
  for (let at = plain.indexOf(first); at >= 0; at = plain.indexOf(first, at + 1)) {
    if (kind === 'invitation' && OFFER.test(plain.slice(0, at))) continue;
    if (goesOn(plain, at + first.length, parts, 1, endsAtWord)) return true;
  }
  return false;
}

/** Whether the parts from the `next` one on follow where one ended. */
function goesOn(
  plain: string,
  end: number,
  parts: readonly string[],
  next: number,
  endsAtWord: boolean,
): boolean {
  const part = parts[next];
  const isAtWordEnd = end === plain.length || plain[end] === ' ';
  if (part === undefined) return isAtWordEnd || !endsAtWord;
  let at = isAtWordEnd ? end : -1;
  for (let words = 0; words <= MAX_WORDS_BETWEEN && at >= 0 && at < plain.length; words++) {
    if (plain.startsWith(part, at) && goesOn(plain, at + part.length, parts, next + 1, endsAtWord))
      return true;
    at = plain.indexOf(' ', at + 1);
  }
  return false;
}

/** Normalised text in which spellings that engines mix are one: nuqta, chandrabindu, zero-width joiners. */
function folded(text: string): string {
  return normalised(text.replace(/[\u200c\u200d]/g, ''))
    .normalize('NFD')
    .replace(/[\u093c\u09bc]/g, '')
    .replace(/\u0901/g, '\u0902')
    .normalize('NFC');
}
