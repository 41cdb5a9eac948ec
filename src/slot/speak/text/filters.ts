import { type LeakState, withoutLeaks } from './leaks.ts';
import type { PackWords } from './normalise/language-pack.ts';
import { withSiteNames } from './site-names.ts';
import { withSpokenSigns } from './spoken-signs.ts';

/**
 * Takes out of a clause what cannot be said (RT-39): machine text, markdown, addresses, emoji, and characters that
 * would break the markup of a voice. Always on; what was taken is counted and never logged, because it is the call's.
 */
export interface FilterCounts {
  /** Marks of emphasis, lists, headings, tables, links. */
  markdown: number;
  /** Web and mail addresses that are now said as site names. */
  links: number;
  emoji: number;
  /** Pieces of code, JSON, tool calls and hidden thinking. */
  leaks: number;
  /** Tags, and characters that no voice can be sent. */
  unsafe: number;
}

export function newFilterCounts(): FilterCounts {
  return { markdown: 0, links: 0, emoji: 0, leaks: 0, unsafe: 0 };
}

/** One clause, cleaned; empty where nothing of it can be said. */
export function filterClause(
  clause: string,
  options: { state: LeakState; isLast: boolean; words: PackWords; counts: FilterCounts },
): string {
  const { counts, words } = options;
  const visible = withoutLeaks(clause, options.state, options.isLast, () => {
    counts.leaks += 1;
  });
  // Private-use characters mean nothing to anyone but the lexicon, which uses them from here on.
  const common = visible.replace(/\p{Co}/gu, () => {
    counts.unsafe += 1;
    return '';
  });
  return cleanText(common, words, counts);
}

/** Taking one mark away can bring another to light ("*_*"); so many rounds, then whatever marks remain go at once. */
const MAX_ROUNDS = 4;

/**
 * Words with single spaces between them and at most one sign behind each, which no filter changes; most of what is
 * said is that, once its numbers are words. Among the letterlike symbols and the marks are parts of emoji.
 */
const SETTLED =
  /^(?:(?:(?![\u2100-\u214f]|\u20e3|\ufe0e|\ufe0f)[\p{L}\p{M}])+(?:[,.!?।](?= |$))?(?: (?=[\p{L}\p{M}])|$))+$/u;

/** Whether a text is words alone, in which no filter finds anything. */
export function isSettled(text: string): boolean {
  return SETTLED.test(text) && text === text.normalize('NFC');
}

/** The part that needs no state: done again it changes nothing. */
export function cleanText(text: string, words: PackWords, counts: FilterCounts): string {
  let clean = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (isSettled(clean)) return clean;
    const next = cleanOnce(clean, words, counts);
    if (next === clean) return clean;
    clean = next;
  }
  return tidy(clean.replace(/[^\p{L}\p{M}\p{N}\p{Co}\s.,!?।]/gu, ' '));
}

