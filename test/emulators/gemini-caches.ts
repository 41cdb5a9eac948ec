import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import { CREATE_CACHE_FIELDS, PATCH_CACHE_FIELDS } from './gemini-fields.ts';
import { geminiFloor, modelComplaint } from './gemini-models.ts';
import { checkFields } from './kit/field-rules.ts';
import type { Complaint } from './llm/complaint.ts';
import { countTokens, wordsInside } from './llm/tokens.ts';

/** One explicit cache entry as the emulated vendor keeps it. */
export interface CachedContent {
  name: string;
  model: string;
  displayName?: string;
  /** The key it was made with: no other key sees it. */
  key: string;
  tokens: number;
  createdAtMs: number;
  updatedAtMs: number;
  expiresAtMs: number;
  body: Record<string, unknown>;
}

/** Without a ttl an entry lives for an hour (Gemini's documentation). */
const DEFAULT_TTL_MS = 3_600_000;
const PAGE_SIZE = 50;

/** The cachedContents collection: create, get, list, extend and delete, with a time of life on a clock that moves. */
export class GeminiCaches {
  private readonly entries = new Map<string, CachedContent>();
  private readonly clock: ProviderClock;
  private readonly startedAtMs = Date.now();
  private readonly clockStartMs: number;
  private readonly floorTokens: number | undefined;
  private movedMs = 0;
  private made = 0;
  /** Requests of each kind that were served, for tests that count creations. */
  readonly counts = { created: 0, extended: 0, deleted: 0, refused: 0 };

  constructor(clock: ProviderClock, floorTokens?: number) {
    this.clock = clock;
    this.clockStartMs = clock.nowMs();
    this.floorTokens = floorTokens;
  }

  /** Milliseconds since 1970, as the vendor's times of expiry say them. */
  nowMs(): number {
    return this.startedAtMs + (this.clock.nowMs() - this.clockStartMs) + this.movedMs;
  }

  /** Lets entries grow older by so much, and nothing else. */
  moveTime(ms: number): void {
    this.movedMs += ms;
  }

  /** Every entry is gone, as after an expiry or a deletion by someone else. */
  loseAll(): void {
    this.entries.clear();
  }

  get live(): CachedContent[] {
    return [...this.entries.values()].filter((entry) => entry.expiresAtMs > this.nowMs());
  }

  create(body: Record<string, unknown>, key: string): CachedContent | Complaint {
    const complaint = this.createComplaint(body);
    if (complaint) {
      this.counts.refused += 1;
      return complaint;
    }
    this.made += 1;
    const nowMs = this.nowMs();
    const entry: CachedContent = {
      name: `cachedContents/entry${this.made}${Math.trunc(nowMs).toString(36)}`,
      model: String(body.model),
      ...(body.displayName === undefined ? {} : { displayName: String(body.displayName) }),
      key,
      tokens: cacheTokens(body),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      expiresAtMs: expiryOf(body, nowMs) ?? nowMs + DEFAULT_TTL_MS,
      body,
    };
    this.entries.set(entry.name, entry);
    this.counts.created += 1;
    return entry;
  }

  /** Unknown, deleted, expired and foreign entries look the same from outside. */
  find(name: string, key: string): CachedContent | undefined {
    const entry = this.entries.get(name);
    return entry && entry.key === key && entry.expiresAtMs > this.nowMs() ? entry : undefined;
  }

  patch(entry: CachedContent, body: unknown): Complaint | null {
    const problem = checkFields(body, PATCH_CACHE_FIELDS, 'body')[0] ?? expiryProblem(body as object, true);
    if (problem) return invalid(problem);
    const nowMs = this.nowMs();
    entry.expiresAtMs = expiryOf(body as Record<string, unknown>, nowMs) ?? entry.expiresAtMs;
    entry.updatedAtMs = nowMs;
    this.counts.extended += 1;
    return null;
  }

  delete(entry: CachedContent): void {
    this.entries.delete(entry.name);
    this.counts.deleted += 1;
  }

  /** One page of the list, newest first; the token is the place to go on. */
  list(key: string, pageSize: number, pageToken: string): { entries: CachedContent[]; next: string | null } {
    const mine = this.live.filter((entry) => entry.key === key).reverse();
    const from = Number(pageToken || 0);
    const to = from + Math.min(pageSize || PAGE_SIZE, PAGE_SIZE);
    return { entries: mine.slice(from, to), next: to < mine.length ? String(to) : null };
  }

  private createComplaint(body: Record<string, unknown>): Complaint | null {
    const problem = checkFields(body, CREATE_CACHE_FIELDS, 'body')[0] ?? expiryProblem(body, false);
    if (problem) return invalid(problem);
    const model = String(body.model).replace(/^models\//, '');
    const unknown = modelComplaint(model, 'createCachedContent');
    if (unknown) return unknown;
    if (body.systemInstruction === undefined && body.contents === undefined && body.tools === undefined) {
      return invalid('body holds nothing to cache');
    }
    const total = cacheTokens(body);
    const least = this.floorTokens ?? geminiFloor(model);
    if (total >= least) return null;
    return {
      status: 400,
      code: 'INVALID_ARGUMENT',
      message: `Cached content is too small. total_token_count=${total}, min_total_token_count=${least}`,
      violation: false,
    };
  }
}

/** An entry as the API shows it; its content is never shown. */
export function shownEntry(entry: CachedContent): Record<string, unknown> {
  return {
    name: entry.name,
    model: entry.model,
    ...(entry.displayName === undefined ? {} : { displayName: entry.displayName }),
    createTime: new Date(entry.createdAtMs).toISOString(),
    updateTime: new Date(entry.updatedAtMs).toISOString(),
    expireTime: new Date(entry.expiresAtMs).toISOString(),
    usageMetadata: { totalTokenCount: entry.tokens },
  };
}

/** What an entry of this body counts: system instruction, tools and contents. */
export function cacheTokens(body: Record<string, unknown>): number {
  return ['systemInstruction', 'tools', 'contents']
    .map((key) => (body[key] === undefined ? 0 : countTokens(wordsInside(body[key]))))
    .reduce((sum, tokens) => sum + tokens, 0);
}

function expiryOf(body: Record<string, unknown>, nowMs: number): number | null {
  if (typeof body.ttl === 'string') return nowMs + Number.parseFloat(body.ttl) * 1_000;
  if (typeof body.expireTime === 'string') return Date.parse(body.expireTime);
  return null;
}

function expiryProblem(body: { ttl?: unknown; expireTime?: unknown }, required: boolean): string | null {
  if (body.ttl !== undefined && body.expireTime !== undefined) return 'body has ttl and expireTime';
  if (required && body.ttl === undefined && body.expireTime === undefined) {
    return 'body has neither ttl nor expireTime';
  }
  return null;
}

function invalid(message: string): Complaint {
  return { status: 400, code: 'INVALID_ARGUMENT', message, violation: true };
}
