import type { CachedContent, GoogleGenAI } from '@google/genai';
import type { AppError } from '../../../platform/app-error.ts';
import { within } from '../../../platform/clock.ts';
import type { LlmCacheUse, LlmRequest, LlmUsage } from '../../contract/language-model.ts';
import type { PromptCacheEntry, PromptCachePort, ProviderContext } from '../../contract/provider-context.ts';
import { readRefusal } from '../../llm/llm-errors.ts';
import { cacheDirective } from '../../llm/llm-settings.ts';
import { type GeminiSettings, geminiTools } from './request.ts';

type Directive = NonNullable<LlmRequest['systemParts']>;
type CacheRequest = Pick<LlmRequest, 'system' | 'systemParts' | 'tools'>;

/** How one request stands to the cache. */
export interface CachePlan {
  /** Null: the request goes without. */
  entry: PromptCacheEntry | null;
  version: string;
  /** Told when the request went without, or when this use of the entry is worth telling. */
  reason: string | null;
  /** The vendor refused the request because of the entry. */
  isLost(error: unknown): boolean;
  /** Forgets the entry; the plan goes on without, and a new entry is made in the background. */
  lose(): void;
}

interface Options {
  caches: GoogleGenAI['caches'];
  settings: GeminiSettings;
  context: ProviderContext;
  toError(error: unknown): AppError;
  closing: AbortSignal;
}

/** An entry is used no more when it has less left than a request may take to reach the vendor. */
const EXPIRY_MARGIN_MS = 5_000;
/** Making or extending an entry; a vendor slower than this is asked again by a later turn. */
const WORK_TIMEOUT_MS = 20_000;
/** Longest wait for background work when the client closes. */
const SETTLE_TIMEOUT_MS = 1_000;
/** Extended when less than this part of the lifetime is left. */
const EXTEND_BELOW = 0.25;

/**
 * The explicit cache entry of one call's static prompt and tools (docs/providers.md, "Prompt caching").
 *
 * No turn ever waits for it: a turn that finds no entry goes uncached at once while one is made in the background, for
 * the next turn and for every other slot. A prompt below the vendor's size floor is never asked for again in this call.
 */
export class GeminiCache {
  private readonly options: Options;
  private readonly port: PromptCachePort | null;
  /** At most one piece of work at a time. */
  private working: Promise<void> | null = null;
  /** Why requests go without an entry just now. */
  private absence = 'creating';
  /** Says of the next use of the entry what happened to it. */
  private news: string | null = null;
  private hadEntry = false;
  private isTooSmall = false;
  private creationTokens: number | null = null;

  constructor(options: Options) {
    this.options = options;
    this.port = options.context.promptCache ?? null;
  }

  /** Makes the entry ahead of the first turn, while the phone rings. Never rejects. */
  async prepare(request: CacheRequest): Promise<void> {
    const directive = cacheDirective(this.options.settings, request);
    if (!directive) return;
    this.plan(request, directive);
    await this.working;
  }

  plan(request: CacheRequest, directive: Directive): CachePlan {
    const version = directive.version;
    const isLost = (error: unknown) => plan.entry !== null && speaksOfCache(error);
    const plan: CachePlan = {
      entry: this.usable(),
      version,
      reason: null,
      isLost,
      lose: () => {
        const name = plan.entry?.name;
        plan.entry = null;
        plan.reason = 'expired';
        if (name !== undefined) this.port?.lost(name);
        this.report('lost', name);
        this.create(request, directive);
      },
    };
    if (!this.port) return { ...plan, reason: 'unavailable' };
    if (plan.entry) {
      this.hadEntry = true;
      plan.reason = this.news;
      this.news = null;
      this.extendIfDue(plan.entry, directive);
    } else {
      const known = this.port.current();
      if (known && known.version === this.port.version) plan.reason = 'expired';
      this.create(request, directive);
    }
    return plan;
  }

  /** Tokens that were written to the cache since they were asked for last; null for none. */
  takeCreationTokens(): number | null {
    const tokens = this.creationTokens;
    this.creationTokens = null;
    return tokens;
  }

  /** Hit or miss by the real count, with the reason as it stands when the answer is complete. */
  useOf(plan: CachePlan, usage: LlmUsage): LlmCacheUse {
    const isHit = plan.entry !== null && (usage.cacheReadTokens ?? 0) > 0;
    return {
      enabled: this.port !== null,
      status: isHit ? 'hit' : 'miss',
      version: plan.version,
      reason: plan.reason ?? (plan.entry ? null : this.absence),
    };
  }

  /** Resolves when no background work runs, within a second; aborted work counts. */
  async settled(): Promise<void> {
    if (this.working) await within(this.working, SETTLE_TIMEOUT_MS, undefined);
  }

