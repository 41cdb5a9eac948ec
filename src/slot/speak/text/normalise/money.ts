import type { Currency, LanguagePack } from './language-pack.ts';
import { readNumber, sayNumber, sayScaled, sayWhole, type WrittenNumber } from './numbers.ts';
import { anyOf, END, joinWords, NUMBER, patternFor, type Rule, START } from './pattern.ts';

/** Amounts of money: "₹1,50,000.50", "Rs. 2.5 lakh", "500/-", "$1,500,000", "₹500-600". */
const CODES = 'Rs|INR|USD|EUR|GBP|रु|रू';
const SIGN = `(?:₹|US\\$|\\$|€|£|${START}(?:${CODES})(?:\\.|${END}|(?=\\d)))`;
const SIGN_BEHIND = `(?:[₹€£]|(?:${CODES})${END}\\.?|/-)`;
/** A currency word that repeats the sign: "₹500 rupees". */
const REPEATED = `(?:\\s?(?:rupees?|dollars?|euros?|pounds?|रुपये|रुपए|रुपया)${END})?`;

const scaleOf = (pack: LanguagePack) => anyOf(Object.keys(pack.scaleWords));
const before = patternFor(
  (pack) =>
    new RegExp(
      `(-\\s?)?(${SIGN})\\s{0,2}(-)?(${NUMBER})(?:\\s?(?:[-–]|to${END})\\s?${SIGN}?\\s?(${NUMBER}))?(?:\\s?(${scaleOf(pack)})${END}(?:\\.(?!\\s*$))?)?(?:/-)?${REPEATED}`,
      'giu',
    ),
);
const behind = patternFor(
  (pack) => new RegExp(`${START}(${NUMBER})(?:\\s?(${scaleOf(pack)})${END})?\\s?(${SIGN_BEHIND})`, 'giu'),
);
/** An amount whose currency is a word already; long ones would pass for telephone numbers further on. */
const inWords = new RegExp(
  `${START}(${NUMBER})(?=\\s?(?:rupees?|dollars?|euros?|pounds?|paise|cents?|रुपये|रुपए|रुपया|पैसे|डॉलर)${END})`,
  'giu',
);

/** "₹2 lakh-₹3 lakh": the stroke between two amounts is no minus. */
const span = patternFor(
  (pack) => new RegExp(`(\\d(?:\\s?${scaleOf(pack)})?)\\s?[-–—]\\s?(?=${SIGN}\\s?\\d)`, 'giu'),
);

export const money: Rule = (text, pack) => {
  if (pack.money.INR.many === '') return text;
  const { to } = pack.words;
  const spans = to === '' ? text : text.replace(span(pack), `$1 ${to} `);
  const spoken = spans.replace(before(pack), (...match: Array<string | undefined>) => {
    const [, minus, sign = '', innerMinus, written = '', upTo, scale] = match;
    const currency = currencyOf(sign);
    const amount = sayMoney(readNumber(written), scale, currency, pack, upTo);
    return joinWords(minus || innerMinus ? pack.words.minus : '', amount);
  });
  return spoken
    .replace(behind(pack), (...match) => {
      const [found, written, scale, sign, at, whole] = match as unknown as Behind;
      const amount = sayMoney(readNumber(written), scale, currencyOf(sign), pack, undefined);
      // The full stop of "Rs." belongs to the sign only where the sentence goes on.
      return sign.endsWith('.') && ENDS_HERE.test(whole.slice(at + found.length)) ? `${amount}.` : amount;
    })
    .replace(inWords, (written) => sayNumber(readNumber(written), pack));
};

type Behind = [string, string, string | undefined, string, number, string];
const ENDS_HERE = /^\s*(?:$|\p{Lu})/u;

function currencyOf(sign: string): Currency {
  if (/[$]|usd/i.test(sign)) return 'USD';
  if (/€|eur/i.test(sign)) return 'EUR';
  if (/£|gbp/i.test(sign)) return 'GBP';
  return 'INR';
}

function sayMoney(
  number: WrittenNumber,
  scale: string | undefined,
  currency: Currency,
  pack: LanguagePack,
  upTo: string | undefined,
): string {
  const words = pack.money[currency];
  // Rupees are counted in lakh and crore in every English; other money only in the languages of India.
  const reading =
    number.scale ?? (currency === 'INR' ? 'indian' : pack.code.startsWith('en') ? 'western' : pack.scale);
  const scaleWord = scale === undefined ? '' : (pack.scaleWords[scale.toLowerCase()] ?? scale);
  if (upTo !== undefined) {
    const to = pack.words.to === '' ? '-' : pack.words.to;
    const upper = sayNumber(readNumber(upTo), pack, reading);
    return joinWords(sayNumber(number, pack, reading), to, upper, scaleWord, words.many);
  }
  if (scaleWord !== '') return joinWords(sayScaled(number, scaleWord, pack), words.many);
  const hundredths = number.fraction.padEnd(2, '0');
  const wholeWords = joinWords(
    sayWhole(number.whole, pack, reading),
    number.whole === '1' ? words.one : words.many,
  );
  if (number.fraction === '' || /^0+$/.test(number.fraction)) return wholeWords;
  if (hundredths.length > 2 || !pack.cardinal || words.part[1] === '') {
    return joinWords(sayNumber(number, pack, reading), words.many);
  }
  const count = String(Number(hundredths));
  const part = joinWords(sayWhole(count, pack), count === '1' ? words.part[0] : words.part[1]);
  return number.whole === '0' ? part : joinWords(wholeWords, pack.words.moneyAnd, part);
}
