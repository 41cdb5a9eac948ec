import { LRUCache } from 'lru-cache';

/** What {@link TtlCache} can be told. */
export interface TtlCacheOptions {
  /** An entry is served this long after it was loaded. */
  ttlMs: number;
  /** Milliseconds that only go forward; tests bring their own. */
  now: () => number;
  /** Entries kept; beyond it the one that was not asked for the longest goes. */
  max: number;
}

/**
 * Loaded values that are served again until they are too old or an edit drops them. Callers that ask for the same key
 * at the same moment share one load. Null is never kept: what does not exist yet must be found once it does.
 */
export class TtlCache<V extends object> {
  private readonly entries: LRUCache<string, V>;
  private readonly loads = new Map<string, Promise<V | null>>();

  constructor(options: TtlCacheOptions) {
    this.entries = new LRUCache({
      max: options.max,
      ttl: options.ttlMs,
      // Checked against the clock at every look-up, so an entry is never served late.
      ttlResolution: 0,
      perf: { now: options.now },
    });
  }

  /** The kept value, or what `load` brings. A load that fails is not kept, and every caller of it is told. */
  get(key: string, load: () => Promise<V | null>): Promise<V | null> {
    const kept = this.entries.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const running = this.loads.get(key);
    if (running) return running;
    const started: Promise<V | null> = load().then(
      (value) => {
        // An edit during the load has dropped it: what was read may be older than the edit.
        if (this.loads.get(key) === started) {
          this.loads.delete(key);
          if (value !== null) this.entries.set(key, value);
        }
        return value;
      },
      (error: unknown) => {
        if (this.loads.get(key) === started) this.loads.delete(key);
        throw error;
      },
    );
    this.loads.set(key, started);
    return started;
  }

  /** Drops the entry, and whatever a running load brings. Says whether there was either. */
  invalidate(key: string): boolean {
    const loading = this.loads.delete(key);
    return this.entries.delete(key) || loading;
  }
}
