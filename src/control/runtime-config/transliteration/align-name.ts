import { soundsOf } from './devanagari-letters.ts';
import { type Piece, piecesAt } from './spelling-pieces.ts';

/** What a piece costs in an alignment: many short pieces explain a name better than few that swallow letters. */
const costOf = (piece: Piece): number => {
  if (piece.sounds.length === 0) return 3;
  return 1 + Math.abs(piece.latin.length - piece.sounds.length) * 0.1;
};

/** Dots under फ and ज are often left out in writing; the Latin letters f and z say where they belong. */
const plain = (sound: string): string => (sound === 'फ़' || sound === 'ज़' ? sound.slice(0, 1) : sound);

/**
 * Cuts a known name into pieces that spell its Devanagari, the cheapest way; null where the tables do not allow any.
 * Both sides are cut in one pass over (Latin position, sound position).
 */
export function alignName(latin: string, written: string): Piece[] | null {
  const sounds = soundsOf(written.normalize('NFC'));
  if (!sounds) return null;
  const width = sounds.length + 1;
  const best: ({ cost: number; piece: Piece | null; from: number } | undefined)[] = [];
  best[0] = { cost: 0, piece: null, from: 0 };
  for (let at = 0; at < latin.length; at++) {
    const pieces = piecesAt(latin, at);
    for (let heard = 0; heard < width; heard++) {
      const here = best[at * width + heard];
      if (!here) continue;
      for (const piece of pieces) {
        if (!piece.sounds.every((sound, index) => plain(sound) === plain(sounds[heard + index] ?? '')))
          continue;
        const to = (at + piece.latin.length) * width + heard + piece.sounds.length;
        const cost = here.cost + costOf(piece);
        if (cost < (best[to]?.cost ?? Number.POSITIVE_INFINITY))
          best[to] = { cost, piece, from: at * width + heard };
      }
    }
  }
  return walkBack(best, latin.length * width + sounds.length);
}

function walkBack(
  best: readonly ({ piece: Piece | null; from: number } | undefined)[],
  end: number,
): Piece[] | null {
  const pieces: Piece[] = [];
  for (let at = end, cell = best[at]; ; at = cell.from, cell = best[at]) {
    if (!cell) return null;
    if (!cell.piece) return pieces.reverse();
    pieces.push(cell.piece);
  }
}
