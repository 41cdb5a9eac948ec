import type { VadConfig } from '../../contracts/runtime-config.ts';
import { compileRulePattern } from '../../providers/llm/rule-pattern.ts';
import { type AskedNumber, askedNumber, numberJudge } from './half-number.ts';
import { type Ending, endingJudge } from './open-ending.ts';
import { msOf, samplesOf } from './turn-rules.ts';

/** Changes of the learned wait below this are not worth a line in the record. */
const TOLD_CHANGE_MS = 30;
/** From here on the turn model is as sure as it gets; doubtful words wait for the silence of the call and no longer. */
const SURE = 0.95;
/** Down from here it is not, and they wait as long as open ones. */
const UNSURE = 0.5;

/**
 * How long a pause may be before the turn counts as over, at this moment of this call: the bot's setting, what was
 * learned of this caller (RT-07), and, before both, what the bot has just asked (RT-82).
 */
export class TurnWaits {
  private readonly base: AnswerWaits;
  private readonly learns: boolean;
  private readonly asks: boolean;
  private readonly own: readonly AnswerRule[];
  private readonly pauses = new PauseStatistics();
  private readonly onLearned: (silenceMs: number) => void;
  private readonly endingOf: (text: string) => Ending;
  private readonly numberEnding: (text: string, asked: AskedNumber) => Ending | null;
  private asked: AnswerWaits | null = null;
  private askedNumber: AskedNumber | null = null;
  private toldMs: number;

  /** `language` is what the caller speaks (BCP 47); `onLearned` hears every change of the learned wait. */
  constructor(config: VadConfig, language: string | undefined, onLearned: (silenceMs: number) => void) {
    this.base = { silenceMs: config.turn_silence_ms ?? 700, forcedEndMs: config.turn_forced_end_ms ?? 1_600 };
    this.learns = config.learned_pauses ?? true;
    this.asks = config.question_aware ?? true;
    this.own = ownRules(config);
    this.endingOf = endingJudge(language);
    this.numberEnding = numberJudge(language);
    this.onLearned = onLearned;
    this.toldMs = this.base.silenceMs;
  }

  get silenceSamples(): number {
    return samplesOf(this.asked?.silenceMs ?? this.learnedMs);
  }

  get forcedEndSamples(): number {
    return samplesOf(this.asked?.forcedEndMs ?? this.base.forcedEndMs);
  }

  /**
   * How long after the last word a turn with these words is not over, whoever calls it so: up to the forced end where
   * nobody ends in such words, less where somebody might and `probability` of the turn model says that they have.
   */
  wordSamples(text: string, probability: number | null): number {
    const ending = this.judged(text);
    if (ending === 'whole') return 0;
    const forcedEndMs = Math.max(this.base.forcedEndMs, this.asked?.forcedEndMs ?? 0);
    if (ending === 'open') return samplesOf(forcedEndMs);
    // Silence alone has been waited for already, or an engine that knows the words.
    if (probability === null) return 0;
    const silenceMs = this.learnedMs;
    const doubt = Math.min(1, Math.max(0, (SURE - probability) / (SURE - UNSURE)));
    return samplesOf(silenceMs + doubt * Math.max(0, forcedEndMs - silenceMs));
  }

  /** The caller went on after a pause within their turn. */
  paused(samples: number): void {
    this.pauses.paused(msOf(samples));
    const learnedMs = this.learnedMs;
    if (Math.abs(learnedMs - this.toldMs) < TOLD_CHANGE_MS) return;
    this.toldMs = learnedMs;
    this.onLearned(learnedMs);
  }

  /** What the bot was last heard to say: the caller answers that. */
  botSaid(line: string): void {
    this.asked = this.asks ? waitsAfter(line, this.own) : null;
    this.askedNumber = this.asks ? askedNumber(line) : null;
  }

  /** A part of a number counts where the bot has asked for it, or the caller has said that it comes. */
  private judged(text: string): Ending {
    const asked = this.askedNumber ?? (this.asks ? askedNumber(text) : null);
    return (asked && this.numberEnding(text, asked)) ?? this.endingOf(text);
  }

  private get learnedMs(): number {
    return this.learns ? this.pauses.silenceMs(this.base.silenceMs) : this.base.silenceMs;
  }
}

/** Rules of the bot; a pattern that could take long, or is none, fits nothing (refused when the bot is published). */
function ownRules(config: VadConfig): AnswerRule[] {
  return (config.answer_rules ?? []).flatMap((rule) => {
    const pattern = compileRulePattern(rule.pattern);
    if (typeof pattern === 'string') return [];
    const forcedEndMs = rule.forced_end_ms ?? Math.max(rule.silence_ms, config.turn_forced_end_ms ?? 1_600);
    return [{ name: 'own', pattern, waits: { silenceMs: rule.silence_ms, forcedEndMs } }];
  });
}

