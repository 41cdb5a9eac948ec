/** Titles and the short forms of records, without their full stop, and what stands for them in Hindi. */
const TITLES = new Map<string, string>(
  Object.entries({
    mr: 'श्री',
    shri: 'श्री',
    shree: 'श्री',
    sri: 'श्री',
    sh: 'श्री',
    mrs: 'श्रीमती',
    smt: 'श्रीमती',
    shrimati: 'श्रीमती',
    ms: 'सुश्री',
    miss: 'सुश्री',
    sushri: 'सुश्री',
    km: 'कुमारी',
    kum: 'कुमारी',
    dr: 'डॉ.',
    prof: 'प्रो.',
    adv: 'एडवोकेट',
    er: 'इंजीनियर',
    capt: 'कैप्टन',
    late: 'स्वर्गीय',
    md: 'मोहम्मद',
    mohd: 'मोहम्मद',
    moh: 'मोहम्मद',
    ji: 'जी',
    jr: 'जूनियर',
    sr: 'सीनियर',
    's/o': 'पुत्र',
    'd/o': 'पुत्री',
    'w/o': 'पत्नी',
  }).map(([latin, devanagari]) => [latin, devanagari.normalize('NFC')]),
);

/** Not titles but the name itself, shortened: `Md. Imran` is called Mohammad. */
const SHORT_NAMES = new Set(['md', 'mohd', 'moh', 'मोहम्मद']);

const IN_HINDI = new Set([...TITLES.values()].map((title) => title.replace(/\.$/, '')));

/** The Hindi for a title or a short form, or null for any other word. */
export function titleOf(word: string): string | null {
  return TITLES.get(word.toLowerCase()) ?? null;
}

/** Whether a word, with or without its full stop and in either script, stands beside the name and is not part of it. */
export function isTitle(word: string): boolean {
  const plain = word.toLowerCase().normalize('NFC').replace(/\.$/, '');
  return (TITLES.has(plain) || IN_HINDI.has(plain)) && !SHORT_NAMES.has(plain);
}
