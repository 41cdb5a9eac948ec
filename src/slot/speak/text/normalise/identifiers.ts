import { digitGroups, type LanguagePack, sayDigits } from './language-pack.ts';
import { spellLetters } from './letters.ts';
import { anyOf, END, joinWords, patternFor, type Rule, START } from './pattern.ts';

/** What is said digit by digit: telephone numbers, masked identifiers, codes, and numbers too long to count in. */
const MASKED = new RegExp(
  `${START}(ending\\s(?:(?:in|with)\\s)?)?[Xx•●]{2}[Xx•●\\s-]{0,24}(\\d{2,8})${END}|(?<!(?:year|quarter|period|month|week|FY)\\s)${START}(ending\\s(?:(?:in|with)\\s)?)(\\d{3,6})${END}(?![/.-]\\d)`,
  'gu',
);

export const maskedIds: Rule = (text, pack) =>
  text.replace(
    MASKED,
    (_, lead: string | undefined, masked: string | undefined, plain: string | undefined, open) => {
      const digits = masked ?? String(open);
      const ending = lead ?? plain ?? `${pack.words.endingIn} `;
      return `${ending.trim() === '' ? '' : ending}${sayDigits([digits], pack)}`;
    },
  );

/** Digits with single gaps, as telephone and card numbers are written. */
const GAPPED =
  /(?<![\p{L}\p{M}\p{N}.,/])(\+\s?)?(\(?\d{1,5}\)?(?:[\s-]{1,2}\(?\d{2,10}\)?){1,5})(?![\p{L}\p{M}\p{N}/]|[.,]\d)/gu;
const SOLID = /(?<![\p{L}\p{M}\p{N}.,/])(\+)?(\d{7,40})(?![\p{L}\p{M}\p{N}/%]|[.,]\d)/gu;
const MIN_SOLID_DIGITS = 10;

export const phones: Rule = (text, pack) =>
  text
    .replace(GAPPED, (written, plus: string | undefined, body: string) => {
      const groups = body.match(/\d+/g) ?? [];
      if (!isDialled(groups, plus !== undefined)) return written;
      const parts = groups.flatMap((group) => (group.length > 6 ? digitGroups(group) : [group]));
      return withPlus(plus, sayDigits(parts, pack), pack);
    })
    .replace(SOLID, (written, plus: string | undefined, digits: string) => {
      if (plus === undefined && digits.length < MIN_SOLID_DIGITS && !digits.startsWith('0')) return written;
      return withPlus(plus, sayDigits(solidGroups(digits, plus !== undefined, pack), pack), pack);
    });

const withPlus = (plus: string | undefined, spoken: string, pack: LanguagePack) =>
  plus === undefined ? spoken : joinWords(pack.words.plus, spoken);

/** Whether gapped digits are a number to dial or to copy, and not amounts that stand side by side. */
function isDialled(groups: readonly string[], hasPlus: boolean): boolean {
  const digits = groups.join('');
  const sizes = groups.map((group) => group.length).join('-');
  if (hasPlus) return digits.length >= 8 && digits.length <= 15;
  if (/^(?:4-4-4|4-4-4-4|3-3-4|1-3-3-4)$/.test(sizes)) return true;
  if (digits.length === 10) return /^(?:[6-9]|1800|1860|0)/.test(digits);
  if (digits.length === 11) return /^(?:0|1800|1860)/.test(digits);
  if (digits.length === 12) return /^(?:91|0)/.test(digits);
  return /^0\d/.test(digits) && digits.length >= 8 && digits.length <= 13;
}

function solidGroups(digits: string, hasPlus: boolean, pack: LanguagePack): string[] {
  if (hasPlus && digits.length === 12 && digits.startsWith('91'))
    return ['91', ...digitGroups(digits.slice(2))];
  if (hasPlus && digits.length === 11 && digits.startsWith('1'))
    return ['1', ...northAmerican(digits.slice(1))];
  if (digits.length === 11 && digits.startsWith('0')) return ['0', ...digitGroups(digits.slice(1))];
  if (digits.length === 10 && pack.code === 'en-US') return northAmerican(digits);
  return digitGroups(digits);
}

