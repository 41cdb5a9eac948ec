import { type LanguagePack, type Scale, spokenWords, type TimeOfDay } from './language-pack.ts';

/** English as spoken in India (lakh, crore, day before month) and in the United States. */
const { numbers: SMALL, ...WORDS } = spokenWords('en');
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const IRREGULAR_ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

const STEPS: Readonly<Record<Scale, ReadonlyArray<readonly [number, string]>>> = {
  indian: [
    [10_000_000, 'crore'],
    [100_000, 'lakh'],
    [1_000, 'thousand'],
    [100, 'hundred'],
  ],
  western: [
    [1_000_000_000_000, 'trillion'],
    [1_000_000_000, 'billion'],
    [1_000_000, 'million'],
    [1_000, 'thousand'],
    [100, 'hundred'],
  ],
};

function cardinal(value: number, scale: Scale): string {
  if (value < 20) return SMALL[value] ?? '';
  if (value < 100) {
    const tens = TENS[Math.floor(value / 10)] ?? '';
    return value % 10 === 0 ? tens : `${tens} ${SMALL[value % 10]}`;
  }
  for (const [size, name] of STEPS[scale]) {
    if (value < size) continue;
    const rest = value % size;
    const head = `${cardinal(Math.floor(value / size), scale)} ${name}`;
    return rest === 0 ? head : `${head} ${cardinal(rest, scale)}`;
  }
  return '';
}

function ordinal(value: number, scale: Scale): string {
  const words = cardinal(value, scale).split(' ');
  const last = words.pop() ?? '';
  const end = IRREGULAR_ORDINALS[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return [...words, end].join(' ');
}

/** "twenty twenty six", "nineteen oh five", "two thousand five". */
function englishYear(year: number): string {
  const century = Math.floor(year / 100);
  const rest = year % 100;
  if (year < 1000 || year > 9999 || (year >= 2000 && year < 2010)) return cardinal(year, 'western');
  if (rest === 0)
    return year % 1000 === 0 ? cardinal(year, 'western') : `${cardinal(century, 'western')} hundred`;
  return `${cardinal(century, 'western')} ${rest < 10 ? `oh ${SMALL[rest]}` : cardinal(rest, 'western')}`;
}

function time({ hour, minute, half }: TimeOfDay): string {
  const isPm = half === 'pm' || (half === null && hour >= 12);
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  const spoken = SMALL[twelve] ?? '';
  // "4:30" alone says neither morning nor afternoon, and nothing is made up.
  const knowsHalf = half !== null || hour > 12 || hour === 0;
  const suffix = knowsHalf ? (isPm ? ' P M' : ' A M') : '';
  if (minute === 0) return suffix === '' ? `${spoken} o'clock` : spoken + suffix;
  return `${spoken} ${minute < 10 ? `oh ${SMALL[minute]}` : cardinal(minute, 'western')}${suffix}`;
}

function english(code: string, scale: Scale, dateOrder: LanguagePack['dateOrder']): LanguagePack {
  const asYear = (year: number | null) => (year === null ? '' : ` ${englishYear(year)}`);
  return {
    ...WORDS,
    code,
    letter: /\p{Script=Latin}/u,
    cardinal: (digits, numberScale) => cardinal(Number(digits), numberScale),
    ordinal: (digits) => ordinal(Number(digits), scale),
    half: null,
    year: englishYear,
    scale,
    dateOrder,
    date: (day, month, year) =>
      dateOrder === 'day first'
        ? `${ordinal(day, scale)} ${WORDS.months[month - 1]}${asYear(year)}`
        : `${WORDS.months[month - 1]} ${ordinal(day, scale)}${year === null ? '' : ','}${asYear(year)}`,
    time,
  };
}

export const englishIndia = english('en-IN', 'indian', 'day first');
const american = english('en-US', 'western', 'month first');
export const englishUnitedStates: LanguagePack = { ...american, words: { ...american.words, hash: 'pound' } };
export const englishElsewhere = english('en-GB', 'western', 'day first');
