import { fillIn, type PackWords } from './normalise/language-pack.ts';

/**
 * Signs that mean markup elsewhere and have words before a number: "<18", "±5 %", "*123#", "press *". They are said
 * before the filters take such signs away. Without a word a sign stays for the filters.
 */
export function withSpokenSigns(text: string, words: PackWords): string {
  return /[<>≤≥⩽⩾±*#+]/.test(text) ? withKeys(withComparators(text, words), words) : text;
}

/** An amount as far as it belongs to the sign before it: currency, number, and what is written right behind. */
const AMOUNT =
  '(?:(?:[₹$€£]|Rs\\.?|INR)\\s?)?-?\\d{1,18}(?:,\\d{2,3}){0,6}(?:\\.\\d{1,6})?(?:\\s?%|\\s?°[CF]?|\\s?[a-zA-Z]{1,5}(?![\\p{L}\\p{M}\\p{N}]))?';
const COMPARATOR = new RegExp(
  `(?<![-=<>])(<=|>=|=<|=>|[<>≤≥⩽⩾±]|\\+/-|\\+-)\\s?(?=[₹$€£RI\\d-])(${AMOUNT})`,
  'gu',
);
const PHRASES: Readonly<Record<string, keyof PackWords>> = {
  '<': 'lessThan',
  '>': 'moreThan',
  '<=': 'atMost',
  '=<': 'atMost',
  '≤': 'atMost',
  '⩽': 'atMost',
  '>=': 'atLeast',
  '=>': 'atLeast',
  '≥': 'atLeast',
  '⩾': 'atLeast',
  '±': 'plusMinus',
  '+/-': 'plusMinus',
  '+-': 'plusMinus',
};
/** Words of English that follow a number and are no unit of it. */
const NO_UNIT = /\s(?:and|or|to|is|are|in|on|at|by|for|of|the|we|you|it|if|but|as|hai|ka|ke|ki|ko|se)$/i;

function withComparators(text: string, words: PackWords): string {
  return text.replace(COMPARATOR, (written, sign: string, amount: string) => {
    const phrase = words[PHRASES[sign] ?? 'lessThan'];
    if (phrase === '') return written;
    const behind = NO_UNIT.exec(amount)?.[0] ?? '';
    return ` ${fillIn(phrase, amount.slice(0, amount.length - behind.length))}${behind}`;
  });
}

/** What is dialled on a keypad and no number: "*123#", "*#06#". */
const KEY_CODE = /(?<![\p{L}\p{N}*#])[*#]{1,2}\d{1,8}(?:[*#]\d{1,20}){0,6}#/gu;
/** A single key, by the word before it or behind it. */
const LONE_KEY =
  /[*#](?=[\s.,;:!?)।]|$)(?:(?<=(?:press|pressing|dial|hit|enter|tap|push)\s[^.*#\n]{0,12}[*#])|(?=\s(?:key|sign|button|दबा|डायल)))/giu;

function withKeys(text: string, words: PackWords): string {
  const { star, hash } = words;
  if (star === '' || hash === '') return text;
  const named = (key: string) => (key === '*' ? star : key === '#' ? hash : key);
  return text
    .replace(KEY_CODE, (code) => ` ${[...code].map(named).join(' ')}`)
    .replace(LONE_KEY, (key) => named(key));
}