const northAmerican = (digits: string) => [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)];

/** A number that the words before it make a code. */
const named = patternFor((pack) => {
  const ending = pack.words.endingIn === '' ? '' : `|${pack.words.endingIn}`;
  return new RegExp(
    `${START}((?:otp|pin|pincode|code|number|id|ticket|reference|ref|cvv|digits|ओटीपी|पिन|कोड|नंबर|नम्बर|आईडी|अंक${ending})(?:\\s?(?:is|are|:|#|no\\.?|number|है|हैं|-)\\s?|\\s))(\\d{3,12})(?!\\p{N}|[.,:/-]\\d|\\p{L})`,
    'giu',
  );
});
export const namedCodes: Rule = (text, pack) =>
  text.replace(
    named(pack),
    (_, lead: string, digits: string) => `${lead}${sayDigits(digitGroups(digits), pack)}`,
  );

/** Short numbers that are dialled: "dial 911", "call 1098 now", "112 पर कॉल करें". */
const dialledBehind = patternFor(
  (pack) =>
    new RegExp(
      `${START}(${anyOf(pack.dialWords)}(?:\\s(?:us|me|them|on|at|to|is|the|number|now)){0,3}:?\\s)(\\d{3,6})${END}(?![.,:/%-]\\d|\\s?%|\\s(?!(?:for|if|or|and|to|in|on|from|when|right|now|immediately|at|then|any|is|as)${END})[\\p{Ll}])`,
      'giu',
    ),
);
/** Elsewhere the word for calling comes behind, where it may be a thing that is counted: so only known numbers. */
const dialledBefore = patternFor(
  (pack) =>
    new RegExp(
      `(?<![\\p{L}\\p{M}\\p{N}.,₹$/:-])(101|102|104|108|112|139|181|911|1091|1098|1906|1912|1915|1930|100(?=\\s(?:पर|वर|नंबर)\\s))(?=[\\s-]?(?:[\\p{L}\\p{M}]{1,12}\\s){0,2}\\s?${anyOf(pack.dialWords)})`,
      'gu',
    ),
);
/** The emergency number of North America is one wherever no word makes it a quantity. */
const EMERGENCY = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}.,₹$#/:+-])911${END}(?![.,:/%-]\\d|\\s?[%-]|\\s(?!(?:for|if|or|and|to|in|on|from|when|right|now|immediately|at|then|is|are|was|has|as|any|call|calls|operator|service|services|emergency)${END})[\\p{Ll}])`,
  'gu',
);
export const shortNumbers: Rule = (text, pack) => {
  if (pack.dialWords.length === 0) return text;
  if (!pack.code.startsWith('en')) {
    return text.replace(dialledBefore(pack), (digits) => sayDigits([digits], pack));
  }
  return text
    .replace(dialledBehind(pack), (_, lead: string, digits: string) => lead + sayDigits([digits], pack))
    .replace(EMERGENCY, (digits) => sayDigits([digits], pack));
};

/** Capitals and digits mixed: number plates, order numbers, "COVID-19", "4G". */
const MIXED = new RegExp(
  `${START}(?=[A-Z\\d-]{0,40}\\d)(?=[A-Z\\d-]{0,40}[A-Z])[A-Z\\d]{1,20}(?:-[A-Z\\d]{1,12}){0,4}${END}`,
  'gu',
);
/** So many letters or fewer are spelled even if they could be read. */
const MAX_SPELLED_LETTERS = 3;
export const mixedCodes: Rule = (text, pack) =>
  text.replace(MIXED, (written) => {
    const parts = written.match(/[A-Z]+|\d+/g) ?? [];
    const isCode = parts.length > 2;
    return parts
      .map((part) => {
        if (/\d/.test(part)) {
          const isCounted = part.length <= 2 && !part.startsWith('0') && pack.cardinal;
          return isCounted ? pack.cardinal?.(part, pack.scale) : sayDigits([part], pack);
        }
        const isSpelled = isCode || part.length <= MAX_SPELLED_LETTERS || !/[AEIOU]/.test(part);
        return isSpelled ? spellLetters(part, pack) : part;
      })
      .join(' ');
  });
