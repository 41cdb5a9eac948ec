import type { LanguagePack, TimeOfDay } from './language-pack.ts';

/** Every Hindi number below a hundred has its own word. */
const BELOW_HUNDRED = `शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस
बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस
चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ
साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी
अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे`.split(
  /\s+/,
);

const STEPS = [
  [100_000_000_000, 'खरब'],
  [1_000_000_000, 'अरब'],
  [10_000_000, 'करोड़'],
  [100_000, 'लाख'],
  [1_000, 'हज़ार'],
  [100, 'सौ'],
] as const;

const MONTHS = 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' ');

const ORDINALS: Readonly<Record<number, string>> = {
  1: 'पहला',
  2: 'दूसरा',
  3: 'तीसरा',
  4: 'चौथा',
  6: 'छठा',
};

/** Names of the Latin letters, as Hindi speakers say abbreviations. */
export const DEVANAGARI_LETTERS =
  'ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड'.split(' ');

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

const one = (word: string) => [word, word] as const;

export const hindi: LanguagePack = {
  code: 'hi-IN',
  letter: /(?!\p{N})\p{Script=Devanagari}/u,
  digits: BELOW_HUNDRED.slice(0, 10),
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
  words: {
    and: 'और',
    moneyAnd: '',
    at: 'ऐट',
    dot: 'डॉट',
    point: 'दशमलव',
    minus: 'माइनस',
    plus: 'प्लस',
    percent: 'प्रतिशत',
    to: 'से',
    number: 'नंबर',
    over: 'बटा',
    times: 'गुणा',
    equals: 'बराबर',
    about: 'लगभग',
    endingIn: 'आख़िरी अंक',
  },
  money: {
    INR: { one: 'रुपया', many: 'रुपये', part: one('पैसे') },
    USD: { one: 'डॉलर', many: 'डॉलर', part: one('सेंट') },
    EUR: { one: 'यूरो', many: 'यूरो', part: one('सेंट') },
    GBP: { one: 'पाउंड', many: 'पाउंड', part: one('पेंस') },
  },
  scaleWords: {
    k: 'हज़ार',
    thousand: 'हज़ार',
    हज़ार: 'हज़ार',
    हजार: 'हज़ार',
    l: 'लाख',
    lac: 'लाख',
    lakh: 'लाख',
    lakhs: 'लाख',
    लाख: 'लाख',
    cr: 'करोड़',
    crore: 'करोड़',
    crores: 'करोड़',
    करोड़: 'करोड़',
    अरब: 'अरब',
    m: 'मिलियन',
    million: 'मिलियन',
    bn: 'बिलियन',
    billion: 'बिलियन',
  },
  units: {
    km: one('किलोमीटर'),
    cm: one('सेंटीमीटर'),
    mm: one('मिलीमीटर'),
    kg: one('किलोग्राम'),
    mg: one('मिलीग्राम'),
    ml: one('मिलीलीटर'),
    GB: one('जीबी'),
    MB: one('एमबी'),
    'km/h': one('किलोमीटर प्रति घंटा'),
    hr: ['घंटा', 'घंटे'],
    hrs: ['घंटा', 'घंटे'],
    min: one('मिनट'),
    mins: one('मिनट'),
    sec: one('सेकंड'),
    secs: one('सेकंड'),
    'कि.मी.': one('किलोमीटर'),
    किमी: one('किलोमीटर'),
    'कि.ग्रा.': one('किलोग्राम'),
    किग्रा: one('किलोग्राम'),
    '°C': one('डिग्री सेल्सियस'),
    '°F': one('डिग्री फ़ारेनहाइट'),
    '°': one('डिग्री'),
  },
  letterNames: DEVANAGARI_LETTERS,
  months: MONTHS,
  date: (day, month, year) =>
    `${cardinal(day)} ${MONTHS[month - 1]}${year === null ? '' : ` ${hindiYear(year)}`}`,
  time,
};
