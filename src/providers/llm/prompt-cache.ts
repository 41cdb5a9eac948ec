/**
 * The vendor's explicit cache entry for the static prompt of one bot, as the slots of a host share it: main knows the
 * newest entry and lets one slot at a time create one (R16, R66).
 */
export interface PromptCacheEntry {
  /** The vendor's name, such as `cachedContents/abc`. */
  name: string;
  expiresAtMs: number;
  /** Version of the static prompt, the tools and the model together: an entry of another version is not used. */
  version: string;
}

export interface PromptCachePort {
  /** Version that this call needs. */
  readonly version: string;
  readonly ttlSeconds: number;
  /** The entry that is in use on this host, from the config or from another slot; null without one. Synchronous. */
  current(): PromptCacheEntry | null;
  /**
   * Asks to create an entry. `create`: nobody else does, go ahead and report. An entry: another slot was first.
   * `skip`: creation failed recently or main does not answer; go on without the cache.
   */
  claim(signal: AbortSignal): Promise<'create' | 'skip' | PromptCacheEntry>;
  created(entry: PromptCacheEntry): void;
  extended(entry: PromptCacheEntry): void;
  /** The vendor no longer knows the entry. */
  lost(name: string): void;
  /** A creation that was claimed did not come about. */
  failed(reason: string): void;
}
