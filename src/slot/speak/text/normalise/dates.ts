import { fillIn, type LanguagePack } from './language-pack.ts';
import { END, joinWords, type Rule, START } from './pattern.ts';

/** Dates, where the language has words for them. */
const MONTH_STARTS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** With a capital: "may 5" is more often a verb. */
const MONTH =
  '(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';
const YEAR = '((?:1[5-9]|20)\\d{2})';

const ISO = new RegExp(`${START}(\\d{4})-(\\d{1,2})-(\\d{1,2})${END}(?!-)`, 'gu');
const NUMERIC = new RegExp(
  `(?<![\\p{L}\\p{N}./-])(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4})${END}(?![/-])`,
  'gu',
);
const SHORT_YEAR = new RegExp(
  `(?<![\\p{L}\\p{N}./-])(\\d{1,2})([/-])(\\d{1,2})\\2(\\d{2})${END}(?![/-])`,
  'gu',
);
const DAY_MONTH = new RegExp(
  `${START}(\\d{1,2})(?:st|nd|rd|th)?(?:\\s(?:of\\s)?|-)${MONTH}${END}(?:\\.(?=\\s?\\d))?(?:(?:,?\\s|-)${YEAR}${END})?`,
  'gu',
);
const MONTH_DAY = new RegExp(
  `${START}${MONTH}\\.?\\s(\\d{1,2})(?:st|nd|rd|th)?${END}(?![.:]\\d)(?:,?\\s${YEAR}${END})?`,
  'gu',
);
const MONTH_YEAR = new RegExp(`${START}${MONTH}(,?\\s)${YEAR}${END}`, 'gu');
const FINANCIAL_YEAR = new RegExp(`(?<![\\p{L}\\p{N}/-])${YEAR}[-–](\\d{2})${END}(?![-/])`, 'gu');
/** What may follow a year and would not follow an amount ("in 2000 rupees"). */
const AFTER_YEAR = `(?=\\s?(?:[.,;:?!)।]|$)|\\s(?:and|to|till|until|but|we|you|the|it|was|is|में|से|तक|के|का|की)${END})`;
const LONE_YEAR = new RegExp(
  `${START}(in|since|by(?=\\s20)|year|(?:year|quarter|period)\\sending|till|until|before|after|during|early|mid|late|(?:class|batch|summer|end|start|year)\\sof|summer|winter|spring|autumn|diwali|budget|सन्?|साल|वर्ष)\\s${YEAR}${END}${AFTER_YEAR}`,
  'giu',
);
/** Two years with a word or a stroke between them; numbers of this size with a stroke are years in our century and the last. */
const FROM_YEAR = new RegExp(
  `${START}(from|between)\\s${YEAR}\\s(to|and|till|until)\\s${YEAR}${END}${AFTER_YEAR}`,
  'giu',
);
const YEAR_SPAN = new RegExp(
  `(?<![\\p{L}\\p{N}./-])((?:19|20)\\d{2})\\s?[-–—]\\s?((?:19|20)\\d{2})${END}(?![-/])${AFTER_YEAR}`,
  'gu',
);
const DECADE = new RegExp(`${START}((?:1[5-9]|20)\\d0)['’]?s${END}`, 'gu');
const HINDI_DECADE = new RegExp(`${START}${YEAR}(?=\\s(?:के|का|की)\\sदशक)`, 'gu');
const SHORT_DECADE = new RegExp(`(?:(?<=(?:the|early|mid|late)[\\s-])['’]?|['’])([2-9]0)['’]?s${END}`, 'giu');

