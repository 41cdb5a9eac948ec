import type { LanguagePack } from './language-pack.ts';
import { joinWords, type Rule } from './pattern.ts';

/** Parts of one: ".5", "½", "2½", "1 1/2". They come first, since the other rules know whole numbers and decimals. */
const BARE_POINT = /(?<![\p{L}\p{M}\p{N}.])\.(?=\d)/gu;
const SIGNED = /(\d{1,4})?\s?([½¼¾⅓⅔])/gu;
const MIXED = /(?<![\p{L}\p{M}\p{N}.,/])(\d{1,4})\s(1\/2|1\/3|2\/3|1\/4|3\/4)(?![\p{L}\p{M}\p{N}/])/gu;
const WRITTEN: Readonly<Record<string, string>> = {
  '½': '1/2',
  '¼': '1/4',
  '¾': '3/4',
  '⅓': '1/3',
  '⅔': '2/3',
};
const DECIMALS: Readonly<Record<string, string>> = { '1/2': '.5', '1/4': '.25', '3/4': '.75' };
/** Alone, and behind a whole number. */
const ENGLISH: Readonly<Record<string, readonly [string, string]>> = {
  '1/2': ['half', 'a half'],
  '1/4': ['one quarter', 'a quarter'],
  '3/4': ['three quarters', 'three quarters'],
  '1/3': ['one third', 'a third'],
  '2/3': ['two thirds', 'two thirds'],
};
const HINDI: Readonly<Record<string, string>> = {
  '1/2': 'आधा',
  '1/4': 'एक चौथाई',
  '3/4': 'तीन चौथाई',
  '1/3': 'एक तिहाई',
  '2/3': 'दो तिहाई',
};

export const partNumbers: Rule = (text, pack) => {
  const pointed = text.includes('.') ? text.replace(BARE_POINT, '0.') : text;
  if (!/[½¼¾⅓⅔/]/.test(pointed)) return pointed;
  return pointed
    .replace(SIGNED, (_, whole: string | undefined, sign: string) =>
      sayParts(whole, WRITTEN[sign] ?? sign, pack),
    )
    .replace(MIXED, (_, whole: string, part: string) => sayParts(whole, part, pack));
};

function sayParts(whole: string | undefined, part: string, pack: LanguagePack): string {
  if (pack.code.startsWith('en')) {
    const [alone = part, behind = part] = ENGLISH[part] ?? [];
    return whole === undefined ? alone : joinWords(whole, pack.words.and, behind);
  }
  if (pack.code === 'hi-IN') return sayHindiParts(whole, part, pack);
  const decimals = DECIMALS[part];
  if (decimals !== undefined) return `${whole ?? '0'}${decimals}`;
  return joinWords(whole ?? '', part);
}

/** Halves and quarters have words of their own: डेढ़, ढाई, साढ़े तीन, सवा चार, पौने पाँच. */
function sayHindiParts(whole: string | undefined, part: string, pack: LanguagePack): string {
  const say = (value: number) => pack.cardinal?.(String(value), pack.scale) ?? String(value);
  const number = Number(whole ?? 0);
  if (number === 0) return HINDI[part] ?? part;
  if (part === '1/2') return pack.half?.(String(number)) ?? say(number);
  if (part === '1/4') return joinWords('सवा', say(number));
  if (part === '3/4') return joinWords('पौने', say(number + 1));
  return joinWords(say(number), 'सही', HINDI[part] ?? part);
}
