import { tokensOfWords, wordsOf } from './tokens.ts';

export interface PrefixUse {
  cachedTokens: number;
  /** Tokens that this request adds to the cache. */
  writtenTokens: number;
}

interface StoredPrompt {
  group: string;
  words: readonly string[];
  expiresAtMs: number;
}

/** Smallest prompt that is cached, and the step in which prefixes match (OpenAI's documentation, prompt caching). */
const FLOOR_TOKENS = 1_024;
const STEP_TOKENS = 128;
/** Prompts remembered; the oldest goes first, as under load at the vendor. */
const MAX_PROMPTS = 200;

/**
 * Automatic prompt caching by exact prefix, as OpenAI has it. `group` is what must be equal besides the words: model
 * and cache key. A prompt counts for `ttlMs`; a request that finds it refreshes it.
 */
export class PrefixCache {
  private readonly prompts: StoredPrompt[] = [];

  use(group: string, prompt: string, ttlMs: number, nowMs: number): PrefixUse {
    const words = wordsOf(prompt);
    const total = tokensOfWords(words.length);
    if (total < FLOOR_TOKENS) return { cachedTokens: 0, writtenTokens: 0 };
    let shared = 0;
    for (const stored of this.prompts) {
      if (stored.group !== group || stored.expiresAtMs <= nowMs) continue;
      const common = commonLength(stored.words, words);
      if (inSteps(tokensOfWords(common)) >= FLOOR_TOKENS) stored.expiresAtMs = nowMs + ttlMs;
      shared = Math.max(shared, common);
    }
    const cachedTokens = inSteps(Math.min(tokensOfWords(shared), total - 1));
    this.prompts.push({ group, words, expiresAtMs: nowMs + ttlMs });
    if (this.prompts.length > MAX_PROMPTS) this.prompts.shift();
    const counted = cachedTokens >= FLOOR_TOKENS ? cachedTokens : 0;
    return { cachedTokens: counted, writtenTokens: inSteps(total) - counted };
  }

  clear(): void {
    this.prompts.length = 0;
  }
}

function inSteps(tokens: number): number {
  return Math.floor(tokens / STEP_TOKENS) * STEP_TOKENS;
}

function commonLength(left: readonly string[], right: readonly string[]): number {
  const most = Math.min(left.length, right.length);
  let at = 0;
  while (at < most && left[at] === right[at]) at += 1;
  return at;
}
