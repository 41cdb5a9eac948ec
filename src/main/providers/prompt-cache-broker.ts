import type { MainToSlot, SharedCacheEntry } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import type { SlotNews } from '../slots/slot-process.ts';

/** A slot that was told to create an entry has this long; then the next one may (a creation takes a second or two). */
export const CLAIM_MAX_AGE_MS = 15_000;
/** After a creation failed, nobody tries again for so long. */
export const RETRY_AFTER_FAILURE_MS = 60_000;
/** A prompt that is too small for a cache stays so. */
export const RETRY_AFTER_TOO_SMALL_MS = 3_600_000;
/** Keys remembered; beyond it the one that nobody asked for the longest goes. */
export const MAX_CACHE_KEYS = 1_000;
/** Names of lost entries remembered per key, so that an old config does not bring one back. */
const MAX_LOST_NAMES = 8;

/** Whose live prompt an entry holds; the control plane is told of it. */
export interface PlaneAddress {
  botId: string;
  staticVersion: string;
}

/** One slot as the desk sees it. */
export interface PromptCacheSlot {
  tell(message: MainToSlot): void;
}

interface KeyState {
  entry: SharedCacheEntry | null;
  claim: { slot: PromptCacheSlot; claimId: string; sinceMs: number } | null;
  notBeforeMs: number;
  lost: string[];
  watchers: Map<PromptCacheSlot, number>;
}

/**
 * The prompt cache entries of all slots of the host: who may create one, which is the newest, who has to know. One
 * claim at a time per key, so that slots which race create one entry; the others go on without it and are told once it
 * is there. Main holds no text and no key of an account, only names and hashes.
 */
export class PromptCacheBroker {
  private readonly keys = new Map<string, KeyState>();
  private readonly nowMs: () => number;
  private readonly wallMs: () => number;
  private readonly tellPlane: (plane: PlaneAddress, entry: SharedCacheEntry | null) => void;

  /** `nowMs` only goes forward; `wallMs` is what `expiresAtMs` counts in. */
  constructor(options: {
    nowMs: () => number;
    wallMs: () => number;
    tellPlane: (plane: PlaneAddress, entry: SharedCacheEntry | null) => void;
  }) {
    this.nowMs = options.nowMs;
    this.wallMs = options.wallMs;
    this.tellPlane = options.tellPlane;
  }

  /** Takes what a slot says; messages of other kinds are left alone. */
  hear(slot: PromptCacheSlot, message: SlotNews): void {
    switch (message.type) {
      case 'prompt_cache_watch':
        this.watch(slot, message.key, message.known);
        return;
      case 'prompt_cache_unwatch':
        this.unwatch(slot, message.key);
        return;
      case 'prompt_cache_claim': {
        const answer = this.claim(slot, message.key, message.claimId);
        slot.tell({
          v: SLOT_MESSAGES_VERSION,
          type: 'prompt_cache_answer',
          claimId: message.claimId,
          answer,
        });
        return;
      }
      case 'prompt_cache_news':
        this.news(slot, message.key, message.news, message.plane);
        return;
    }
  }

  /** The process is gone: its claims are free, and nobody is told in its place. */
  forget(slot: PromptCacheSlot): void {
    for (const state of this.keys.values()) {
      state.watchers.delete(slot);
      if (state.claim?.slot === slot) state.claim = null;
    }
  }

  private watch(slot: PromptCacheSlot, key: string, known: SharedCacheEntry | null): void {
    const state = this.stateOf(key);
    state.watchers.set(slot, (state.watchers.get(slot) ?? 0) + 1);
    const current = this.liveEntry(state);
    // After a restart of main the entry that the control plane served is all that the host knows.
    const isNews = known !== null && !state.lost.includes(known.name) && this.isAlive(known);
    if (isNews && known.expiresAtMs > (current?.expiresAtMs ?? 0)) {
      this.publish(key, state, known, slot);
      return;
    }
    const isStale = known !== null && known.name !== current?.name && state.lost.includes(known.name);
    if (current !== null || isStale) slot.tell(entryMessage(key, current));
  }

  private unwatch(slot: PromptCacheSlot, key: string): void {
    const state = this.keys.get(key);
    const calls = state?.watchers.get(slot) ?? 0;
    if (calls > 1) state?.watchers.set(slot, calls - 1);
    else state?.watchers.delete(slot);
  }

  private claim(slot: PromptCacheSlot, key: string, claimId: string): 'create' | 'skip' | SharedCacheEntry {
    const state = this.stateOf(key);
    const entry = this.liveEntry(state);
    if (entry) return entry;
    const nowMs = this.nowMs();
    if (nowMs < state.notBeforeMs) return 'skip';
    if (state.claim && nowMs - state.claim.sinceMs < CLAIM_MAX_AGE_MS) return 'skip';
    state.claim = { slot, claimId, sinceMs: nowMs };
    return 'create';
  }

  private news(
    slot: PromptCacheSlot,
    key: string,
    news: Extract<SlotNews, { type: 'prompt_cache_news' }>['news'],
    plane: PlaneAddress | null,
  ): void {
    const state = this.stateOf(key);
    if (news.kind === 'failed') {
      if (state.claim?.slot === slot) state.claim = null;
      const pauseMs = news.reason === 'too_small' ? RETRY_AFTER_TOO_SMALL_MS : RETRY_AFTER_FAILURE_MS;
      state.notBeforeMs = this.nowMs() + pauseMs;
      return;
    }
    if (news.kind === 'lost') {
      state.lost = [...state.lost.filter((name) => name !== news.name), news.name].slice(-MAX_LOST_NAMES);
      // Somebody may have made a new one meanwhile.
      if (state.entry !== null && state.entry.name !== news.name) return;
      this.publish(key, state, null, slot);
      if (plane) this.tellPlane(plane, null);
      return;
    }
    if (news.kind === 'created' && state.claim?.slot === slot) state.claim = null;
    const { entry } = news;
    const isOlder = state.entry !== null && state.entry.expiresAtMs >= entry.expiresAtMs;
    if (isOlder || state.lost.includes(entry.name)) return;
    state.notBeforeMs = 0;
    this.publish(key, state, entry, slot);
    if (plane) this.tellPlane(plane, entry);
  }

  private publish(key: string, state: KeyState, entry: SharedCacheEntry | null, from: PromptCacheSlot): void {
    state.entry = entry;
    for (const watcher of state.watchers.keys()) {
      if (watcher !== from) watcher.tell(entryMessage(key, entry));
    }
  }

  private liveEntry(state: KeyState): SharedCacheEntry | null {
    return state.entry && this.isAlive(state.entry) ? state.entry : null;
  }

  private isAlive(entry: SharedCacheEntry): boolean {
    return entry.expiresAtMs > this.wallMs();
  }

  /** A map keeps the order of insertion, so putting a key in again makes it the youngest. */
  private stateOf(key: string): KeyState {
    const state = this.keys.get(key) ?? {
      entry: null,
      claim: null,
      notBeforeMs: 0,
      lost: [],
      watchers: new Map(),
    };
    this.keys.delete(key);
    this.keys.set(key, state);
    for (const [oldest, old] of this.keys) {
      if (this.keys.size <= MAX_CACHE_KEYS) break;
      // A key that a live call watches is small and goes when the call does.
      if (old.watchers.size === 0) this.keys.delete(oldest);
      else break;
    }
    return state;
  }
}

function entryMessage(key: string, entry: SharedCacheEntry | null): MainToSlot {
  return { v: SLOT_MESSAGES_VERSION, type: 'prompt_cache_entry', key, entry };
}
