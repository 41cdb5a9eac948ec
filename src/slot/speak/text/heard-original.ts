/**
 * From what was spoken back to what was written: how many characters of `text` the first `heardChars` of its `spoken`
 * form stand for. Words that are the same on both sides anchor the two; between anchors the share is proportional.
 * The ledger cuts there (RT-17), so the transcript shows "₹1,50,000" where the caller heard "one lakh fifty thousand".
 */
export function heardOriginalChars(text: string, spoken: string, heardChars: number): number {
  if (heardChars <= 0) return 0;
  if (heardChars >= spoken.length) return text.length;
  if (text === spoken) return heardChars;
  let from: Anchor = { written: 0, said: 0 };
  for (const anchor of anchors(text, spoken)) {
    if (anchor.said > heardChars) return between(from, anchor, heardChars);
    from = anchor;
  }
  return between(from, { written: text.length, said: spoken.length }, heardChars);
}

interface Anchor {
  written: number;
  said: number;
}

/** An anchor is looked for this many words ahead; a number of any length is shorter in words. */
const MAX_WORDS_AHEAD = 40;

/** Beginnings and ends of the words that both texts have, in order. */
function anchors(text: string, spoken: string): Anchor[] {
  const said = wordsOf(spoken);
  const found: Anchor[] = [];
  let next = 0;
  for (const word of wordsOf(text)) {
    for (let ahead = next; ahead < Math.min(said.length, next + MAX_WORDS_AHEAD); ahead++) {
      const candidate = said[ahead];
      if (candidate?.word !== word.word) continue;
      found.push({ written: word.at, said: candidate.at });
      found.push({ written: word.at + word.word.length, said: candidate.at + word.word.length });
      next = ahead + 1;
      break;
    }
  }
  return found;
}

function wordsOf(text: string): Array<{ word: string; at: number }> {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].map((match) => ({ word: match[0], at: match.index }));
}

function between(from: Anchor, to: Anchor, heardChars: number): number {
  const span = to.said - from.said;
  const share = span === 0 ? 1 : (heardChars - from.said) / span;
  return Math.round(from.written + share * (to.written - from.written));
}
