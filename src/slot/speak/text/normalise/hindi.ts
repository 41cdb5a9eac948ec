import { type LanguagePack, spokenWords, type TimeOfDay } from './language-pack.ts';

const { numbers: BELOW_HUNDRED, ...WORDS } = spokenWords('hi');

const STEPS = [
  [100_000_000_000, 'खरब'],
  [1_000_000_000, 'अरब'],
  [10_000_000, 'करोड़'],
  [100_000, 'लाख'],
  [1_000, 'हज़ार'],
  [100, 'सौ'],
] as const;

const ORDINALS: Readonly<Record<number, string>> = {
  1: 'पहला',
  2: 'दूसरा',
  3: 'तीसरा',
  4: 'चौथा',
  6: 'छठा',
};

function cardinal(value: number): string {
  if (value < 100) return BELOW_HUNDRED[value] ?? '';
  for (const [size, name] of STEPS) {
    if (value < size) continue;
    const rest = value % size;
    const head = `${cardinal(Math.floor(value / size))} ${name}`;
    return rest === 0 ? head : `${head} ${cardinal(rest)}`;
  }
  return '';
}

/** 1999 is "उन्नीस सौ निन्यानवे", 2026 is "दो हज़ार छब्बीस". */
function hindiYear(year: number): string {
  if (year < 1100 || year >= 2000) return cardinal(year);
  const rest = year % 100;
  const head = `${cardinal(Math.floor(year / 100))} सौ`;
  return rest === 0 ? head : `${head} ${cardinal(rest)}`;
}

function partOfDay(hour: number): string {
  if (hour >= 4 && hour < 12) return 'सुबह ';
  if (hour >= 12 && hour < 16) return 'दोपहर ';
  if (hour >= 16 && hour < 20) return 'शाम ';
  return 'रात ';
}

/** Quarters have words of their own: सवा, साढ़े, पौने, and डेढ़ and ढाई for half past one and two. */
function time({ hour, minute, half, hasPartOfDay }: TimeOfDay): string {
  const hour24 = half === null ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  const knowsPart = half !== null || hour > 12 || hour === 0;
  const part = knowsPart && !hasPartOfDay ? partOfDay(hour24) : '';
  const twelve = hour24 % 12 === 0 ? 12 : hour24 % 12;
  const next = (twelve % 12) + 1;
  const say = (value: number) => BELOW_HUNDRED[value] ?? '';
  if (minute === 0) return `${part}${say(twelve)} बजे`;
  if (minute === 15) return `${part}सवा ${say(twelve)} बजे`;
  if (minute === 45) return `${part}पौने ${say(next)} बजे`;
  if (minute === 30 && twelve === 1) return `${part}डेढ़ बजे`;
  if (minute === 30 && twelve === 2) return `${part}ढाई बजे`;
  if (minute === 30) return `${part}साढ़े ${say(twelve)} बजे`;
  return `${part}${say(twelve)} बजकर ${say(minute)} मिनट`;
}

export const hindi: LanguagePack = {
  ...WORDS,
  code: 'hi-IN',
  letter: /(?!\p{N})\p{Script=Devanagari}/u,
  cardinal: (digits) => cardinal(Number(digits)),
  ordinal: (digits) => {
    const value = Number(digits);
    return ORDINALS[value] ?? `${cardinal(value)}वाँ`;
  },
  half: (whole) =>
    whole === '1' ? 'डेढ़' : whole === '2' ? 'ढाई' : whole === '0' ? 'आधा' : `साढ़े ${cardinal(Number(whole))}`,
  year: hindiYear,
  scale: 'indian',
  dateOrder: 'day first',
  date: (day, month, year) =>
    `${cardinal(day)} ${WORDS.months[month - 1]}${year === null ? '' : ` ${hindiYear(year)}`}`,
  time,
};
