import { digitGroups, fillIn, type LanguagePack, type Scale, sayDigits } from './language-pack.ts';
import { anyOf, END, joinWords, NUMBER, patternFor, type Rule, START } from './pattern.ts';

/** A written number in its parts; `scale` is what its grouping commas tell, null where they tell nothing. */
export interface WrittenNumber {
  whole: string;
  fraction: string;
  scale: Scale | null;
}

/** Longer numbers are said digit by digit: nobody counts in them, and doubles would not hold them. */
const MAX_CARDINAL_DIGITS = 15;

export function readNumber(written: string): WrittenNumber {
  const [whole = '', fraction = ''] = written.split('.');
  const scale = /^\d{1,3}(?:,\d{3}){2,}$/.test(whole)
    ? 'western'
    : /^\d{1,2}(?:,\d{2})+,\d{3}$/.test(whole)
      ? 'indian'
      : null;
  return { whole: whole.replaceAll(',', ''), fraction, scale };
}

/** A whole number in words, or in plain digits where the language leaves numbers to its voice. */
export function sayWhole(whole: string, pack: LanguagePack, scale: Scale = pack.scale): string {
  if (!pack.cardinal) return whole;
  if (whole.length > MAX_CARDINAL_DIGITS) return sayDigits(digitGroups(whole), pack);
  return pack.cardinal(whole, scale);
}

export function sayNumber(number: WrittenNumber, pack: LanguagePack, scale?: Scale): string {
  const whole = sayWhole(number.whole, pack, scale ?? number.scale ?? pack.scale);
  if (number.fraction === '') return whole;
  if (!pack.cardinal) return `${whole}.${number.fraction}`;
  return `${whole} ${pack.words.point} ${sayDigits([number.fraction], pack)}`;
}

/** "2.5 lakh": a number before a scale word, which some languages halve with a word of their own. */
export function sayScaled(number: WrittenNumber, scaleWord: string, pack: LanguagePack): string {
  const said = pack.half && /^50*$/.test(number.fraction) ? pack.half(number.whole) : sayNumber(number, pack);
  return joinWords(said, scaleWord);
}

const RANGE =
  /(?<![\p{L}\p{M}\p{N}.,/:+-])(\d{1,6}(?:\.\d{1,2})?)\s?[-–—]\s?(\d{1,6}(?:\.\d{1,2})?)(?![\p{N}:/-]|[.,]\d)/gu;

/** "10-15 days": from less to more is a range; the two numbers are said by the rules that follow. */
const ranges: Rule = (text, pack) =>
  pack.words.to === ''
    ? text
    : text.replace(RANGE, (written, from: string, to: string) =>
        Number(from) < Number(to) ? `${from} ${pack.words.to} ${to}` : written,
      );

const percentPattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(-?)(${NUMBER})\\s?%`, 'gu');
/** "8.5%-9.25%": the stroke is no minus. */
const percentSpan = new RegExp(`(${NUMBER}\\s?%)\\s?[-–—]\\s?(?=\\d)`, 'gu');
const percents: Rule = (text, pack) => {
  const { percent, minus, to } = pack.words;
  if (percent === '') return text;
  const spans = to === '' ? text : text.replace(percentSpan, `$1 ${to} `);
  return spans.replace(percentPattern, (_, sign: string, written: string) =>
    joinWords(sign === '' ? '' : minus, sayNumber(readNumber(written), pack), percent),
  );
};

const ENGLISH_ORDINAL = new RegExp(`${START}(\\d{1,6})(?:st|nd|rd|th)${END}`, 'giu');
const HINDI_ORDINAL = new RegExp(
  `${START}(\\d{1,6})\\s?-?(वां|वाँ|वीं|वें|वी|ला|ली|रा|री|था|थी|ठा|ठी)${END}`,
  'gu',
);
const ordinals: Rule = (text, pack) => {
  const { ordinal } = pack;
  if (!ordinal) return text;
  const spoken = text.replace(ENGLISH_ORDINAL, (_, digits: string) => ordinal(digits));
  return spoken.replace(HINDI_ORDINAL, (written, digits: string, ending: string) => {
    if (pack.code !== 'hi-IN') return written;
    const base = ordinal(digits);
    // The ending carries gender and case: पाँचवाँ, पाँचवीं, पाँचवें; पहला, पहली, पहले.
    if (base.endsWith('वाँ')) return base.slice(0, -3) + (/^व/.test(ending) ? ending : 'वाँ');
    return /[ी]/u.test(ending) ? `${base.slice(0, -1)}ी` : ending === 'वें' ? `${base.slice(0, -1)}े` : base;
  });
};

/** Single letters are scales in amounts of money only, but for the "k" of "10k". */
const scalePattern = patternFor((pack) => {
  const words = anyOf(Object.keys(pack.scaleWords).filter((word) => word.length > 1));
  return new RegExp(`(${NUMBER})(?:(k)|\\s?(${words}))${END}`, 'giu');
});
/** "2.5M": a decimal, or before what can be counted, since "Flat 3B" is none. */
const MILLIONS = new RegExp(
  `${START}(\\d{1,4}(?:\\.\\d{1,3}\\s?(?=[MB]${END})|(?=[MB]\\+?\\s(?:people|[a-z]{2,20}s)${END})))([MB])(?=\\+|${END})`,
  'gu',
);
const scales: Rule = (text, pack) => {
  const say = (written: string, scale: string) =>
    sayScaled(readNumber(written.trim()), pack.scaleWords[scale.toLowerCase()] ?? scale, pack);
  return text
    .replace(MILLIONS, (_, written: string, letter: string) => say(written, letter))
    .replace(scalePattern(pack), (_, written: string, k: string | undefined, word: string | undefined) =>
      say(written, k ?? word ?? ''),
    );
};

const VERSION = /(?<![\p{L}\p{N}.])\d{1,4}(?:\.\d{1,4}){2,5}(?![\p{L}\p{N}])/gu;
const versions: Rule = (text, pack) =>
  pack.cardinal
    ? text.replace(VERSION, (written) =>
        written
          .split('.')
          .map((part) => sayWhole(part, pack))
          .join(` ${pack.words.point} `),
      )
    : text;

const FRACTION = /(?<![\p{L}\p{N}./])(\d{1,4})\/(\d{1,4})(?![\p{L}\p{N}/])/gu;
const ENGLISH_FRACTIONS: Readonly<Record<string, string>> = {
  '1/2': 'half',
  '1/3': 'one third',
  '2/3': 'two thirds',
  '1/4': 'one quarter',
  '3/4': 'three quarters',
};
const ROUND_THE_CLOCK = new RegExp(`${START}24\\s?[/x×*]\\s?7${END}(?![/.]\\d)`, 'giu');
const fractions: Rule = (text, pack) => {
  const { roundTheClock, over } = pack.words;
  const open = roundTheClock === '' ? text : text.replace(ROUND_THE_CLOCK, roundTheClock);
  if (over === '') return open;
  return open.replace(FRACTION, (written, part: string, whole: string) => {
    const named = pack.code.startsWith('en') ? ENGLISH_FRACTIONS[written] : undefined;
    return named ?? `${part} ${over} ${whole}`;
  });
};

/** "5²"; a letter may have a power as well. */
const POWER = /(\d{1,15}(?:\.\d{1,6})?|[\p{L}\p{M}])\s?([²³])/gu;
const POWER_OF_UNIT = /(?<=\d\s?)([kcm]?m|ft)([²³])/gu;
export const powers: Rule = (text, pack) =>
  pack.words.squared === '' || !/[²³]/.test(text)
    ? text
    : text
        .replace(
          POWER_OF_UNIT,
          (_, unit: string, power: string) => `${power === '²' ? 'sq' : 'cubic'} ${unit}`,
        )
        .replace(POWER, (_, base: string, power: string) =>
          fillIn(power === '²' ? pack.words.squared : pack.words.cubed, base),
        );

/** Signs before and between numbers. */
const MINUS = /(^|[\s(,:])[-−](?=\d)/gu;
const PRODUCT = /(\d)\s?[x×*]\s?(?=\d)/giu;
export const signs: Rule = (text, pack) => {
  let spoken = text;
  if (pack.words.times !== '') spoken = spoken.replace(PRODUCT, `$1 ${pack.words.times} `);
  if (pack.words.minus !== '') spoken = spoken.replace(MINUS, `$1${pack.words.minus} `);
  if (pack.words.number !== '') spoken = spoken.replace(/#\s?(?=\d)/g, `${pack.words.number} `);
  if (pack.words.about !== '') spoken = spoken.replace(/~\s?(?=\d)/g, `${pack.words.about} `);
  if (pack.words.equals !== '') spoken = spoken.replace(/\s?=\s?/g, ` ${pack.words.equals} `);
  if (pack.words.plus === '') return spoken;
  return spoken.replace(/\+\s?(?=\d)|(?<=\d)\s?\+/g, ` ${pack.words.plus} `);
};

/** "iPhone15", "4G", "and/or": what touches a letter is a word of its own. */
export const apart: Rule = (text) => {
  const digits = /\p{Nd}/u.test(text)
    ? text.replace(/([\p{L}\p{M}])(?=\p{Nd})/gu, '$1 ').replace(/(\p{Nd})(?=[\p{L}\p{M}])/gu, '$1 ')
    : text;
  if (!/[-/]/.test(digits)) return digits;
  return digits.replace(/(\p{L})-(?=\d)|(\d)-(?=\p{L})|([\p{L}\p{M}])\/(?=\p{L})/gu, '$1$2$3 ');
};

const PLAIN = new RegExp(NUMBER, 'gu');
const LEFT_OVER = /\d{1,40}/g;
export const plain: Rule = (text, pack) => {
  const spoken = text.replace(PLAIN, (written, at: number) => {
    const number = readNumber(written);
    // The minutes of a time that stands in digits are none of these.
    const isMinutes = !pack.cardinal && /\d:$/.test(text.slice(Math.max(0, at - 2), at));
    if (/^0\d/.test(number.whole) && number.fraction === '')
      return isMinutes ? written : sayDigits(digitGroups(number.whole), pack);
    return sayNumber(number, pack);
  });
  if (!pack.cardinal) return spoken;
  // What no rule understood, such as "1,2,3" or a wall of digits, is still said, digit by digit if need be.
  return spoken.replace(LEFT_OVER, (digits) => ` ${sayWhole(digits, pack)} `);
};

/** Ranges, percentages and ordinals, which look beyond the number itself; before units and codes. */
export const framedNumbers: readonly Rule[] = [ranges, percents, ordinals, scales, versions, fractions];
