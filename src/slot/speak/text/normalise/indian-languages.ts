import { DEVANAGARI_LETTERS } from './hindi.ts';
import type { LanguagePack, MoneyWords, PackWords } from './language-pack.ts';

/**
 * Languages whose voices read whole numbers well from digits: telephone numbers and identifiers are said digit by
 * digit, signs and currencies become words, and grouping commas go, because some voices stop at them.
 */
interface Words {
  code: string;
  script: string;
  digits: string;
  rupees: string;
  paise: string;
  dollars: string;
  percent: string;
  and: string;
  at: string;
  dot: string;
  plus: string;
  endingIn: string;
  lakh: string;
  crore: string;
  thousand: string;
  letters?: readonly string[];
}

const NO_WORDS: PackWords = {
  and: '',
  moneyAnd: '',
  at: '',
  dot: '',
  point: '',
  minus: '',
  plus: '',
  percent: '',
  to: '',
  number: '',
  over: '',
  times: '',
  equals: '',
  about: '',
  endingIn: '',
};

const money = (word: string, part: string): MoneyWords => ({ one: word, many: word, part: [part, part] });

function indian(words: Words): LanguagePack {
  const { lakh, crore, thousand } = words;
  return {
    code: words.code,
    letter: new RegExp(`(?!\\p{N})\\p{Script=${words.script}}`, 'u'),
    digits: words.digits.split(' '),
    cardinal: null,
    ordinal: null,
    half: null,
    year: null,
    scale: 'indian',
    dateOrder: 'day first',
    words: {
      ...NO_WORDS,
      and: words.and,
      at: words.at,
      dot: words.dot,
      plus: words.plus,
      percent: words.percent,
      endingIn: words.endingIn,
    },
    money: {
      INR: money(words.rupees, words.paise),
      USD: money(words.dollars, ''),
      EUR: money('euro', ''),
      GBP: money('pound', ''),
    },
    scaleWords: {
      k: thousand,
      thousand,
      [thousand]: thousand,
      l: lakh,
      lac: lakh,
      lakh,
      lakhs: lakh,
      [lakh]: lakh,
      cr: crore,
      crore,
      crores: crore,
      [crore]: crore,
    },
    units: {},
    letterNames: words.letters ?? null,
    months: [],
    date: null,
    time: null,
  };
}

