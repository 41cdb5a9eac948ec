import type { LanguagePack, Scale, TimeOfDay } from './language-pack.ts';

/** English as spoken in India (lakh, crore, day before month) and in the United States. */
const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
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
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

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
    code,
    letter: /\p{Script=Latin}/u,
    digits: SMALL.slice(0, 10),
    cardinal: (digits, numberScale) => cardinal(Number(digits), numberScale),
    ordinal: (digits) => ordinal(Number(digits), scale),
    half: null,
    year: englishYear,
    scale,
    dateOrder,
    words: {
      and: 'and',
      moneyAnd: 'and',
      at: 'at',
      dot: 'dot',
      point: 'point',
      minus: 'minus',
      plus: 'plus',
      percent: 'percent',
      to: 'to',
      number: 'number',
      over: 'by',
      times: 'times',
      equals: 'equals',
      about: 'about',
      endingIn: 'ending in',
    },
    money: {
      INR: { one: 'rupee', many: 'rupees', part: ['paisa', 'paise'] },
      USD: { one: 'dollar', many: 'dollars', part: ['cent', 'cents'] },
      EUR: { one: 'euro', many: 'euros', part: ['cent', 'cents'] },
      GBP: { one: 'pound', many: 'pounds', part: ['penny', 'pence'] },
    },
    scaleWords: {
      k: 'thousand',
      thousand: 'thousand',
      l: 'lakh',
      lac: 'lakh',
      lacs: 'lakh',
      lakh: 'lakh',
      lakhs: 'lakh',
      cr: 'crore',
      crore: 'crore',
      crores: 'crore',
      m: 'million',
      mn: 'million',
      million: 'million',
      b: 'billion',
      bn: 'billion',
      billion: 'billion',
    },
    units: {
      km: ['kilometre', 'kilometres'],
      cm: ['centimetre', 'centimetres'],
      mm: ['millimetre', 'millimetres'],
      kg: ['kilogram', 'kilograms'],
      kgs: ['kilogram', 'kilograms'],
      mg: ['milligram', 'milligrams'],
      ml: ['millilitre', 'millilitres'],
      GB: ['gigabyte', 'gigabytes'],
      MB: ['megabyte', 'megabytes'],
      KB: ['kilobyte', 'kilobytes'],
      TB: ['terabyte', 'terabytes'],
      Mbps: ['megabit per second', 'megabits per second'],
      kbps: ['kilobit per second', 'kilobits per second'],
      'km/h': ['kilometre per hour', 'kilometres per hour'],
      kmph: ['kilometre per hour', 'kilometres per hour'],
      kWh: ['kilowatt hour', 'kilowatt hours'],
      kW: ['kilowatt', 'kilowatts'],
      hr: ['hour', 'hours'],
      hrs: ['hour', 'hours'],
      min: ['minute', 'minutes'],
      mins: ['minute', 'minutes'],
      sec: ['second', 'seconds'],
      secs: ['second', 'seconds'],
      yr: ['year', 'years'],
      yrs: ['year', 'years'],
      'sq ft': ['square foot', 'square feet'],
      sqft: ['square foot', 'square feet'],
      '°C': ['degree Celsius', 'degrees Celsius'],
      '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
      '°': ['degree', 'degrees'],
    },
    letterNames: null,
    months: MONTHS,
    date: (day, month, year) =>
      dateOrder === 'day first'
        ? `${ordinal(day, scale)} ${MONTHS[month - 1]}${asYear(year)}`
        : `${MONTHS[month - 1]} ${ordinal(day, scale)}${year === null ? '' : ','}${asYear(year)}`,
    time,
  };
}

export const englishIndia = english('en-IN', 'indian', 'day first');
export const englishUnitedStates = english('en-US', 'western', 'month first');
export const englishElsewhere = english('en-GB', 'western', 'day first');
