/**
 * Short things people say over somebody who speaks, by language: signs of listening that are not meant to stop them,
 * and words that always are (RT-12, RT-13). Each language lists its script and the Latin spelling that transcripts
 * use. A bot may replace or extend both lists.
 */
export interface InterruptionPhrases {
  backchannels: readonly string[];
  stops: readonly string[];
}

const EVERY_LANGUAGE: InterruptionPhrases = {
  backchannels: [
    'hm',
    'hmm',
    'hmmm',
    'mm',
    'mmm',
    'mhm',
    'mm hm',
    'uh huh',
    'uh',
    'um',
    'aha',
    'ah',
    'oh',
    'ok',
    'okay',
  ],
  stops: ['stop', 'wait', 'hello'],
};

const BY_LANGUAGE: Record<string, InterruptionPhrases> = {
  en: {
    backchannels: [
      'yes',
      'yeah',
      'yep',
      'yup',
      'right',
      'sure',
      'i see',
      'alright',
      'all right',
      'got it',
      'fine',
      'go on',
      'okay okay',
      'yes yes',
      'of course',
      'true',
      'correct',
    ],
    stops: [
      'stop',
      'wait',
      'hold on',
      'one second',
      'excuse me',
      'listen',
      'no no',
      'hang on',
      'wait a minute',
      'one minute',
      'enough',
    ],
  },
  hi: {
    backchannels: [
      'हाँ',
      'हां',
      'हा',
      'जी',
      'जी हाँ',
      'जी हां',
      'हाँ जी',
      'हां जी',
      'अच्छा',
      'ठीक',
      'ठीक है',
      'सही',
      'हूँ',
      'हम्म',
      'ओके',
      'हाँ हाँ',
      'हां हां',
      'haan',
      'han',
      'ha',
      'ji',
      'haan ji',
      'ji haan',
      'accha',
      'acha',
      'achha',
      'theek',
      'thik',
      'theek hai',
      'thik hai',
      'sahi',
      'haan haan',
    ],
    stops: [
      'रुको',
      'रुकिए',
      'रुकिये',
      'सुनो',
      'सुनिए',
      'सुनिये',
      'एक मिनट',
      'बस',
      'नहीं नहीं',
      'ruko',
      'rukiye',
      'rukie',
      'suno',
      'suniye',
      'ek minute',
      'ek minat',
      'bas',
      'nahi nahi',
    ],
  },
  mr: {
    backchannels: [
      'हो',
      'हां',
      'बरं',
      'बर',
      'ठीक',
      'ठीक आहे',
      'अच्छा',
      'हम्म',
      'ho',
      'bara',
      'barr',
      'thik aahe',
      'theek aahe',
    ],
    stops: ['थांबा', 'थांब', 'ऐका', 'एक मिनिट', 'नको नको', 'बास', 'thamba', 'thamb', 'aika', 'ek minit'],
  },
  bn: {
    backchannels: [
      'হ্যাঁ',
      'হুম',
      'হুঁ',
      'আচ্ছা',
      'ঠিক',
      'ঠিক আছে',
      'জি',
      'hyan',
      'haan',
      'achha',
      'thik achhe',
      'thik ache',
    ],
    stops: ['থামুন', 'থামো', 'দাঁড়ান', 'শুনুন', 'এক মিনিট', 'না না', 'thamun', 'darao', 'daran', 'shunun'],
  },
  ta: {
    backchannels: ['ஆமா', 'ஆமாம்', 'சரி', 'ம்', 'ஓகே', 'aama', 'aamaam', 'sari', 'seri'],
    stops: ['நிறுத்துங்க', 'இருங்க', 'ஒரு நிமிஷம்', 'கேளுங்க', 'இல்ல இல்ல', 'niruthunga', 'irunga', 'oru nimisham'],
  },
  te: {
    backchannels: ['అవును', 'సరే', 'ఆ', 'హా', 'ఊ', 'avunu', 'sare'],
    stops: ['ఆగండి', 'ఆగు', 'వినండి', 'ఒక నిమిషం', 'వద్దు', 'aagandi', 'oka nimisham', 'vinandi'],
  },
  kn: {
    backchannels: ['ಹೌದು', 'ಸರಿ', 'ಹಾ', 'ಹ್ಮ್', 'howdu', 'haudu', 'sari'],
    stops: ['ನಿಲ್ಲಿ', 'ಕೇಳಿ', 'ಒಂದು ನಿಮಿಷ', 'ಬೇಡ', 'nilli', 'keli', 'ondu nimisha'],
  },
  gu: {
    backchannels: ['હા', 'જી', 'સારું', 'બરાબર', 'ઠીક છે', 'અચ્છા', 'saru', 'barabar', 'thik chhe'],
    stops: ['રોકો', 'ઉભા રહો', 'સાંભળો', 'એક મિનિટ', 'બસ', 'ubha raho', 'sambhalo', 'ek minit'],
  },
};

/** Lists of a language (BCP 47) together with those that hold everywhere; unknown languages have the latter only. */
export function interruptionPhrases(language: string | undefined): InterruptionPhrases {
  const own = BY_LANGUAGE[(language ?? '').toLowerCase().split('-')[0] ?? ''];
  // Callers in India mix English into every language, so its lists hold beside the bot's own.
  const english = BY_LANGUAGE.en as InterruptionPhrases;
  const parts = [EVERY_LANGUAGE, english, ...(own && own !== english ? [own] : [])];
  return {
    backchannels: parts.flatMap(({ backchannels }) => backchannels),
    stops: parts.flatMap(({ stops }) => stops),
  };
}
