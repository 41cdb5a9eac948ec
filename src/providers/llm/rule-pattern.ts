/**
 * Patterns of a bot come from a form and meet what callers say, in a process that must send a frame every 20 ms. The
 * regular expressions of the language may take exponential time, so only a tame subset passes:
 *
 * - at most 300 characters, no back-reference, no look-around;
 * - a group that is repeated (`*`, `+`, `{n}`) holds no quantifier and no alternative, which is where `(a+)+` and
 *   `(a|aa)+` explode;
 * - at most 2 unbounded quantifiers, and at most 10 other choices (`?`, `{n,m}`, alternatives inside groups), so that
 *   the ways to match one text stay few. Alternatives at the top level are free: they are tried one after another.
 */
export const MAX_PATTERN_LENGTH = 300;
const MAX_UNBOUNDED = 2;
const MAX_CHOICES = 10;
const MAX_REPEAT = 50;

/** Only this much of what a caller said is matched; what is beyond is not looked at. */
export const MAX_INPUT_LENGTH = 500;

/** The compiled pattern, case-insensitive, or the sentence that says why it is refused. */
export function compileRulePattern(source: string): RegExp | string {
  if (source.length === 0) return 'is empty; use "." to match any words';
  if (source.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`;
  let compiled: RegExp;
  try {
    compiled = new RegExp(source, 'iu');
  } catch (error) {
    return `is no regular expression: ${(error as Error).message}`;
  }
  return findDanger(source) ?? compiled;
}

interface Scan {
  /** Per open group: whether it holds a quantifier or an alternative so far. */
  groups: boolean[];
  unbounded: number;
  choices: number;
}

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** Expects a source that compiles, so brackets are known to be balanced. */
function findDanger(source: string): string | null {
  const scan: Scan = { groups: [], unbounded: 0, choices: 0 };
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    const opening = /^\((?:\?(?:<[^=!][^>]*>|[^<]|<[=!]))?/.exec(rest);
    let closedWithChoices = false;
    if (/^\\(?:[1-9]|k)/.test(rest)) return 'holds a back-reference; name the words themselves';
    if (opening) {
      if (/^\(\?<?[=!]/.test(opening[0])) return 'looks ahead or behind; match the words themselves';
      scan.groups.push(false);
      // A quantifier may not follow an opening bracket, so its length is all there is to skip.
      at += opening[0].length;
      continue;
    }
    if (rest[0] === '|') {
      if (scan.groups.length > 0) {
        scan.groups[scan.groups.length - 1] = true;
        scan.choices++;
      }
      at++;
    } else if (rest[0] === ')') {
      closedWithChoices = scan.groups.pop() ?? false;
      if (closedWithChoices && scan.groups.length > 0) scan.groups[scan.groups.length - 1] = true;
      at++;
    } else {
      at += atomLength(rest);
    }
    const quantifier = QUANTIFIER.exec(source.slice(at))?.[0];
    if (!quantifier) continue;
    at += quantifier.length;
    const danger = countQuantifier(scan, quantifier, closedWithChoices);
    if (danger) return danger;
  }
  if (scan.unbounded > MAX_UNBOUNDED) return `repeats without bound more than ${MAX_UNBOUNDED} times`;
  if (scan.choices > MAX_CHOICES) return `has more than ${MAX_CHOICES} choices; split the rule in two`;
  return null;
}

function countQuantifier(scan: Scan, quantifier: string, ofGroupWithChoices: boolean): string | null {
  const optional = /^\?/.test(quantifier) || /^\{0,1\}/.test(quantifier);
  if (ofGroupWithChoices && !optional) {
    return 'repeats a group that itself repeats or chooses; that can take for ever on some words';
  }
  if (/^(?:[*+]|\{\d+,\})/.test(quantifier)) scan.unbounded++;
  else scan.choices++;
  const bounds = quantifier.match(/\d+/g) ?? [];
  if (bounds.some((bound) => Number(bound) > MAX_REPEAT)) return `repeats more than ${MAX_REPEAT} times`;
  if (scan.groups.length > 0) scan.groups[scan.groups.length - 1] = true;
  return null;
}

/** Length of the character, escape or character class that `rest` begins with. */
function atomLength(rest: string): number {
  if (rest[0] === '\\')
    return /^\\(?:u\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^}]*\}|.)/isu.exec(rest)?.[0].length ?? 1;
  if (rest[0] === '[') return /^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0].length ?? 1;
  return 1;
}