  private usable(): PromptCacheEntry | null {
    const entry = this.port?.current() ?? null;
    if (!entry || entry.version !== this.port?.version) return null;
    return entry.expiresAtMs - Date.now() > EXPIRY_MARGIN_MS ? entry : null;
  }

  private create(request: CacheRequest, directive: Directive): void {
    const { port } = this;
    if (!port || this.working || this.options.closing.aborted) return;
    if (this.isTooSmall) {
      this.absence = 'too_small';
      return;
    }
    this.absence = 'creating';
    this.work(async (signal) => {
      const claim = await port.claim(signal);
      if (claim === 'skip') {
        this.absence = 'unavailable';
        return;
      }
      if (claim !== 'create') {
        this.absence = 'claimed_elsewhere';
        return;
      }
      try {
        const made = await this.options.caches.create(this.creation(request, directive, signal));
        const entry = entryOf(made, port, ttlOf(port, directive));
        this.creationTokens = (this.creationTokens ?? 0) + (made.usageMetadata?.totalTokenCount ?? 0);
        this.news = this.hadEntry ? 'recreated' : null;
        this.absence = this.hadEntry ? 'recreated' : 'created';
        port.created(entry);
        this.report(this.absence, entry.name, { tokens: made.usageMetadata?.totalTokenCount ?? null });
      } catch (error) {
        this.isTooSmall = /too small/i.test(readRefusal(error).message);
        this.absence = this.isTooSmall ? 'too_small' : 'create_failed';
        port.failed(this.absence);
        const cause = this.isTooSmall ? {} : { error: this.options.toError(error).message };
        this.report(this.absence, undefined, cause);
      }
    });
  }

  private extendIfDue(entry: PromptCacheEntry, directive: Directive): void {
    const { port } = this;
    const ttlMs = ttlOf(port, directive) * 1000;
    if (!port || this.working || entry.expiresAtMs - Date.now() > ttlMs * EXTEND_BELOW) return;
    this.work(async (signal) => {
      const config = { ttl: `${ttlMs / 1000}s`, abortSignal: signal };
      try {
        await this.options.caches.update({ name: entry.name, config });
        this.news = 'extended';
        port.extended({ ...entry, expiresAtMs: Date.now() + ttlMs });
        this.report('extended', entry.name);
      } catch (error) {
        // Still usable until its time; only an entry that the vendor denies is given up.
        if (readRefusal(error).status === 404 || speaksOfCache(error)) port.lost(entry.name);
        this.report('extend_failed', entry.name, { error: this.options.toError(error).message });
      }
    });
  }

  private creation(request: CacheRequest, directive: Directive, signal: AbortSignal) {
    const tools = geminiTools(request.tools);
    return {
      model: this.options.settings.model,
      config: {
        abortSignal: signal,
        ttl: `${ttlOf(this.port, directive)}s`,
        displayName: directive.version.slice(0, 128),
        systemInstruction: { parts: [{ text: directive.staticText }] },
        ...(tools.length > 0 && { tools }),
      },
    };
  }

  private work(run: (signal: AbortSignal) => Promise<void>): void {
    const { closing, context } = this.options;
    const late = new AbortController();
    const cancelTimer = context.clock.after(WORK_TIMEOUT_MS, () => late.abort());
    this.working = run(AbortSignal.any([closing, late.signal]))
      .catch(() => {
        this.absence = 'unavailable';
      })
      .finally(() => {
        cancelTimer();
        this.working = null;
      });
  }

  private report(action: string, name: string | undefined, extra: Record<string, unknown> = {}): void {
    this.options.context.report({
      event: 'provider_cache',
      provider: 'gemini',
      family: 'llm',
      action,
      ...(name !== undefined && { cache_name: name }),
      ...extra,
    });
  }
}

function ttlOf(port: PromptCachePort | null, directive: Directive): number {
  return directive.ttlSeconds ?? port?.ttlSeconds ?? 3_600;
}

/**
 * The vendor's times are by the vendor's clock; only their difference is taken, so that a host whose clock is wrong
 * neither uses an entry that has gone nor gives one up that lives.
 */
function entryOf(made: CachedContent, port: PromptCachePort, ttlSeconds: number): PromptCacheEntry {
  const grantedMs = Date.parse(made.expireTime ?? '') - Date.parse(made.createTime ?? '');
  const ttlMs = Number.isFinite(grantedMs) && grantedMs > 0 ? grantedMs : ttlSeconds * 1000;
  if (!made.name) throw new Error('the created entry has no name');
  return { name: made.name, expiresAtMs: Date.now() + ttlMs, version: port.version };
}

/** Two wordings for a wrong use are known, and the status of an expired entry is not documented (reference 9). */
function speaksOfCache(error: unknown): boolean {
  const { status, message } = readRefusal(error);
  return status !== null && [400, 403, 404].includes(status) && /cached ?content/i.test(message);
}
