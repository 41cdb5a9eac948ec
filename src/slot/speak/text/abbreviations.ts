/** Full stops that end no sentence. */
const NEVER_AN_END = new Set(
  'mr mrs ms dr prof rs vs approx dept ext fig st smt shri sh e.g i.e w.r.t डॉ रु रू श्री प्रो कि मि सु'.split(
    ' ',
  ),
);
/** Ends of a sentence only where a new one visibly begins behind them. */
const PERHAPS_AN_END = new Set('etc a.m p.m ltd pvt inc co corp jr sr p.a'.split(' '));
/** Longer than any word of the lists. */
const LOOK_BACK_CHARS = 8;
/** Spaces between a full stop and what follows; more than this many count as a new sentence. */
const LOOK_AHEAD_CHARS = 8;

/** Whether the full stop at `at`, with a space behind it, ends a sentence; null while the next word must tell. */
export function isFullStopAnEnd(text: string, at: number): boolean | null {
  const before = text.slice(Math.max(0, at - LOOK_BACK_CHARS), at);
  const word = /[\p{L}\p{M}][\p{L}\p{M}.]*$/u.exec(before)?.[0] ?? '';
  const lower = word.toLowerCase();
  if (NEVER_AN_END.has(lower)) return false;
  // An initial, as in "A. K. Rao"; "I" is a word.
  if (/^[A-HJ-Z]$/.test(word)) return false;
  // "1. Pay now": the number of a list stands alone.
  if (/^\s*\d{1,2}$/.test(text.slice(0, at))) return false;
  if (lower !== 'no' && !PERHAPS_AN_END.has(lower)) return true;
  const next = text.slice(at + 1, at + 1 + LOOK_AHEAD_CHARS).trimStart();
  if (next === '') return text.length > at + LOOK_AHEAD_CHARS ? true : null;
  if (lower === 'no') return !/^[\d#]/.test(next);
  return /^[\p{Lu}\p{Lo}"'“‘]/u.test(next);
}