export const INDIAN_LANGUAGES: readonly LanguagePack[] = [
  indian({
    code: 'mr-IN',
    script: 'Devanagari',
    digits: 'शून्य एक दोन तीन चार पाच सहा सात आठ नऊ',
    rupees: 'रुपये',
    paise: 'पैसे',
    dollars: 'डॉलर',
    percent: 'टक्के',
    and: 'आणि',
    at: 'ॲट',
    dot: 'डॉट',
    plus: 'प्लस',
    endingIn: 'शेवटचे अंक',
    thousand: 'हजार',
    lakh: 'लाख',
    crore: 'कोटी',
    letters: DEVANAGARI_LETTERS,
  }),
  indian({
    code: 'bn-IN',
    script: 'Bengali',
    digits: 'শূন্য এক দুই তিন চার পাঁচ ছয় সাত আট নয়',
    rupees: 'টাকা',
    paise: 'পয়সা',
    dollars: 'ডলার',
    percent: 'শতাংশ',
    and: 'এবং',
    at: 'অ্যাট',
    dot: 'ডট',
    plus: 'প্লাস',
    endingIn: 'শেষ সংখ্যা',
    thousand: 'হাজার',
    lakh: 'লাখ',
    crore: 'কোটি',
  }),
  indian({
    code: 'ta-IN',
    script: 'Tamil',
    digits: 'பூஜ்ஜியம் ஒன்று இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது',
    rupees: 'ரூபாய்',
    paise: 'பைசா',
    dollars: 'டாலர்',
    percent: 'சதவீதம்',
    and: 'மற்றும்',
    at: 'அட்',
    dot: 'டாட்',
    plus: 'பிளஸ்',
    endingIn: 'கடைசி எண்கள்',
    thousand: 'ஆயிரம்',
    lakh: 'லட்சம்',
    crore: 'கோடி',
  }),
  indian({
    code: 'te-IN',
    script: 'Telugu',
    digits: 'సున్నా ఒకటి రెండు మూడు నాలుగు ఐదు ఆరు ఏడు ఎనిమిది తొమ్మిది',
    rupees: 'రూపాయలు',
    paise: 'పైసలు',
    dollars: 'డాలర్లు',
    percent: 'శాతం',
    and: 'మరియు',
    at: 'ఎట్',
    dot: 'డాట్',
    plus: 'ప్లస్',
    endingIn: 'చివరి అంకెలు',
    thousand: 'వేల',
    lakh: 'లక్షల',
    crore: 'కోట్ల',
  }),
  indian({
    code: 'gu-IN',
    script: 'Gujarati',
    digits: 'શૂન્ય એક બે ત્રણ ચાર પાંચ છ સાત આઠ નવ',
    rupees: 'રૂપિયા',
    paise: 'પૈસા',
    dollars: 'ડોલર',
    percent: 'ટકા',
    and: 'અને',
    at: 'એટ',
    dot: 'ડોટ',
    plus: 'પ્લસ',
    endingIn: 'છેલ્લા અંક',
    thousand: 'હજાર',
    lakh: 'લાખ',
    crore: 'કરોડ',
  }),
  indian({
    code: 'kn-IN',
    script: 'Kannada',
    digits: 'ಸೊನ್ನೆ ಒಂದು ಎರಡು ಮೂರು ನಾಲ್ಕು ಐದು ಆರು ಏಳು ಎಂಟು ಒಂಬತ್ತು',
    rupees: 'ರೂಪಾಯಿ',
    paise: 'ಪೈಸೆ',
    dollars: 'ಡಾಲರ್',
    percent: 'ಪ್ರತಿಶತ',
    and: 'ಮತ್ತು',
    at: 'ಅಟ್',
    dot: 'ಡಾಟ್',
    plus: 'ಪ್ಲಸ್',
    endingIn: 'ಕೊನೆಯ ಅಂಕಿಗಳು',
    thousand: 'ಸಾವಿರ',
    lakh: 'ಲಕ್ಷ',
    crore: 'ಕೋಟಿ',
  }),
  indian({
    code: 'ml-IN',
    script: 'Malayalam',
    digits: 'പൂജ്യം ഒന്ന് രണ്ട് മൂന്ന് നാല് അഞ്ച് ആറ് ഏഴ് എട്ട് ഒമ്പത്',
    rupees: 'രൂപ',
    paise: 'പൈസ',
    dollars: 'ഡോളർ',
    percent: 'ശതമാനം',
    and: '',
    at: 'അറ്റ്',
    dot: 'ഡോട്ട്',
    plus: 'പ്ലസ്',
    endingIn: 'അവസാന അക്കങ്ങൾ',
    thousand: 'ആയിരം',
    lakh: 'ലക്ഷം',
    crore: 'കോടി',
  }),
  indian({
    code: 'pa-IN',
    script: 'Gurmukhi',
    digits: 'ਸਿਫ਼ਰ ਇੱਕ ਦੋ ਤਿੰਨ ਚਾਰ ਪੰਜ ਛੇ ਸੱਤ ਅੱਠ ਨੌਂ',
    rupees: 'ਰੁਪਏ',
    paise: 'ਪੈਸੇ',
    dollars: 'ਡਾਲਰ',
    percent: 'ਪ੍ਰਤੀਸ਼ਤ',
    and: 'ਅਤੇ',
    at: 'ਐਟ',
    dot: 'ਡਾਟ',
    plus: 'ਪਲੱਸ',
    endingIn: 'ਆਖ਼ਰੀ ਅੰਕ',
    thousand: 'ਹਜ਼ਾਰ',
    lakh: 'ਲੱਖ',
    crore: 'ਕਰੋੜ',
  }),
];

/** Any other language: markup is still taken out, but no word is put in that might be of the wrong language. */
export const otherLanguage: LanguagePack = {
  ...indian({
    code: 'und',
    script: 'Latin',
    digits: '0 1 2 3 4 5 6 7 8 9',
    rupees: '',
    paise: '',
    dollars: '',
    percent: '',
    and: '',
    at: '',
    dot: '',
    plus: '',
    endingIn: '',
    thousand: '',
    lakh: '',
    crore: '',
  }),
  letter: /\p{L}/u,
};
