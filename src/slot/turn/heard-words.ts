import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { isCheckIn, wordCount } from './interruption-meaning.ts';
import type { SaidWords } from './said-words.ts';
import type { InterruptionMeaning, TurnState } from './turn-types.ts';

/** Words of the bot that come back from the far end are understood no later than this after they were heard there. */
const ECHO_WORDS_SAMPLES = 1.5 * LINE_RATE_HZ;
/** Of what sounds like the bot, so few words on the way tell nothing: an engine may have misheard them. */
const TOO_FEW_TO_TELL = 2;
/** What begins in this last part of a question can be its answer (RT-13). */
const ANSWER_MS = 1_500;

export interface HeardWordsOptions {
  /** What words mean by the lists alone. */
  meaningOf: (text: string) => InterruptionMeaning;
  /** Whether words of such a meaning can answer a question. */
  canAnswer: (text: string, meaning: InterruptionMeaning) => boolean;
  /** What is still to be heard of the reply, where it has all its words and ends with a question; else null. */
  questionLeftMs: () => number | null;
  /** What an echo can bring back (RT-18). */
  said: Pick<SaidWords, 'holds'>;
}

/**
 * What words mean at this moment of a call, over what the lists say of them: whether they are the bot's own, which come
 * back; an answer to what it is just asking; or a question whether it is still there.
 */
export class HeardWords {
  private readonly options: HeardWordsOptions;
  /** What was left of the bot's question when the latest speech began; null where that was not known. */
  private questionLeftMs: number | null = null;

  constructor(options: HeardWordsOptions) {
    this.options = options;
  }

  /** Somebody has begun to speak, so long ago. */
  speechStarted(agoMs: number): void {
    const leftMs = this.options.questionLeftMs();
    this.questionLeftMs = leftMs === null ? null : leftMs + agoMs;
  }

  /** Words on the way; the final ones may be others. */
  soFar(text: string, state: TurnState, nowSample: number): InterruptionMeaning {
    const { turn } = state;
    // Of words that come without speech nothing else tells whose they are; over the bot, the whole text will tell.
    const mayBeEcho = !turn || turn.isDoubted || turn.isInterruptionCandidate;
    const meaning = this.meaning(text, state, nowSample, mayBeEcho);
    const tellsNothing = turn?.isDoubted === true && wordCount(text) <= TOO_FEW_TO_TELL;
    return tellsNothing && meaning === 'interruption' ? 'nothing' : meaning;
  }

  /** The text that a turn was asked for. */
  final(text: string, turnId: number, state: TurnState, nowSample: number): InterruptionMeaning {
    const { turn, unheard } = state;
    const wasDoubted =
      turn?.id === turnId ? turn.wasAskedInDoubt : unheard?.turn === turnId && unheard.wasDoubted;
    return this.meaning(text, state, nowSample, wasDoubted);
  }

  /** The text of an engine that detects turns; `lineEchoes` where an echo was heard in this call before. */
  ofEngine(text: string, state: TurnState, nowSample: number, lineEchoes: boolean): InterruptionMeaning {
    const { turn } = state;
    const mayBeEcho = turn
      ? turn.isDoubted || turn.wasAskedInDoubt
      : lineEchoes || wordCount(text) > TOO_FEW_TO_TELL;
    return this.meaning(text, state, nowSample, mayBeEcho);
  }

  private meaning(
    text: string,
    state: TurnState,
    nowSample: number,
    mayBeEcho: boolean,
  ): InterruptionMeaning {
    const { reply, turn, unheard } = state;
    const fromSample = turn?.fromSample ?? unheard?.fromSample ?? nowSample - ECHO_WORDS_SAMPLES;
    if (mayBeEcho && this.options.said.holds(text, fromSample, nowSample)) return 'echo';
    const meaning = this.options.meaningOf(text);
    // Somebody who only asks whether the bot is there does not take back what they asked before.
    const owes = reply !== null && !reply.wasAudible;
    if (owes && meaning !== 'nothing' && isCheckIn(text)) return 'backchannel';
    return turn?.isInterruptionCandidate && this.isAnswer(text, meaning) ? 'answer' : meaning;
  }

  private isAnswer(text: string, meaning: InterruptionMeaning): boolean {
    const leftMs = this.questionLeftMs ?? this.options.questionLeftMs();
    return leftMs !== null && leftMs <= ANSWER_MS && this.options.canAnswer(text, meaning);
  }
}