function cleanOnce(text: string, words: PackWords, counts: FilterCounts): string {
  const take = (kind: keyof FilterCounts, from: string, pattern: RegExp, put: string) =>
    from.replace(pattern, (...match: unknown[]) => {
      counts[kind] += 1;
      return put.replace(/\$(\d)/g, (_, group: string) => String(match[Number(group)] ?? ''));
    });
  let clean = text.normalize('NFC');
  // Most clauses have no sign that any filter but these looks for.
  if (ORDINARY.test(clean)) {
    if (clean.includes('--')) clean = take('markdown', clean, TABLE_RULE, '');
    for (const [pattern, put] of LINE_MARKS) clean = take('markdown', clean, pattern, put);
    return tidy(clean);
  }
  clean = take('unsafe', clean, /&(?:amp|#38);/gi, '&');
  clean = take('unsafe', clean, /&(?:nbsp|#160|lt|#60|gt|#62);/gi, ' ');
  clean = take('unsafe', clean, /&(?:quot|#34|apos|#39);/gi, "'");
  if (/[[(【.]/.test(clean))
    for (const [pattern, put] of LEAKED_MARKS) clean = take('leaks', clean, pattern, put);
  clean = withSpokenSigns(clean, words);
  for (const [pattern, put] of LINK_MARKS) clean = take('markdown', clean, pattern, put);
  clean = withSiteNames(clean, words, () => {
    counts.links += 1;
  });
  clean = take('unsafe', clean, /<[a-z/!?][^<>]{0,200}>/gi, ' ');
  if (clean.includes('--')) clean = take('markdown', clean, TABLE_RULE, '');
  for (const [pattern, put] of LINE_MARKS) clean = take('markdown', clean, pattern, put);
  for (const [pattern, put] of MARKDOWN) clean = take('markdown', clean, pattern, put);
  clean = take('emoji', clean, EMOTICON, '');
  clean = take('emoji', clean, EMOJI, ' ');
  clean = take('unsafe', clean, /\s?&\s?/g, words.and === '' ? ' ' : ` ${words.and} `);
  for (const [pattern, put] of UNSAFE) clean = take('unsafe', clean, pattern, put);
  return tidy(clean);
}

/** Words, numbers and the signs of sentences; a full stop within a word may be an address. */
const ORDINARY =
  /^(?:(?![\u2100-\u214f]|\u20e3|\ufe0e|\ufe0f)[\p{L}\p{M}\p{N} \n\t,!?'’-]|\.(?![\p{L}\p{M}\p{N}]))*$/u;

type Replacement = readonly [RegExp, string];

/** Calls written as code, and the marks that some models set before a call. */
const LEAKED_MARKS: readonly Replacement[] = [
  [/\[(?:\/?TOOL_CALLS?|tool_calls?[^[\]]{0,200})\]/gi, ' '],
  [
    /(?<![\p{L}\p{N}_.])(?:(?:functions|default_api|tools|print)[.(]){0,2}[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,6}\([^()]{0,500}\)\)?/gu,
    ' ',
  ],
  [/(?<![\p{L}\p{N}_.])(?:functions|default_api)\.[a-z0-9_]{1,60}(?:\([^()]{0,500}\))?/gu, ' '],
  [/【[^【】]{0,80}】/g, ''],
];

const LINK_MARKS: readonly Replacement[] = [
  [/<(https?:\/\/[^\s<>]{1,1024}|[^\s<>@]{1,64}@[^\s<>@]{1,200})>/gi, '$1'],
  [/!?\[([^[\]\n]{0,300})\]\([^()\s]{0,600}(?:\s"[^"\n]{0,100}")?\)/g, '$1'],
  [/\[\^?\d{1,3}\]/g, ''],
  // The halves of a link that a clause border parted.
  [/\]\([^()\s]{0,600}\)/g, ''],
  [/\[([^[\]\n]{0,300})\]/g, '$1'],
];

const TABLE_RULE = /^[|:\s-]{0,200}--[|:\s-]{0,200}$/gm;
/** Of lists and quotations, before the first word of a line. */
const LINE_MARKS: readonly Replacement[] = [
  [/^[ \t]{0,20}[>#*+•‣▪◦–—-][ \t>#*+•‣▪◦–—-]{0,20}[ \t]/gm, ''],
  [/^[ \t]{0,20}(\d{1,2})[.)][ \t]{1,20}(?=\S)/gm, '$1, '],
];

const MARKDOWN: readonly Replacement[] = [
  // Masked digits are written with stars too; the number rules know "XX".
  [/(?<!\*)\*{3,24}[ -]?(?=\d{2,6}(?![\d*]))/g, 'XX'],
  [/(\d)\s?\*\s?(?=\d)/g, '$1 × '],
  [/\*{1,50}/g, ''],
  [/~{2,}/g, ''],
  [/`{1,50}/g, ''],
  [/(?<![\p{L}\p{N}])_{1,50}|_{1,50}(?![\p{L}\p{N}_])/gu, ''],
  [/_{1,50}/g, ' '],
  [/\s?\|\s?/g, ', '],
  [/#(?!\d)/g, ''],
];

const EMOTICON = /(?<!\S)[:;=]['-]?[()DPp|/]{1,3}(?!\S)/g;
/** Pictures, their skin tones and selectors, flags, and symbols that have no reading; the degree sign has one. */
const EMOJI =
  /\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u{1f3fb}-\u{1f3ff}\ufe0e\ufe0f\u20e3]|[\u{e0020}-\u{e007f}]|[\u2190-\u21ff]|(?!°)\p{So}/gu;

const UNSAFE: readonly Replacement[] = [
  [/[\u2028\u2029\v\f\r]/g, '\n'],
  [/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, ' '],
  [/[\p{Cn}\p{Cs}\ufffd]/gu, ''],
  // Joiners shape Indian letters; anywhere else they are remains of emoji.
  [/[\u200c\u200d](?![\p{L}\p{M}])|(?<![\p{L}\p{M}])[\u200c\u200d]/gu, ''],
  [/[<>{}[\]\\^]/g, ' '],
];

const WORD_END = /[\p{L}\p{M}\p{N}"'”’)]$/u;

/** One line, single spaces, no space before punctuation, nothing but words around it. */
function tidy(text: string): string {
  const lines = text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
  const flat = lines
    .replace(/\n/g, (_, at: number, whole: string) =>
      WORD_END.test(whole.slice(Math.max(0, at - 2), at)) ? ', ' : ' ',
    )
    .replace(/\( ?\)/g, '')
    .replace(/\( /g, '(')
    .replace(/ \)/g, ')')
    .replace(/ {2,}/g, ' ')
    .replace(/ (?=[,.!?;:।॥])(?![.,]\d)/g, '')
    .replace(/,(?: ?,)+/g, ',')
    .replace(/[,;:] ?(?=[.!?।])/g, '')
    .replace(/^(?:[\s,;:]|\.{2,}|\.(?!\d))+/, '')
    .trim();
  return /[\p{L}\p{N}\p{Co}]/u.test(flat) ? flat : '';
}
