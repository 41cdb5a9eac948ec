/** A word further away than this is no likely slip of the fingers. */
const MAX_EDITS = 2;

/** The known word that is most likely meant, or null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of known) {
    const edits = candidate.startsWith(word) && word.length >= 2 ? 1 : editDistance(word, candidate);
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

/** Levenshtein distance over characters or words: single changes that turn one sequence into the other. */
export function editDistance(from: ArrayLike<string>, to: ArrayLike<string>): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (previous[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return previous[to.length] as number;
}
