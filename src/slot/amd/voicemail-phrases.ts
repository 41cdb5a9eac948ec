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
 * the bot and in English and Hindi, which the networks of India speak everywhere (RT-27, RT-29). Compile once per call.
 */
export function phraseFinder(
  language: string | undefined,
  own: OwnPhrases = {},
): (text: string) => PhraseFinding[] {
  const base = (language ?? '').toLowerCase().split('-')[0] ?? '';
  const patterns: { kind: PhraseKind; phrase: string; pattern: RegExp }[] = [];
  const add = (kind: PhraseKind, phrases: readonly string[]) => {
    for (const phrase of phrases) {
      const pattern = compile(phrase, kind === 'invitation' ? NO_OFFER : '');
      if (pattern) patterns.push({ kind, phrase, pattern });
    }
  };
  for (const name of new Set(['en', 'hi', base])) {
    for (const kind of KINDS) add(kind, ANSWER_PHRASES.get(`${name} ${kind}`) ?? []);
  }
  add('mailbox', own.voicemail ?? []);
  add('screening', own.screening ?? []);
  return (text) => {
    const plain = folded(text.slice(0, MAX_TEXT));
    if (plain === '') return [];
    return patterns
      .filter(({ pattern }) => pattern.test(plain))
      .map(({ kind, phrase }) => ({ kind, phrase }));
  };
}

/** "Do you want to leave a message" is asked by a person who answers for another one. */
const NO_OFFER = '(?<!you (?:want|like|wish) to|(?:can|shall|should|could|may|will) (?:i|you)|let me|lemme)';

/**
 * A phrase begins at a word and, in Latin letters, ends at one; Indian scripts put endings onto their words. A star
 * stands for up to four words, since engines and announcements put some in between.
 */
function compile(phrase: string, notAfter: string): RegExp | null {
  const words = phrase
    .split('*')
    .map(folded)
    .filter((part) => part !== '');
  if (words.length === 0) return null;
  const end = /\p{Script=Latin}$/u.test(words.at(-1) ?? '') ? '(?![\\p{L}\\p{M}\\p{N}])' : '';
  return new RegExp(`${notAfter}(?:^| )${words.join('(?: [^ ]+){0,4} ')}${end}`, 'u');
}

/** Normalised text in which spellings that engines mix are one: nuqta, chandrabindu, zero-width joiners. */
function folded(text: string): string {
  return normalised(text.replace(/[\u200c\u200d]/g, ''))
    .normalize('NFD')
    .replace(/[\u093c\u09bc]/g, '')
    .replace(/\u0901/g, '\u0902')
    .normalize('NFC');
}
