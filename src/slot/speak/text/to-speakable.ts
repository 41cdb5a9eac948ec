import type { Pronunciation } from '../../../contracts/bot/conversation.ts';
import { cleanText, type FilterCounts, filterClause, isSettled, newFilterCounts } from './filters.ts';
import { newLeakState, withWaiting } from './leaks.ts';
import { Lexicon } from './lexicon.ts';
import { englishElsewhere, englishIndia, englishUnitedStates } from './normalise/english.ts';
import { hindi } from './normalise/hindi.ts';
import { INDIAN_LANGUAGES, otherLanguage } from './normalise/indian-languages.ts';
import type { LanguagePack } from './normalise/language-pack.ts';
import { normalise } from './normalise/normalise.ts';

/**
 * The one way from what a model wrote to what a voice is given: filters (RT-39), numbers in words (RT-40), then the
 * pronunciations of the bot (RT-41). The transcript keeps the text as it was written; heard-original.ts tells how much
 * of it a part of the speech stands for.
 */
export interface SpeakableCounts extends FilterCounts {
  /** Words whose pronunciation the bot gave. */
  pronounced: number;
  /** 1 where numbers, signs or abbreviations were put into words. */
  normalised: number;
}

export interface Speakable {
  /** For the voice; empty where nothing of the text can be said. */
  spoken: string;
  /** What of the text this stands for, as it was written: the clause, without what waits and with what has waited. */
  written: string;
  counts: SpeakableCounts;
}

/** What is the same for all replies of a call; made once. */
export interface SpeakableOptions {
  language: LanguagePack;
  lexicon: Lexicon;
}

/** `language` is the bot's, BCP 47; an unknown one leaves numbers to the voice. */
export function speakableOptions(
  language: string,
  pronunciations: readonly Pronunciation[] = [],
): SpeakableOptions {
  const pack = packOf(language);
  const clean = pronunciations.map(({ word, spoken }) => ({ word, spoken: filterAlone(spoken, pack) }));
  const lexicon = new Lexicon(clean, (word) => inWords(filterAlone(word, pack), pack));
  return { language: pack, lexicon };
}

/** A text that stands alone: an opening line, a prompt, a goodbye. Never throws; its own output it leaves as it is. */
export function toSpeakable(text: string, options: SpeakableOptions): Speakable {
  return new SpeakableReply(options).clause(text, { isLast: true });
}

/** The clauses of one reply, in order: code and tool calls may begin in one and end in another. */
export class SpeakableReply {
  private readonly options: SpeakableOptions;
  private leaks = newLeakState();

  constructor(options: SpeakableOptions) {
    this.options = options;
  }

  /** The same for whoever wants only the written words that can be spoken. */
  readonly words = {
    clause: (text: string) => writtenWords(this.clause(text)),
    /** Null where nothing was kept back that the end of the text decides. */
    end: () => {
      const isOpen = this.leaks.waiting !== '' || this.leaks.hidden !== null;
      return isOpen ? writtenWords(this.clause('', { isLast: true })) : null;
    },
  };

  /** `isLast`: the text ends with this clause, which may be empty; another text may follow. */
  clause(text: string, { isLast = false }: { isLast?: boolean } = {}): Speakable {
    const { language, lexicon } = this.options;
    const counts: SpeakableCounts = { ...newFilterCounts(), pronounced: 0, normalised: 0 };
    const state = this.leaks;
    const whole = withWaiting(state.waiting, text);
    const pack = packForClause(language, whole);
    const clean = filterClause(text, { state, isLast, words: pack.words, counts });
    const written = whole.slice(0, whole.length - state.waiting.length).trimEnd();
    if (isLast) this.leaks = newLeakState();
    if (clean === '') return { spoken: '', written, counts };
    // Without its links and code a clause may be in another script.
    const spokenPack = packForClause(language, clean);
    const inWordsNow = inWords(lexicon.setAside(clean), spokenPack);
    const spoken = lexicon.apply(inWordsNow, () => {
      counts.pronounced += 1;
    });
    if (counts.pronounced === 0 && spoken !== clean) counts.normalised = 1;
    return { spoken: spoken.trim(), written, counts };
  }
}

function writtenWords({ spoken, written }: Speakable): string {
  return spoken === '' ? '' : written;
}

/** Words that come apart may show a rule or a filter something new ("a.com5"); so many rounds settle all of it. */
const MAX_ROUNDS = 4;

function inWords(text: string, pack: LanguagePack): string {
  let spoken = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = cleanText(normalise(spoken, pack), pack.words, newFilterCounts());
    if (next === spoken) break;
    spoken = next;
    // Rules look for digits, capitals and short forms, and there are none.
    if (isSettled(spoken) && !/[A-Z]{2}|\./.test(spoken)) break;
  }
  return spoken;
}

function filterAlone(text: string, pack: LanguagePack): string {
  const counts = newFilterCounts();
  return filterClause(text, { state: newLeakState(), isLast: true, words: pack.words, counts });
}

/** The language of a bot by its BCP 47 tag. English without a region is Indian English, which reads both writings. */
function packOf(language: string): LanguagePack {
  const [primary = '', ...rest] = language.toLowerCase().split(/[-_]/);
  if (primary === 'en') {
    if (rest.includes('us')) return englishUnitedStates;
    return rest.length === 0 || rest.includes('in') ? englishIndia : englishElsewhere;
  }
  if (primary === 'hi') return hindi;
  return INDIAN_LANGUAGES.find((pack) => pack.code.startsWith(`${primary}-`)) ?? otherLanguage;
}

const LATIN = /\p{Script=Latin}/u;

/**
 * The language that the numbers of one clause are said in. Bots mix languages: a Hindi bot that answers in Latin
 * letters speaks English numbers, an English bot that answers in Devanagari speaks Hindi ones.
 */
function packForClause(base: LanguagePack, clause: string): LanguagePack {
  if (base === otherLanguage || base.letter.test(clause)) return base;
  if (LATIN.test(clause)) return englishIndia;
  if (hindi.letter.test(clause)) return hindi;
  return INDIAN_LANGUAGES.find((pack) => pack.letter.test(clause)) ?? base;
}
