/** Letters from which on a word may be spelt a little differently, and from which on more than a little. */
const FUZZY_LETTERS = 4;
const LONG_LETTERS = 8;

/** Whether one word can be what became of the other. The last one of a text may have been cut off. */
export function isSameWord(heard: string, said: string, isLast: boolean): boolean {
  if (heard === said || (isLast && heard.length > 1 && said.startsWith(heard))) return true;
  if (isIndic(heard) !== isIndic(said)) {
    const left = consonants(heard);
    return left !== '' && left === consonants(said);
  }
  const letters = Math.min(heard.length, said.length);
  return letters >= FUZZY_LETTERS && isNear(heard, said, letters >= LONG_LETTERS ? 2 : 1);
}

/** Whether so many letters must be changed, left out or put in at the most. */
function isNear(one: string, other: string, most: number): boolean {
  if (Math.abs(one.length - other.length) > most) return false;
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 0; row < one.length; row++) {
    const costs = [row + 1];
    for (let at = 0; at < other.length; at++) {
      const same = (above[at] ?? 0) + (one[row] === other[at] ? 0 : 1);
      costs.push(Math.min(same, (above[at + 1] ?? 0) + 1, (costs[at] ?? 0) + 1));
    }
    above = costs;
  }
  return (above.at(-1) ?? 0) <= most;
}

/** The consonants of the Indic scripts, whose blocks all have the same order, from ka to ha. */
const INDIC_CONSONANTS = 'kkggnccjjnttddnttddnnppbbm-rrlllvsssh';
const FIRST_CONSONANT = 0x15;
/** The signs that put an n or m behind a vowel. */
const LAST_NASAL = 0x02;

function isIndic(word: string): boolean {
  return /[\u0900-\u0d7f]/.test(word);
}

/**
 * What is left of a word in either script when an engine writes in the other one than the bot: "payment" and its
 * spelling in Devanagari share their consonants and hardly anything else.
 */
function consonants(word: string): string {
  const plain = isIndic(word)
    ? Array.from(word, (letter) => {
        const place = (letter.codePointAt(0) ?? 0) & 0x7f;
        return place <= LAST_NASAL ? 'n' : (INDIC_CONSONANTS[place - FIRST_CONSONANT] ?? '');
      }).join('')
    : word
        .replace(/ch/g, 'C')
        .replace(/([kgjtdpbs])h/g, '$1')
        .replace(/[cq]/g, 'k')
        .replaceAll('C', 'c')
        .replaceAll('w', 'v')
        .replaceAll('f', 'p')
        .replaceAll('z', 'j')
        .replaceAll('x', 'ks')
        .replace(/[^bcdghjklmnprstv]/g, '');
  return plain.replaceAll('-', '').replace(/(.)\1+/g, '$1');
}
