/**
 * Two spellings of one name have one key: `Suneeta` and `Sunita`, `Vishwanath` and `Vishvanath`. Only what never tells
 * two names apart is levelled: vowel length marks, v and w, doubled letters.
 */
export function closeKey(word: string): string {
  return word
    .replace(/ee|ii/g, 'i')
    .replace(/oo|uu/g, 'u')
    .replace(/ou|ow/g, 'au')
    .replace(/aa/g, 'a')
    .replace(/w/g, 'v')
    .replace(/f/g, 'ph')
    .replace(/z/g, 'j')
    .replace(/q/g, 'k')
    .replace(/x/g, 'ksh')
    .replace(/y$/, 'i')
    .replace(/([a-z])\1/g, '$1')
    .replace(/iy/g, 'i')
    .replace(/ender$/, 'endra');
}

/**
 * The key for spellings of another region: `th` for त in the South, `e` beside `i`, a short a that is not spoken
 * (`Kamla`, `Kamala`). It joins some different names too, so that the closer key is asked first.
 */
export function looseKey(word: string): string {
  return closeKey(word)
    .replace(/^par(?=[bdkmt])/, 'pra')
    .replace(/(?<=..[ae])o$/, 'v')
    .replace(/th/g, 't')
    .replace(/sh/g, 's')
    .replace(/dh/g, 'd')
    .replace(/e/g, 'i')
    .replace(/h$/, '')
    .replace(/([aeiou][a-z]h?)a(?=[a-z]h?[aeiou])/g, '$1');
}

/**
 * The consonants of a name and whether it ends in a vowel: for `Akhlesh` beside `Akhilesh`. Many names share one, so
 * that only a spelling close by counts as the same name.
 */
export function skeletonKey(word: string): string {
  const levelled = looseKey(word).replace(/b/g, 'v').replace(/h/g, '');
  const ending = /[aeiou]$/.exec(levelled)?.[0] ?? '';
  return levelled.slice(0, 1) + levelled.slice(1).replace(/[aeiouy]/g, '') + (ending === 'i' ? 'i' : '');
}

/**
 * How far apart two spellings are: letters to insert, drop or change (Levenshtein 1966), where a change that hardly
 * changes the sound costs less than one that makes another name. For words of at most some 40 letters.
 */
export function spellingDistance(from: string, to: string): number {
  let row = [0];
  for (let other = 0; other < to.length; other++) row.push((row[other] ?? 0) + oneLetter(to, other));
  for (let at = 0; at < from.length; at++) {
    const next = [(row[0] ?? 0) + oneLetter(from, at)];
    for (let other = 0; other < to.length; other++) {
      const change =
        (row[other] ?? 0) +
        exchange(from[at] ?? '', to[other] ?? '') +
        (endsApart(from, at, to, other) ? 1 : 0);
      const drop = (row[other + 1] ?? 0) + oneLetter(from, at);
      const insert = (next[other] ?? 0) + oneLetter(to, other);
      next.push(Math.min(change, drop, insert));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Whether the words end here in vowels of different names: `Prabha` and `Prabhu`. */
function endsApart(from: string, at: number, to: string, other: number): boolean {
  const isEnd = at === from.length - 1 && other === to.length - 1;
  return (
    isEnd && from[at] !== to[other] && 'aiu'.includes(from[at] ?? '-') && 'aiu'.includes(to[other] ?? '-')
  );
}

/** Pairs that stand for one sound or for neighbouring ones. */
const NEAR: Readonly<Record<string, number>> = {
  vw: 0,
  ei: 0.5,
  iy: 0.3,
  ou: 0.5,
  bv: 0.5,
  jz: 0.3,
  kq: 0.2,
  sz: 0.7,
  ae: 0.8,
  au: 1.2,
  ai: 1.4,
  ao: 1.2,
};

function exchange(one: string, other: string): number {
  if (one === other) return 0;
  return NEAR[one < other ? one + other : other + one] ?? 1.5;
}

/** The cost of a letter that only one spelling has. A last vowel tells a woman's name from a man's. */
function oneLetter(word: string, at: number): number {
  const letter = word[at] ?? '';
  if (letter === word[at - 1]) return 0.3;
  if (letter === 'h') return 0.5;
  if (at === word.length - 1 && 'aiu'.includes(letter)) return 2;
  return letter === 'a' ? 0.7 : 1;
}
