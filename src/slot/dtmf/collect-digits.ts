import { MAX_COLLECT_MS, MAX_COLLECTED_DIGITS, MAX_INTER_DIGIT_MS } from '../../contracts/digit-tools.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/** Digits that belong together: an account number, a PIN, a choice from a menu (RT-32). */
export interface CollectRules {
  minDigits: number;
  maxDigits: number;
  /** The key that ends the entry and is no part of it; null where only number or time does. */
  terminator: string | null;
  /** Silence after a digit that ends the entry. */
  interDigitMs: number;
  /** Silence before the first one, and the most that the whole entry takes. */
  totalMs: number;
  /** Nobody but the tool that needs them sees the digits. */
  isSecret: boolean;
}

/** Two seconds for the next digit, and `#` ends them: what callers know from other systems (D-40). */
export const COLLECT_DEFAULTS: CollectRules = {
  minDigits: 1,
  maxDigits: 16,
  terminator: '#',
  interDigitMs: 2_000,
  totalMs: 20_000,
  isSecret: false,
};

export interface DigitCollection {
  readonly rules: CollectRules;
  readonly fromSample: number;
  digits: string;
  lastSample: number;
  result: CollectResult | null;
}

export interface CollectResult {
  status: 'complete' | 'too_few' | 'no_input' | 'cancelled' | 'hung_up';
  endedBy: 'terminator' | 'max_digits' | 'pause' | 'total_time' | 'cancel' | 'hang_up';
  /** What was pressed. Of a secret entry these go to the tool that asked for them, and nowhere else. */
  digits: string;
  /** The same for transcript, journal, events and logs: masked where secret. */
  shown: string;
}

/** Waits for digits from `nowSample` of the line clock on (the end of the prompt, or its beginning). */
export function collectDigits(rules: CollectRules, nowSample: number): DigitCollection {
  return { rules, fromSample: nowSample, digits: '', lastSample: nowSample, result: null };
}

/** A key was pressed. Returns the result where that ended the entry; keys after the end are ignored. */
export function pressDigit(
  collection: DigitCollection,
  digit: string,
  atSample: number,
): CollectResult | null {
  if (collection.result) return null;
  const { rules } = collection;
  if (digit === rules.terminator) return end(collection, 'terminator');
  collection.digits += digit;
  collection.lastSample = Math.max(collection.lastSample, atSample);
  return collection.digits.length >= rules.maxDigits ? end(collection, 'max_digits') : null;
}

/** Time has passed; call it every frame. */
export function tickDigits(collection: DigitCollection, nowSample: number): CollectResult | null {
  if (collection.result) return null;
  const { rules } = collection;
  if (nowSample - collection.fromSample >= toSamples(rules.totalMs)) return end(collection, 'total_time');
  const hasPaused = nowSample - collection.lastSample >= toSamples(rules.interDigitMs);
  return collection.digits.length > 0 && hasPaused ? end(collection, 'pause') : null;
}

/** The caller speaks instead, or the call ends; `hang_up` where it was the caller who ended it. */
export function cancelDigits(
  collection: DigitCollection,
  by: 'cancel' | 'hang_up' = 'cancel',
): CollectResult | null {
  return collection.result ? null : end(collection, by);
}

/** Digits as they may stand where people read them; the number of them is hidden too. */
export function shownDigits(digits: string, isSecret: boolean): string {
  return isSecret && digits !== '' ? MASK.repeat(4) : digits;
}

/** Rules from the arguments of a call of `collect_digits` (contracts/digit-tools.ts); what is missing or out of bounds takes its default or its bound. */
export function collectRules(args: Readonly<Record<string, unknown>>): CollectRules {
  const maxDigits = bounded(args.max_digits, COLLECT_DEFAULTS.maxDigits, 1, MAX_COLLECTED_DIGITS);
  const terminator = args.terminator;
  return {
    minDigits: bounded(args.min_digits, COLLECT_DEFAULTS.minDigits, 1, maxDigits),
    maxDigits,
    terminator: terminator === '' ? null : terminator === '*' ? '*' : COLLECT_DEFAULTS.terminator,
    interDigitMs: bounded(args.inter_digit_ms, COLLECT_DEFAULTS.interDigitMs, 500, MAX_INTER_DIGIT_MS),
    totalMs: bounded(args.timeout_ms, COLLECT_DEFAULTS.totalMs, 1_000, MAX_COLLECT_MS),
    isSecret: args.secret === true,
  };
}

const MASK = '•';

function end(collection: DigitCollection, endedBy: CollectResult['endedBy']): CollectResult {
  const { digits, rules } = collection;
  const isEnough = digits.length >= rules.minDigits;
  const complete = isEnough ? 'complete' : digits === '' ? 'no_input' : 'too_few';
  const status = endedBy === 'cancel' ? 'cancelled' : endedBy === 'hang_up' ? 'hung_up' : complete;
  collection.result = { status, endedBy, digits, shown: shownDigits(digits, rules.isSecret) };
  return collection.result;
}

function bounded(value: unknown, fallback: number, least: number, most: number): number {
  const wanted = typeof value === 'number' && Number.isFinite(value) ? Math.round(value) : fallback;
  return Math.max(least, Math.min(most, wanted));
}

function toSamples(ms: number): number {
  return (ms * LINE_RATE_HZ) / 1_000;
}
