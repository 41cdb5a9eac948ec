/**
 * What the bot has just asked tells how long a pause in the answer may be (RT-82): a yes comes in one piece, an address
 * does not. Rules of a bot come first, the built-in ones for the language of the question after them. The waits are
 * those of an unfinished turn; a turn that the model calls complete ends at once whatever was asked.
 */
export interface AnswerWaits {
  /** Silence that ends the turn without the model, in milliseconds. */
  silenceMs: number;
  /** Silence that ends a turn the model calls incomplete. */
  forcedEndMs: number;
}

export interface AnswerRule {
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
