import { writeSounds } from './devanagari-letters.ts';
import { ORDER, type PieceModel } from './piece-model.ts';
import { type Piece, piecesAt } from './spelling-pieces.ts';

/** Open ways to write a word, kept per letter; more find nothing better. */
const BEAM = 12;

/** How much the rules of this file count beside the model; found on the tuning names by cross-validation. */
const RULE_WEIGHT = 0.5;

interface Path {
  score: number;
  keys: readonly string[];
  sounds: readonly string[];
}

/** The likeliest Devanagari of a word of letters a-z that is in no table: a beam search over its pieces. */
export function spellWord(word: string, model: PieceModel): string {
  const open: Path[][] = Array.from({ length: word.length + 1 }, () => []);
  open[0]?.push({ score: 0, keys: ['<'], sounds: [] });
  for (let at = 0; at < word.length; at++) {
    const pieces = piecesAt(word, at).map((piece) => ({
      piece,
      rule: RULE_WEIGHT * ruleScore(word, at, piece),
    }));
    for (const path of best(open[at] ?? [])) {
      for (const { piece, rule } of pieces) {
        open[at + piece.latin.length]?.push({
          score: path.score + rule + model.score(path.keys, piece.key),
          keys: [...path.keys.slice(1 - ORDER), piece.key],
          sounds: [...path.sounds, ...piece.sounds],
        });
      }
    }
    open[at] = [];
  }
  const ends = (open[word.length] ?? []).map((path) => ({
    ...path,
    score: path.score + model.score(path.keys, '>'),
  }));
  return writeSounds(best(ends)[0]?.sounds ?? []);
}

function best(paths: Path[]): Path[] {
  return paths.sort((one, other) => other.score - one.score).slice(0, BEAM);
}

/** Letters that are rarer than the Latin spelling suggests: a name that needs one is usually in the tables. */
const RARE: Readonly<Record<string, number>> = {
  ण: 1.5,
  ट: 1,
  ड: 1,
  ष: 2,
  ळ: 4,
  ['ड़'.normalize('NFC')]: 1.5,
  ढ: 1,
  ['ढ़'.normalize('NFC')]: 2,
  ठ: 0.7,
  ऋ: 1,
  ऑ: 1.5,
};

const isVowel = (letter: string | undefined): boolean => letter !== undefined && 'aeiou'.includes(letter);

/** What is known of Hindi spelling without any names, in units of log probability: 0 is usual, less is rarer. */
function ruleScore(word: string, at: number, piece: Piece): number {
  const { latin, sounds } = piece;
  const written = sounds.join('');
  const isLast = at + latin.length === word.length;
  const afterConsonant = at > 0 && !isVowel(word[at - 1]);
  let score = 0;
  for (const sound of sounds) score -= RARE[sound] ?? 0;
  if (written === '') score -= latin === 'h' ? 2 : 3;
  // The nasal dot stands on a vowel.
  if (sounds[0] === 'ं' && (at === 0 || afterConsonant)) score -= 20;
  if (latin === 'a' && written !== 'अ' && written !== 'आ') score -= 1;
  if (latin.length === 1 && isVowel(latin) && at > 0 && !afterConsonant && written === 'अ') score -= 3;
  if (!isLast) return score;
  // Final vowels are spoken long, and a name written with a final a has one.
  if (latin === 'a' && written !== 'आ') score -= 4;
  if ((latin === 'i' || (latin === 'y' && afterConsonant)) && written !== 'ई') score -= 2.5;
  if (latin === 'y' && afterConsonant && written !== 'ई' && written !== 'इ') score -= 6;
  if (latin === 'u' && written !== 'ऊ' && written !== 'उ') score -= 2;
  if (latin === 'e' && written !== 'ए') score -= 2;
  return score;
}
