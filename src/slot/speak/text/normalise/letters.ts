import { readLists } from '../../../../platform/text-table.ts';
import type { LanguagePack } from './language-pack.ts';
import { readNumber, sayNumber } from './numbers.ts';
import { anyOf, END, NUMBER, patternFor, type Rule, START } from './pattern.ts';

/** Units, abbreviations and words of capitals. */
export function spellLetters(letters: string, pack: LanguagePack): string {
  return [...letters].map((letter) => pack.letterNames?.[letter.charCodeAt(0) - 65] ?? letter).join(' ');
}

const unitPattern = patternFor((pack) => {
  const units = Object.keys(pack.units);
  return new RegExp(`(${NUMBER})\\s?(${anyOf(units)})${END}`, 'gu');
});
/** "5km-10km": a stroke between a quantity and the next. */
const unitSpan = patternFor((pack) => {
  const units = Object.keys(pack.units);
  return new RegExp(`(${NUMBER}\\s?${anyOf(units)})\\s?[-–—]\\s?(?=\\d)`, 'gu');
});
export const units: Rule = (text, pack) => {
  if (Object.keys(pack.units).length === 0) return text;
  const spans = pack.words.to === '' ? text : text.replace(unitSpan(pack), `$1 ${pack.words.to} `);
  return spans.replace(unitPattern(pack), (written, digits: string, unit: string) => {
    const words = pack.units[unit];
    if (!words) return written;
    return `${sayNumber(readNumber(digits), pack)} ${digits === '1' ? words[0] : words[1]}`;
  });
};

const SHORT_FORMS = readLists(import.meta.url, '../short-forms.txt');
/** Said letter by letter although they could be read as words. */
const SPELLED = new Set(SHORT_FORMS.get('spelled'));
/** Words without A, E, I, O or U that are words all the same. */
const READ = new Set(SHORT_FORMS.get('read'));
/** What stands behind a time of day and begins no sentence, as part of a pattern. */
export const TIME_ZONE = `${anyOf(SHORT_FORMS.get('time zones') ?? [])}${END}`;
const CAPITALS = new RegExp(`${START}([A-Z]{2,6})(s?)${END}`, 'gu');

export const acronyms: Rule = (text, pack) => {
  // A clause in capitals throughout is loud, not full of abbreviations.
  const isLoud = !/[\p{Ll}\p{Lo}]/u.test(text) && /\b[A-Z]{2,40} [A-Z]{2,40} [A-Z]{2}/.test(text);
  return text.replace(CAPITALS, (written, letters: string, plural: string) => {
    const isSpelled = SPELLED.has(letters) || (!isLoud && !/[AEIOU]/.test(letters) && !READ.has(letters));
    if (!isSpelled) return written;
    return spellLetters(letters, pack) + (plural === '' ? '' : pack.letterNames ? '' : "'s");
  });
};

const ENGLISH_ABBREVIATIONS: Readonly<Record<string, string>> = {
  'dr.': 'Doctor',
  'prof.': 'Professor',
  'mr.': 'Mister',
  'mrs.': 'Missus',
  'smt.': 'Shrimati',
  'vs.': 'versus',
  'etc.': 'et cetera',
  'e.g.': 'for example',
  'i.e.': 'that is',
  'approx.': 'approximately',
  'p.a.': 'per annum',
  'ltd.': 'Limited',
  'pvt.': 'Private',
  'dept.': 'Department',
  'w.r.t.': 'with regard to',
};
const ENGLISH_ABBREVIATION = new RegExp(`${START}${anyOf(Object.keys(ENGLISH_ABBREVIATIONS))}${END}`, 'giu');
/** These keep their full stop where they end a clause. */
const MAY_END = new Set(['etc.', 'p.a.', 'ltd.', 'pvt.']);
const RATES =
  'day|week|month|year|hour|minute|second|person|head|seat|user|unit|call|message|night|trip|annum|kg|km|litre|liter|sqft|sq ft|kWh|GB|MB|min|sec|hr|yr|mo';
const HINDI_RATES =
  'दिन|हफ़्ता|हफ्ता|हफ़्ते|हफ्ते|महीना|महीने|माह|साल|वर्ष|घंटा|घंटे|मिनट|व्यक्ति|यूनिट|किमी|किलो|किलोमीटर|लीटर';
const PER = patternFor((pack) => {
  const rates = pack.code === 'hi-IN' ? `${RATES}|${HINDI_RATES}` : RATES;
  // Words of an Indian script behind an amount are what it is for; what they are is not known here.
  const others = pack.cardinal ? '' : `|(?=${pack.letter.source})[\\p{L}\\p{M}]{1,20}`;
  return new RegExp(`(?<=[\\p{L}\\p{M}\\p{N}%-])\\s?/\\s?(${rates}${others})${END}`, 'gu');
});
/** Short for a unit of time; behind a number they are units of their own. */
const SHORT_RATES: Readonly<Record<string, string>> = { mo: 'month', yr: 'year' };

/** "₹50/km": the stroke, and the unit behind it where it is a short form. */
export const rates: Rule = (text, pack) => {
  if (pack.words.per === '' || !text.includes('/')) return text;
  return text.replace(PER(pack), (_, unit: string) => {
    const long = SHORT_RATES[unit] ?? unit;
    return ` ${pack.words.per} ${pack.units[long]?.[0] ?? long}`;
  });
};

/** "Dr.", "No. 5", "a/c" in English; "डॉ." in Hindi. */
export const abbreviations: Rule = (text, pack) => {
  if (pack.code === 'hi-IN') return text.replace(/(?<![\p{L}\p{M}])डॉ\.\s?/gu, 'डॉक्टर ');
  if (!pack.code.startsWith('en')) return text;
  return text
    .replace(ENGLISH_ABBREVIATION, (written, at: number) => {
      const key = written.toLowerCase();
      const isLast = text.slice(at + written.length).trim() === '';
      return (ENGLISH_ABBREVIATIONS[key] ?? written) + (isLast && MAY_END.has(key) ? '.' : '');
    })
    .replace(new RegExp(`${START}No\\.\\s?(?=\\d)`, 'giu'), 'number ')
    .replace(new RegExp(`${START}a/c${END}\\.?`, 'giu'), 'account');
};
