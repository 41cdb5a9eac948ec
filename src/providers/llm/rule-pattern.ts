/**
 * Patterns of a bot come from a form and meet what callers say, in a process that must send a frame every 20 ms. A
 * regular expression may try more ways than there are seconds, so only a tame subset passes:
 *
 * - at most 300 characters, no back-reference, no look-around;
 * - a group that is repeated (`*`, `+`, `{n}`) holds no quantifier and no alternative, which is where `(a+)+` and
 *   `(a|aa)+` explode;
 * - the ways to match stay below 100,000, counted as if each choice were free: as many per quantifier as it allows
 *   repeats (300 for `*` and `+`, 2 for `?`), as many per group as it has alternatives. So two `*` are fine and three
 *   are not; `\w{3,8}` costs 6. Alternatives at the top level are free: they are tried one after another.
 */
export const MAX_PATTERN_LENGTH = 300;
const MAX_WAYS = 100_000;

/** Only this much of what a caller said is matched; what is beyond is not looked at. */
export const MAX_INPUT_LENGTH = 300;

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

interface Group {
  /** It holds a quantifier or an alternative, so far. */
  chooses: boolean;
  alternatives: number;
}

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** Expects a source that compiles, so brackets are known to be balanced. */
function findDanger(source: string): string | null {
  const open: Group[] = [];
  let ways = 1;
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    let closed: Group | undefined;
    if (/^\\(?:[1-9]|k)/.test(rest)) return 'holds a back-reference; name the words themselves';
    if (rest[0] === '(') {
      if (/^\(\?<?[=!]/.test(rest)) return 'looks ahead or behind; match the words themselves';
      open.push({ chooses: false, alternatives: 1 });
      // Nothing can be repeated directly behind an opening bracket, so its own sign is all there is to skip.
      at += /^\((?:\?(?:<[^>]*>|[^:]*:))?/.exec(rest)?.[0].length ?? 1;
      continue;
    }
    if (rest[0] === '|') {
      const group = open.at(-1);
      if (group) {
        group.chooses = true;
        group.alternatives++;
      }
      at++;
      continue;
    }
    if (rest[0] === ')') {
      closed = open.pop();
      ways *= closed?.alternatives ?? 1;
      at++;
    } else {
      at += atomLength(rest);
    }
    const quantifier = QUANTIFIER.exec(source.slice(at))?.[0] ?? '';
    at += quantifier.length;
    const repeats = repeatsOf(quantifier);
    if (closed?.chooses && repeats.most > 1) {
      return 'repeats a group that itself repeats or chooses; that can take for ever on some words';
    }
    ways *= repeats.most - repeats.least + 1;
    const group = open.at(-1);
    if (group && (quantifier !== '' || closed?.chooses)) group.chooses = true;
  }
  return ways > MAX_WAYS ? `could match in more than ${MAX_WAYS} ways; split the rule in two` : null;
}

function repeatsOf(quantifier: string): { least: number; most: number } {
  const sign = quantifier[0];
  if (sign === undefined) return { least: 1, most: 1 };
  if (sign === '?') return { least: 0, most: 1 };
  if (sign === '*') return { least: 0, most: MAX_INPUT_LENGTH };
  if (sign === '+') return { least: 1, most: MAX_INPUT_LENGTH };
  const [, least = '0', comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (!comma) return { least: Number(least), most: Number(least) };
  return { least: Number(least), most: most ? Number(most) : MAX_INPUT_LENGTH };
}

/** Length of the character, escape or character class that `rest` begins with. */
function atomLength(rest: string): number {
  if (rest[0] === '\\')
    return /^\\(?:u\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^}]*\}|.)/isu.exec(rest)?.[0].length ?? 1;
  if (rest[0] === '[') return /^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0].length ?? 1;
  return 1;
}