/** Days of one month, or of two, with a stroke between them: "3-5 March", "March 3-5", "28 Feb - 3 March", "Jan-March". */
const STROKE = '\\s?[-–—]\\s?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const DAY_SPAN = new RegExp(
  `${START}${DAY}(?:${STROKE}|\\sto\\s)${DAY}(?:\\sof)?\\s${MONTH}${END}(?:,?\\s${YEAR}${END})?`,
  'gu',
);
const MONTH_DAY_SPAN = new RegExp(
  `${START}${MONTH}\\.?\\s${DAY}(?:${STROKE}|\\sto\\s)${DAY}${END}(?![.:]\\d|\\s?(?:[ap]\\.?m|${MONTH}))(?:,?\\s${YEAR}${END})?`,
  'gu',
);
const MONTH_SPAN = new RegExp(
  `${START}${MONTH}(,?\\s\\d{4})?${STROKE}(?=(?:${DAY}\\s)?${MONTH}${END})`,
  'gu',
);
const NUMERIC_DATE = '(?:\\d{1,2}/\\d{1,2}/\\d{2,4}|\\d{4}-\\d{1,2}-\\d{1,2})';
const NUMERIC_SPAN = new RegExp(
  `${START}(${NUMERIC_DATE})(?:\\s[-–—]\\s|[–—])(?=${NUMERIC_DATE}${END})`,
  'gu',
);

/** A date and a time in one, as machines write them. */
const STAMP = new RegExp(
  `${START}(\\d{4}-\\d{1,2}-\\d{1,2})T(\\d{2}:\\d{2})(?::\\d{2}(?:\\.\\d{1,9})?)?(Z|[+-]\\d{2}:?\\d{2})?${END}`,
  'gu',
);
const ZONES: Readonly<Record<string, string>> = { Z: ' UTC', '+0000': ' UTC', '+0530': ' IST' };
const HINDI_MONTH_YEAR = new RegExp(
  `(जनवरी|फ़रवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर),?\\s${YEAR}${END}`,
  'gu',
);

export const dates: Rule = (text, pack) => {
  if (!pack.date) return text;
  const fromNumbers = (written: string, first: string, second: string, year: number) =>
    sayNumericDate(Number(first), Number(second), year, pack) ?? written;
  return withoutStrokes(text, pack)
    .replace(ISO, (written, year: string, month: string, day: string) =>
      isDate(Number(day), Number(month)) ? sayDate(Number(day), Number(month), Number(year), pack) : written,
    )
    .replace(NUMERIC, (written, a: string, _: string, b: string, year: string) =>
      fromNumbers(written, a, b, Number(year)),
    )
    .replace(SHORT_YEAR, (written, a: string, _: string, b: string, year: string) =>
      fromNumbers(written, a, b, 2000 + Number(year)),
    )
    .replace(DAY_MONTH, (written, day: string, name: string, year: string | undefined) =>
      Number(day) >= 1 && Number(day) <= 31
        ? sayDate(Number(day), monthOf(name), year === undefined ? null : Number(year), pack)
        : written,
    )
    .replace(MONTH_DAY, (written, name: string, day: string, year: string | undefined) => {
      if (Number(day) < 1 || Number(day) > 31) return written;
      const spoken = sayDate(Number(day), monthOf(name), null, { ...pack, date: monthFirst(pack) });
      return year === undefined ? spoken : `${spoken}, ${sayYear(Number(year), pack)}`;
    })
    .replace(MONTH_YEAR, (_, name: string, gap: string, year: string) =>
      joinWords(pack.months[monthOf(name) - 1] ?? name, gap.trim() + sayYear(Number(year), pack)),
    )
    .replace(HINDI_MONTH_YEAR, (_, name: string, year: string) => `${name} ${sayYear(Number(year), pack)}`)
    .replace(FINANCIAL_YEAR, (written, year: string, next: string) =>
      Number(next) === (Number(year) + 1) % 100
        ? joinWords(sayYear(Number(year), pack), pack.words.to, pack.cardinal?.(next, pack.scale) ?? next)
        : written,
    )
    .replace(HINDI_DECADE, (_, year: string) => sayYear(Number(year), pack))
    .replace(DECADE, (_, year: string) => sayDecade(sayYear(Number(year), pack), pack))
    .replace(SHORT_DECADE, (written, tens: string) =>
      pack.cardinal ? sayDecade(pack.cardinal(tens, pack.scale), pack) : written,
    )
    .replace(FROM_YEAR, (_, lead: string, first: string, between: string, last: string) =>
      joinWords(lead, sayYear(Number(first), pack), between, sayYear(Number(last), pack)),
    )
    .replace(YEAR_SPAN, (written, first: string, last: string) =>
      Number(first) < Number(last) && pack.words.to !== ''
        ? joinWords(sayYear(Number(first), pack), pack.words.to, sayYear(Number(last), pack))
        : written,
    )
    .replace(LONE_YEAR, (_, lead: string, year: string) => `${lead} ${sayYear(Number(year), pack)}`);
};

