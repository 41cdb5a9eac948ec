import type { LanguagePack } from './language-pack.ts';
import { END, joinWords, type Rule, START } from './pattern.ts';

/** Dates and times of day, where the language has words for them. */
const MONTH_STARTS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** With a capital: "may 5" is more often a verb. */
const MONTH =
  '(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';
const YEAR = '((?:1[5-9]|20)\\d{2})';

const ISO = new RegExp(`${START}(\\d{4})-(\\d{1,2})-(\\d{1,2})${END}(?!-)`, 'gu');
const NUMERIC = new RegExp(`(?<![\\p{L}\\p{N}./-])(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4})${END}(?![/-])`, 'gu');
const SHORT_YEAR = new RegExp(`(?<![\\p{L}\\p{N}./-])(\\d{1,2})([/-])(\\d{1,2})\\2(\\d{2})${END}(?![/-])`, 'gu');
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
const AFTER_YEAR = '(?=\\s*(?:[.,;:?!)]|$)|\\s(?:and|to|till|until|but|we|you|the|it|was|is)\\b)';
const LONE_YEAR = new RegExp(`${START}(in|since|year|till|until|सन्?|साल|वर्ष)\\s${YEAR}${END}(.?)`, 'giu');
const HINDI_MONTH_YEAR = new RegExp(
  `(जनवरी|फ़रवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर),?\\s${YEAR}${END}`,
  'gu',
);
const YEAR_ENDS = new RegExp(AFTER_YEAR, 'uy');

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
      return year === undefined ? spoken : `${spoken} ${sayYear(Number(year), pack)}`;
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
    .replace(LONE_YEAR, (written, lead: string, year: string, next: string, at: number, whole: string) => {
      YEAR_ENDS.lastIndex = at + written.length - next.length;
      return YEAR_ENDS.test(whole) ? `${lead} ${sayYear(Number(year), pack)}${next}` : written;
    });
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

const HALF = '([ap])\\.?m(?:\\.(?=\\s?[\\p{Ll}\\p{Lo}])|(?!\\.?\\p{L}))';
const WITH_HALF = new RegExp(`${START}(\\d{1,2})(?:[:.]([0-5]\\d))?(?::[0-5]\\d)?\\s?${HALF}(\\s?बजे)?`, 'giu');
const CLOCK = new RegExp(
  `(?<![\\p{L}\\p{N}:.])([01]?\\d|2[0-3]):([0-5]\\d)(?::[0-5]\\d)?(?!:?\\p{N}|\\p{L})(?:\\s?(?:hrs|hours)${END})?(\\s?बजे)?`,
  'giu',
);
const PART_OF_DAY = /(?:सुबह|सवेरे|दोपहर|शाम|रात)\s*(?:के|को|करीब)?\s*$/u;
/** Longer than a part of the day and a particle. */
const LOOK_BACK_CHARS = 20;
const POSTPOSITION = /^\s*(?:तक|से|के|का|की|पर|को|हैं?|हुए)(?!\p{M})/u;

export const times: Rule = (text, pack) => {
  const { time } = pack;
  if (!time) return text;
  const say = (
    written: string,
    hour: number,
    minute: number,
    half: 'am' | 'pm' | null,
    oClock: string,
    at: number,
    whole: string,
  ) => {
    const head = whole.slice(Math.max(0, at - LOOK_BACK_CHARS), at);
    const spoken = time({ hour, minute, half, hasPartOfDay: PART_OF_DAY.test(head) });
    if (oClock === '' || spoken.endsWith('बजे')) return spoken;
    return POSTPOSITION.test(whole.slice(at + written.length)) ? spoken : `${spoken} पर`;
  };
  return text
    .replace(WITH_HALF, (...match) => {
      const [written, hour, minute, half, oClock, at, whole] = match as unknown as [
        string,
        string,
        string | undefined,
        string,
        string | undefined,
        number,
        string,
      ];
      const value = Number(hour);
      if (value < 1 || value > 12) return written;
      return say(
        written,
        value,
        Number(minute ?? 0),
        half.toLowerCase() === 'a' ? 'am' : 'pm',
        oClock ?? '',
        at,
        whole,
      );
    })
    .replace(
      CLOCK,
      (written, hour: string, minute: string, oClock: string | undefined, at: number, whole: string) =>
        say(written, Number(hour), Number(minute), null, oClock ?? '', at, whole),
    );
};
