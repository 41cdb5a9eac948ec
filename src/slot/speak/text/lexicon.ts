import type { Pronunciation } from '../../../contracts/bot/conversation.ts';
import { MAX_PRONUNCIATIONS } from '../../../contracts/limits.ts';

const MAX_WORD_CHARS = 100;
/** Entries set aside while the numbers are said stand as one character of the private use area each. */
const PLACEHOLDER_START = 0xe000;

interface Entry {
  index: number;
  word: string;
  spoken: string;
  anyCase: boolean;
}

interface Node {
  next: Map<string, Node>;
  entries: Entry[];
}

/**
 * How a bot wants words pronounced (RT-41): whole words only, the longest entry first, after the numbers were put into
 * words. An entry in small letters fits any case; one with capitals fits only as it is written.
 */
export class Lexicon {
  private readonly early: Node = newNode();
  private readonly late: Node = newNode();
  private readonly spoken: string[] = [];

  /**
   * `normalised` says what the rules would make of a word alone. A word that they would change ("EMI", "24/7") has to
   * be found before them; all others are found in what they leave.
   */
  constructor(entries: readonly Pronunciation[], normalised: (word: string) => string) {
    for (const { word: written, spoken } of entries.slice(0, MAX_PRONUNCIATIONS)) {
      const word = written.normalize('NFC').trim().replace(/\s+/g, ' ');
      if (word === '' || word.length > MAX_WORD_CHARS) continue;
      const index = this.spoken.push(spoken) - 1;
      const entry = { index, word, spoken, anyCase: word === lower(word) };
      insert(normalised(word) === word ? this.late : this.early, entry);
    }
  }

  /** Sets aside the words that the number rules would spoil. The text must hold no private-use characters. */
  setAside(text: string): string {
    return replaceWords(text, this.early, ({ index }) => String.fromCharCode(PLACEHOLDER_START + index));
  }

  /** Puts in the pronunciations of the words set aside and of all others; `onWord` is called for each. */
  apply(text: string, onWord: () => void): string {
    const found = replaceWords(text, this.late, ({ index }) =>
      String.fromCharCode(PLACEHOLDER_START + index),
    );
    return found.replace(/[\ue000-\uf8ff]/g, (placeholder) => {
      onWord();
      return this.spoken[placeholder.charCodeAt(0) - PLACEHOLDER_START] ?? '';
    });
  }
}

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}\p{Co}]/u;
const isWordCharacter = (char: string) => char !== '' && WORD_CHARACTER.test(char);

/** One walk over the text; from each beginning of a word at most the longest entry is followed. */
function replaceWords(text: string, root: Node, put: (entry: Entry) => string): string {
  if (root.next.size === 0) return text;
  const small = lower(text);
  let out = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (!root.next.has(small.charAt(at))) continue;
    if (at > 0 && isWordCharacter(text.charAt(at - 1)) && isWordCharacter(text.charAt(at))) continue;
    const entry = longestAt(text, small, at, root);
    if (!entry) continue;
    out += text.slice(from, at) + put(entry);
    from = at + entry.word.length;
    at = from - 1;
  }
  return out + text.slice(from);
}

function longestAt(text: string, small: string, start: number, root: Node): Entry | undefined {
  let best: Entry | undefined;
  let node: Node | undefined = root;
  for (let at = start; node; at++) {
    const isWholeWord = !(isWordCharacter(text.charAt(at - 1)) && isWordCharacter(text.charAt(at)));
    if (node.entries.length > 0 && isWholeWord) {
      const written = text.slice(start, at);
      const exact = node.entries.find((entry) => entry.word === written);
      best = exact ?? node.entries.find((entry) => entry.anyCase) ?? best;
    }
    node = at < text.length ? node.next.get(small.charAt(at)) : undefined;
  }
  return best;
}

function insert(root: Node, entry: Entry): void {
  let node = root;
  for (let at = 0; at < entry.word.length; at++) {
    const char = lower(entry.word.charAt(at));
    const next = node.next.get(char) ?? newNode();
    node.next.set(char, next);
    node = next;
  }
  // The first of two equal entries stands.
  if (!node.entries.some((known) => known.word === entry.word)) node.entries.push(entry);
}

const newNode = (): Node => ({ next: new Map(), entries: [] });

/** Small letters, character by character: a letter whose small form has another length stays, so that places agree. */
function lower(text: string): string {
  const whole = text.toLowerCase();
  // A small sigma depends on the letters around it.
  if (whole.length === text.length && !text.includes('Σ')) return whole;
  let small = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const form = char.toLowerCase();
    small += form.length === 1 ? form : char;
  }
  return small;
}