/** Spans of dates: the stroke becomes a word, and days that share their month are said before it. */
function withoutStrokes(text: string, pack: LanguagePack): string {
  const { to } = pack.words;
  const dated = text.replace(STAMP, (_, date: string, time: string, zone: string | undefined) => {
    const named = ZONES[(zone ?? '').replace(':', '')] ?? (zone === undefined ? '' : ` UTC ${zone}`);
    return `${date}, ${time}${named}`;
  });
  if (to === '' || !/[-–—]|\sto\s/.test(dated)) return dated;
  return dated
    .replace(NUMERIC_SPAN, `$1 ${to} `)
    .replace(MONTH_SPAN, (_, name: string, year: string | undefined) =>
      joinWords(`${pack.months[monthOf(name) - 1] ?? name}${year ?? ''}`, `${to} `),
    )
    .replace(DAY_SPAN, (written, first: string, last: string, name: string, year: string | undefined) => {
      if (!isSpan(first, last)) return written;
      const month = pack.months[monthOf(name) - 1] ?? name;
      const until = year === undefined ? null : Number(year);
      if (pack.dateOrder === 'month first') return sayMonthFirst(month, first, last, until, pack);
      return joinWords(sayDay(first, pack), to, sayDate(Number(last), monthOf(name), until, pack));
    })
    .replace(MONTH_DAY_SPAN, (written, name: string, first: string, last: string, ...more) => {
      if (!isSpan(first, last)) return written;
      // Between the days and the year stand the months that may not follow.
      const year = more[1] as string | undefined;
      const month = pack.months[monthOf(name) - 1] ?? name;
      const until = year === undefined ? null : Number(year);
      if (pack.code.startsWith('en')) return sayMonthFirst(month, first, last, until, pack);
      return joinWords(sayDay(first, pack), to, sayDate(Number(last), monthOf(name), until, pack));
    });
}

function sayMonthFirst(
  month: string,
  first: string,
  last: string,
  year: number | null,
  pack: LanguagePack,
): string {
  const days = joinWords(month, sayDay(first, pack), pack.words.to, sayDay(last, pack));
  return year === null ? days : `${days}, ${sayYear(year, pack)}`;
}

const isSpan = (first: string, last: string) =>
  Number(first) >= 1 && Number(first) < Number(last) && Number(last) <= 31;

/** A day of a month as the dates of the language say it. */
function sayDay(day: string, pack: LanguagePack): string {
  const plain = String(Number(day));
  if (pack.code.startsWith('en')) return pack.ordinal?.(plain) ?? plain;
  return pack.cardinal?.(plain, pack.scale) ?? plain;
}

/** "nineteen nineties": English counts decades like things. */
function sayDecade(year: string, pack: LanguagePack): string {
  const decade = fillIn(pack.words.decade, year);
  return pack.code.startsWith('en') ? decade.replace(/ys$/, 'ies') : decade;
}

/** A date that was written month first is said so, where the language can. */
function monthFirst(pack: LanguagePack): LanguagePack['date'] {
  if (!pack.code.startsWith('en')) return pack.date;
  return (day, month) => `${pack.months[month - 1]} ${pack.ordinal?.(String(day)) ?? day}`;
}

const monthOf = (name: string) => MONTH_STARTS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
const isDate = (day: number, month: number) => day >= 1 && day <= 31 && month >= 1 && month <= 12;
const sayDate = (day: number, month: number, year: number | null, pack: LanguagePack) =>
  pack.date?.(day, month, year) ?? '';
const sayYear = (year: number, pack: LanguagePack) => pack.year?.(year) ?? String(year);

/** Two numbers in the order of the language, or the other way where only that makes a date; null where neither does. */
function sayNumericDate(first: number, second: number, year: number, pack: LanguagePack): string | null {
  const [day, month] = pack.dateOrder === 'day first' ? [first, second] : [second, first];
  if (isDate(day, month)) return sayDate(day, month, year, pack);
  return isDate(month, day) ? sayDate(month, day, year, pack) : null;
}
