import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';

/** The entry at a provider that holds the static prompt of a bot (R66). */
export interface LivePromptCacheEntry {
  /** The content that the entry holds; an entry of another version is of no use. */
  static_version: string;
  /** The provider's own name of the entry. */
  cache_name: string;
  /** ISO 8601 UTC. */
  expires_at: string;
}

/**
 * What the slots have told about the entries that they made or renewed, one per bot. Every implementation passes
 * `test/control/config/live-prompt-cache-conformance.ts`.
 */
export interface LivePromptCacheStore {
  /** The bot's entry where it holds `staticVersion` and lives at `nowIso`; else null. */
  usable(botId: string, staticVersion: string, nowIso: string): Promise<LivePromptCacheEntry | null>;
  put(botId: string, entry: LivePromptCacheEntry): Promise<void>;
  /** The provider has dropped it, or the bot is gone. */
  remove(botId: string): Promise<void>;
}

export function createLivePromptCacheStore(store: KeyValueStore): LivePromptCacheStore {
  const entries: Table<LivePromptCacheEntry> = store.table('live-prompt-caches');
  return {
    async usable(botId, staticVersion, nowIso) {
      const entry = entries.get(botId);
      if (entry?.static_version !== staticVersion) return null;
      return Date.parse(entry.expires_at) > Date.parse(nowIso) ? entry : null;
    },
    put: (botId, entry) => entries.put(botId, entry),
    async remove(botId) {
      await entries.remove(botId);
    },
  };
}
