import type { LanguagePack } from './language-pack.ts';
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
  `${START}(in|since|year|till|until|सन्?|साल|वर्ष)\\s${YEAR}${END}${AFTER_YEAR}`,
  'giu',
);
const HINDI_MONTH_YEAR = new RegExp(
  `(जनवरी|फ़रवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर),?\\s${YEAR}${END}`,
  'gu',
);

export const dates: Rule = (text, pack) => {
  if (!pack.date) return text;
  const fromNumbers = (written: string, first: string, second: string, year: number) =>
    sayNumericDate(Number(first), Number(second), year, pack) ?? written;
  return text
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
    .replace(LONE_YEAR, (_, lead: string, year: string) => `${lead} ${sayYear(Number(year), pack)}`);
};

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
