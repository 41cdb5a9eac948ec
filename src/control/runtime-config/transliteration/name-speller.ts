import { alignName } from './align-name.ts';
import { PieceModel } from './piece-model.ts';
import { spellWord } from './spell-word.ts';
import { closeKey, looseKey, skeletonKey, spellingDistance } from './spelling-key.ts';

/** A Latin spelling in letters a-z and the Devanagari that people write for it. */
export type KnownName = readonly [latin: string, devanagari: string];

/** How a word was found, the surest first. */
export type Found = 'known' | 'spelling' | 'compound' | 'region' | 'neighbour' | 'rules';

/** Writes one word of letters a-z in Devanagari. */
export type NameSpeller = (word: string) => { devanagari: string; found: Found };

/** What stands behind a woman's whole name. */
const WOMANS_TITLE = /^(bai|ben|devi|rani|kumari|bano|begum)$/;

/** The shortest part of a compound: shorter ones are found in any word. */
const MIN_PART = 3;

/**
 * A speller that knows `names` and the `elements` that names are put together from (`lal`, `preet`). A word is looked
 * up as it is, in another spelling, in the spelling of another region, as two known parts, and beside the known name
 * that it differs least from; what is left is written by rules and by analogy with the known names.
 */
export function createNameSpeller(names: readonly KnownName[], elements: readonly KnownName[]): NameSpeller {
  const exact = new Map(names);
  const close = groupBy([...names, ...elements], closeKey);
  const closeElements = groupBy(elements, closeKey);
  const loose = groupBy(names, looseKey);
  const skeletons = groupBy(names, skeletonKey);
  const model = new PieceModel();
  for (const [latin, devanagari] of [...names, ...elements]) {
    const pieces = alignName(latin, devanagari);
    if (pieces) model.learn(pieces);
  }

  const part = (word: string): string | null => {
    const key = closeKey(word);
    return nearest(word, closeElements.get(key)) ?? exact.get(word) ?? nearest(word, close.get(key));
  };
  // In the South an a joins the parts: `Raja-gopal` is राज and गोपाल, but `Kamala-bai` is कमला and बाई.
  const firstPart = (word: string, second: string): string | null => {
    const joined = word.length > MIN_PART && word.endsWith('a') && !WOMANS_TITLE.test(second);
    return (joined ? part(word.slice(0, -1)) : null) ?? part(word);
  };
  const compound = (word: string): string | null => {
    let best: { written: string; uneven: number } | null = null;
    for (let cut = MIN_PART; cut <= word.length - MIN_PART; cut++) {
      // A part that begins with a vowel would melt into the one before it.
      if ('aeiou'.includes(word[cut] ?? '')) continue;
      const uneven = Math.abs(cut - word.length / 2);
      if (best && best.uneven <= uneven) continue;
      const second = part(word.slice(cut));
      const first = second === null ? null : firstPart(word.slice(0, cut), word.slice(cut));
      if (first !== null && second !== null) best = { written: first + second, uneven };
    }
    return best?.written ?? null;
  };

  return (word) => {
    const known = exact.get(word);
    if (known !== undefined) return { devanagari: known, found: 'known' };
    const respelled = nearest(word, close.get(closeKey(word)));
    if (respelled !== null) return { devanagari: respelled, found: 'spelling' };
    const regional = nearest(word, loose.get(looseKey(word)), FARTHEST_REGIONAL);
    if (regional !== null) return { devanagari: regional, found: 'region' };
    const joined = compound(word);
    if (joined !== null) return { devanagari: joined, found: 'compound' };
    const neighbour = nearest(word, skeletons.get(skeletonKey(word)), FARTHEST_NEIGHBOUR);
    if (neighbour !== null) return { devanagari: neighbour, found: 'neighbour' };
    return { devanagari: spellWord(word, model), found: 'rules' };
  };
}

/**
 * How far a spelling may be from the known name that it shares a key with, as spellingDistance counts. Both were found
 * by cross-validation on the names that are not held out.
 */
const FARTHEST_REGIONAL = 3;
const FARTHEST_NEIGHBOUR = 1.4;

function groupBy(names: readonly KnownName[], keyOf: (word: string) => string): Map<string, KnownName[]> {
  const groups = new Map<string, KnownName[]>();
  for (const name of names) {
    const key = keyOf(name[0]);
    const group = groups.get(key);
    if (group) group.push(name);
    else groups.set(key, [name]);
  }
  return groups;
}

/** The name of the group that is spelled most like the word; the earlier one of two. */
function nearest(
  word: string,
  group: readonly KnownName[] | undefined,
  farthest = Number.POSITIVE_INFINITY,
): string | null {
  let best: { latin: string; written: string; distance: number } | null = null;
  for (const [latin, written] of group ?? []) {
    const distance = spellingDistance(word, latin);
    if (distance <= farthest && (!best || distance < best.distance)) best = { latin, written, distance };
  }
  return best && withOwnLabial(word, best.latin, best.written);
}

/** `Bikram` beside the known `Vikram`: who spells a b says ब, and who spells a v says व. */
function withOwnLabial(word: string, latin: string, written: string): string {
  const hasB = /b(?!h)/;
  if (hasB.test(latin) && !word.includes('b')) return written.replaceAll('ब', 'व');
  const isOneV = /^[^vw]*[vw][^vw]*$/.test(latin) && !/[vw]/.test(word);
  return isOneV && hasB.test(word) && !latin.includes('b') ? written.replace('व', 'ब') : written;
}
