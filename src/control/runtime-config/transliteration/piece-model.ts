import type { Piece } from './spelling-pieces.ts';

/** Pieces in a count: the one that is judged and the ones before it. */
export const ORDER = 5;

/** The chance of a piece that no name has; the tables allow some hundred pieces, most of them never needed. */
const UNSEEN = 1e-5;

/**
 * How likely a piece is after the pieces before it, learned from aligned names: a joint n-gram model over pairs of
 * spelling and sound (Bisani and Ney 2008, "Joint-sequence models for grapheme-to-phoneme conversion"), smoothed by
 * Witten and Bell's interpolation (1991): a context that was followed by many different pieces trusts itself less.
 */
export class PieceModel {
  private readonly contexts = new Map<string, { total: number; next: Map<string, number> }>();

  /** Counts one name. */
  learn(pieces: readonly Piece[]): void {
    const keys = ['<', ...pieces.map((piece) => piece.key), '>'];
    for (let at = 1; at < keys.length; at++) {
      for (let length = 0; length < ORDER && length <= at; length++) {
        const context = keys.slice(at - length, at).join(' ');
        const entry = this.contexts.get(context) ?? { total: 0, next: new Map<string, number>() };
        const key = keys[at] ?? '>';
        entry.total++;
        entry.next.set(key, (entry.next.get(key) ?? 0) + 1);
        this.contexts.set(context, entry);
      }
    }
  }

  /** Logarithm of the probability of `key` after `history` (oldest first). */
  score(history: readonly string[], key: string): number {
    let probability = UNSEEN;
    for (let length = 0; length < ORDER && length <= history.length; length++) {
      const entry = this.contexts.get(history.slice(history.length - length).join(' '));
      if (!entry) break;
      const kinds = entry.next.size;
      probability = ((entry.next.get(key) ?? 0) + kinds * probability) / (entry.total + kinds);
    }
    return Math.log(probability);
  }
}
