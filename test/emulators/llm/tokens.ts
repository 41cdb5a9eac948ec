/** Tokens per word of the emulated vendors: near the truth for English, and the same in every run. */
const TOKENS_PER_WORD = 1.3;

/** Counts a text as the emulated vendors do: 1.3 per word, rounded up. */
export function countTokens(text: string): number {
  return tokensOfWords(wordsOf(text).length);
}

export function tokensOfWords(words: number): number {
  return Math.ceil(words * TOKENS_PER_WORD);
}

export function wordsOf(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

/** A text of at least `tokens` tokens, for prompts that must reach a vendor's size floor. `seed` makes it its own. */
export function textOfTokens(tokens: number, seed = 'rule'): string {
  const words = Math.ceil(tokens / TOKENS_PER_WORD);
  return Array.from({ length: words }, (_, index) => `${seed}${index}`).join(' ');
}

/** The JSON of a value with spaces in place of its marks, so that its words can be counted and compared. */
export function wordsInside(value: unknown): string {
  return JSON.stringify(value ?? '').replaceAll(/["{}[\],:]+/g, ' ');
}
