/**
 * Devanagari as a row of sounds: a consonant, then its vowel as an independent letter, the inherent अ written out.
 * So `राजेश` is `र आ ज ए श`. In this form a vowel is the same piece wherever it stands, and two consonants side by
 * side are a conjunct. The last consonant of a word carries no vowel, as names are spoken.
 */
const SIGN_OF: Readonly<Record<string, string>> = {
  आ: 'ा',
  इ: 'ि',
  ई: 'ी',
  उ: 'ु',
  ऊ: 'ू',
  ऋ: 'ृ',
  ए: 'े',
  ऐ: 'ै',
  ऑ: 'ॉ',
  ओ: 'ो',
  औ: 'ौ',
};
const VOWEL_OF = new Map(Object.entries(SIGN_OF).map(([vowel, sign]) => [sign, vowel]));
const VIRAMA = '्';
const CONSONANT = /^[क-ह]/;

/** The sounds of a word in NFC; null where a character is no Devanagari letter. */
export function soundsOf(written: string): string[] | null {
  const letters = written.match(/[क-ह]़?|[अ-औ]|[ा-ौ]|[ँंः]|्/g) ?? [];
  if (letters.join('') !== written) return null;
  const sounds: string[] = [];
  for (const [index, letter] of letters.entries()) {
    const next = letters[index + 1];
    if (letter === VIRAMA) continue;
    sounds.push(VOWEL_OF.get(letter) ?? letter);
    if (CONSONANT.test(letter) && next !== undefined && next !== VIRAMA && !VOWEL_OF.has(next))
      sounds.push('अ');
  }
  return sounds;
}

/** The sounds of a word as they are written. */
export function writeSounds(sounds: readonly string[]): string {
  let written = '';
  let afterConsonant = false;
  for (const sound of sounds) {
    const isConsonant = CONSONANT.test(sound);
    if (isConsonant) written += afterConsonant ? VIRAMA + sound : sound;
    else if (afterConsonant) written += sound === 'अ' ? '' : (SIGN_OF[sound] ?? sound);
    else written += sound;
    afterConsonant = isConsonant;
  }
  return written;
}
