import { createHash } from 'node:crypto';
import { countTokens } from './tokens.ts';

/** One block of a prompt in the vendor's order: tools, then system, then messages. */
export interface PromptBlock {
  /** Canonical text without its cache mark. */
  text: string;
  mark: null | { ttl: '5m' | '1h' };
}

export interface BreakpointUse {
  readTokens: number;
  created5mTokens: number;
  created1hTokens: number;
  /** Neither read nor written: what stands after the last mark, or all of it where nothing is cached. */
  plainTokens: number;
}

const TTL_MS = { '5m': 300_000, '1h': 3_600_000 } as const;
/** How many blocks before a mark are looked up (Anthropic's documentation, prompt caching). */
const LOOKBACK_BLOCKS = 20;

interface StoredPrefix {
  ttlMs: number;
  expiresAtMs: number;
}

/**
 * Prompt caching by marks, as Anthropic has it: a prefix that ends at a mark is kept, and a later request reads the
 * longest kept prefix that it begins with. Below `floorTokens` nothing is kept and nothing is wrong.
 */
export class BreakpointCache {
  private readonly prefixes = new Map<string, StoredPrefix>();

  use(model: string, blocks: readonly PromptBlock[], floorTokens: number, nowMs: number): BreakpointUse {
    const sizes: number[] = [];
    const keys: string[] = [];
    const hash = createHash('sha256').update(model);
    let size = 0;
    for (const block of blocks) {
      size += countTokens(block.text);
      sizes.push(size);
      hash.update('\u0000').update(block.text);
      keys.push(hash.copy().digest('hex'));
    }
    const marks = blocks.flatMap((block, index) => (block.mark ? [{ index, ttl: block.mark.ttl }] : []));
    const readIndex = this.longestKept(keys, marks, nowMs);
    const readTokens = readIndex === -1 ? 0 : (sizes[readIndex] ?? 0);
    const use: BreakpointUse = { readTokens, created5mTokens: 0, created1hTokens: 0, plainTokens: 0 };
    let counted = readTokens;
    for (const { index, ttl } of marks) {
      const prefixTokens = sizes[index] ?? 0;
      const key = keys[index] ?? '';
      if (prefixTokens < floorTokens) continue;
      const ttlMs = TTL_MS[ttl];
      const kept = this.prefixes.get(key);
      const lives = kept !== undefined && kept.expiresAtMs > nowMs;
      this.prefixes.set(key, { ttlMs, expiresAtMs: nowMs + (lives ? Math.max(kept.ttlMs, ttlMs) : ttlMs) });
      if (prefixTokens <= counted) continue;
      use[ttl === '1h' ? 'created1hTokens' : 'created5mTokens'] += prefixTokens - counted;
      counted = prefixTokens;
    }
    use.plainTokens = size - counted;
    return use;
  }

  clear(): void {
    this.prefixes.clear();
  }

  private longestKept(keys: readonly string[], marks: readonly { index: number }[], nowMs: number): number {
    let longest = -1;
    for (const { index } of marks) {
      for (let at = index; at >= Math.max(0, index - LOOKBACK_BLOCKS); at -= 1) {
        const kept = this.prefixes.get(keys[at] ?? '');
        if (!kept || kept.expiresAtMs <= nowMs) continue;
        kept.expiresAtMs = nowMs + kept.ttlMs;
        longest = Math.max(longest, at);
        break;
      }
    }
    return longest;
  }
}