/**
 * What the bot has just asked tells how long a pause in the answer may be (RT-82): a yes comes in one piece, an address
 * does not. Rules of a bot come first, the built-in ones for the language of the question after them. The waits are
 * those of an unfinished turn; a turn that the model calls complete ends at once whatever was asked.
 */
interface AnswerWaits {
  /** Silence that ends the turn without the model, in milliseconds. */
  silenceMs: number;
  /** Silence that ends a turn the model calls incomplete. */
  forcedEndMs: number;
}

interface AnswerRule {
  /** Case-insensitive regular expression over the last line of the bot. */
  pattern: RegExp;
  waits: AnswerWaits;
  name: string;
}

const YES_NO: AnswerWaits = { silenceMs: 300, forcedEndMs: 900 };
const DIGITS: AnswerWaits = { silenceMs: 1_500, forcedEndMs: 2_500 };
const SPELLING: AnswerWaits = { silenceMs: 1_200, forcedEndMs: 2_200 };

/** Built-in rules; English, and Hindi in both scripts. The first that fits counts. */
const RULES: readonly AnswerRule[] = [
  {
    name: 'digits',
    waits: DIGITS,
    pattern:
      /\b(phone|mobile|account|card|order|policy|aadhaa?r|pan|reference|otp|pin) ?(card )?(number|no\b|code)|\b(number|digits|pin ?code|otp|address|date of birth|ifsc)\b[^.!?]*\?|नंबर|नम्बर|अंक|पता (बता|क्या)|पिन ?कोड|जन्म ?(तिथि|तारीख)|\b(number|pata) (bata|kya)/iu,
  },
  {
    name: 'spelling',
    waits: SPELLING,
    pattern:
      /\bspell\b|\bfull name\b|\b(your|the) name\b[^.!?]*\?|email|e-mail|स्पेलिंग|पूरा नाम|नाम (क्या|बता)|\bnaam (kya|bata)/iu,
  },
  {
    name: 'yes_no',
    waits: YES_NO,
    pattern:
      /(^|[.!?] )(is|are|was|were|am|do|does|did|can|could|will|would|shall|should|have|has|may) [^.!?]*\?\s*$|\b(right|correct|okay|yes or no)\?\s*$|(^|[।.!?] ?)क्या [^।?]*\?\s*$|(ना|न|सही|ठीक) ?\?\s*$|(^|[.!?] )kya [^?]*(hai|hain|ho|sakte)\?\s*$/iu,
  },
];

/** Longest tail of the bot's line that is looked at. */
const MAX_LINE_CHARS = 400;

/** The waits for the answer to a line of the bot; null where nothing special was asked. */
export function waitsAfter(
  line: string,
  own: readonly AnswerRule[] = [],
): (AnswerWaits & { rule: string }) | null {
  const tail = line.slice(-MAX_LINE_CHARS).trim();
  if (tail === '') return null;
  for (const rule of [...own, ...RULES]) {
    if (rule.pattern.test(tail)) return { ...rule.waits, rule: rule.name };
  }
  return null;
}

/**
 * How long this caller pauses within what they say (RT-07). Whoever thinks between words gets more time, whoever does
 * not is answered sooner. Only pauses that turned out not to be an end count: the caller went on, and nobody else spoke.
 */
const SMOOTHING = 0.9;
const MIN_WAIT_MS = 200;
const MAX_WAIT_MS = 900;
/** The wait stands this far above a usual pause. */
const MARGIN = 1.5;
/** Before so many pauses the bot's own setting counts. */
const MIN_PAUSES = 3;
/** A longer silence within a turn is not a pause of thought. */
const LONGEST_PAUSE_MS = 3_000;

export class PauseStatistics {
  private pauses = 0;
  private meanMs = 0;

  /** The caller went on after a pause within one turn. */
  paused(ms: number): void {
    if (ms <= 0 || ms > LONGEST_PAUSE_MS) return;
    this.pauses++;
    // Until enough is known the plain mean is the better guess.
    const weight = Math.max(1 - SMOOTHING, 1 / this.pauses);
    this.meanMs += weight * (ms - this.meanMs);
  }

  /** Silence that ends a turn without the model; `settingMs` until the caller is known. */
  silenceMs(settingMs: number): number {
    if (this.pauses < MIN_PAUSES) return settingMs;
    return Math.round(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, this.meanMs * MARGIN)));
  }
}
