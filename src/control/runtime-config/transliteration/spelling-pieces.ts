/** One way to write a few Latin letters: `sh` as श. `sounds` is a row as in devanagari-letters.ts. */
export interface Piece {
  latin: string;
  sounds: readonly string[];
  /** Latin and sounds in one string: what the model counts. */
  key: string;
}

/** The longest Latin spelling in the tables. */
const MAX_LATIN = 3;

const VOWELS: Readonly<Record<string, string>> = {
  a: 'अ,आ,ऐ,ए,ऑ,-',
  aa: 'आ',
  ah: 'आ,अ ह',
  ai: 'ऐ,आ इ,आ ई,अ ई,ए,आ य,आ य अ',
  au: 'औ,आ उ,अ उ,अ ऊ,ऑ',
  aw: 'ऑ',
  ay: 'ए,ऐ',
  e: 'ए,ऐ,इ,ई,अ,-,इ य',
  ea: 'ई,इ',
  ee: 'ई,इ',
  ei: 'ए,ऐ,ई',
  ew: 'य ऊ,ऊ',
  ey: 'ए',
  i: 'इ,ई,इ य,आ इ,य,अ,-',
  ie: 'ई,ए',
  ii: 'ई',
  o: 'ओ,औ,ऑ,अ,उ',
  oo: 'ऊ,उ,ओ',
  ou: 'औ,ऊ,उ',
  oy: 'ऑ य',
  u: 'उ,ऊ,अ,-',
  uu: 'ऊ',
  y: 'य,ई,इ,इ य,-',
  yy: 'य य',
};

const CONSONANTS: Readonly<Record<string, string>> = {
  b: 'ब,भ',
  bh: 'भ',
  c: 'क,स,च',
  ch: 'च,छ,क',
  chh: 'छ',
  ck: 'क',
  d: 'द,ड,ड़',
  dh: 'ध,ढ,ढ़',
  dny: 'ज ञ',
  f: 'फ़',
  g: 'ग,ज',
  gh: 'घ,ह,ग',
  gy: 'ज ञ',
  h: 'ह,-',
  j: 'ज,झ',
  jh: 'झ',
  jn: 'ज ञ',
  k: 'क,ख',
  kh: 'ख',
  l: 'ल,ळ',
  m: 'म,ं',
  n: 'न,ण,ं,ञ',
  p: 'प,फ',
  ph: 'फ,फ़',
  q: 'क',
  qu: 'क,क व',
  r: 'र,ड़',
  rh: 'ढ़,र',
  ri: 'ऋ,र ऋ',
  ru: 'ऋ',
  s: 'स,श,ष,ज',
  sh: 'श,ष',
  t: 'त,ट,थ',
  th: 'थ,ठ,त,ट',
  v: 'व,ब',
  w: 'व,उ',
  x: 'क स,क ष',
  z: 'ज़',
  zh: 'झ,ष',
};

const PIECES = buildPieces();

/** Every piece that can begin at `at` in a word of the letters a-z. A piece that ends in the inherent अ it inserts stands
 * before a consonant only. */
export function piecesAt(word: string, at: number): Piece[] {
  const found: Piece[] = [];
  for (let length = 1; length <= MAX_LATIN && at + length <= word.length; length++) {
    const pieces = PIECES.get(word.slice(at, at + length));
    if (!pieces) continue;
    const next = word[at + length];
    found.push(...pieces.plain);
    if (next !== undefined && !'aeiou'.includes(next)) found.push(...pieces.voiced);
  }
  return found;
}

function buildPieces(): Map<string, { plain: Piece[]; voiced: Piece[] }> {
  const table = new Map<string, { plain: Piece[]; voiced: Piece[] }>();
  const add = (latin: string, outputs: string, consonant: boolean) => {
    const known = table.get(latin) ?? { plain: [], voiced: [] };
    for (const output of outputs.normalize('NFC').split(',')) {
      const sounds = output === '-' ? [] : output.split(' ');
      known.plain.push(piece(latin, sounds));
      if (consonant && /^[क-ह]/.test(sounds.at(-1) ?? '')) known.voiced.push(piece(latin, [...sounds, 'अ']));
    }
    table.set(latin, known);
  };
  for (const [latin, outputs] of Object.entries(VOWELS)) add(latin, outputs, false);
  for (const [latin, outputs] of Object.entries(CONSONANTS)) add(latin, outputs, true);
  for (const latin of 'bcdfgjklmnpqrstvz') {
    const single = CONSONANTS[latin] ?? '';
    add(latin + latin, single, true);
  }
  add('y', 'य', true);
  return table;
}

function piece(latin: string, sounds: readonly string[]): Piece {
  return { latin, sounds, key: `${latin}:${sounds.join('')}` };
}
