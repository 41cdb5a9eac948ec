import { createHash } from 'node:crypto';
import type { KeyValueStore, StoreKey, Table, Transaction } from '../../platform/key-value-store.ts';

/** An answer that is kept so that a repeated request gets it again. */
export interface KeptAnswer {
  /** Digest of the request; another one under the same key is another request. */
  fingerprint: string;
  status: number;
  headers: Record<string, string>;
  json: unknown;
  /** Milliseconds since the epoch. */
  kept_at: number;
}

/** Answers of requests that carried an `Idempotency-Key`. A kept answer survives the death of the process. */
export interface IdempotencyStore {
  get(key: string): Promise<KeptAnswer | null>;
  /** Drops what is older than `dropBefore` (ms since the epoch) on the way, at most a handful per call. */
  keep(key: string, answer: KeptAnswer, dropBefore: number): Promise<void>;
}

/** Answers are kept for this long (D-28). */
export const KEEP_MS = 24 * 3_600_000;
/** Beyond this many the oldest go early: 100 new ones a minute fit for a day. */
const MAX_KEPT = 144_000;
/** More than is added, so that the table shrinks when it is too long. */
const DROPPED_PER_KEEP = 4;

export function createIdempotencyStore(store: KeyValueStore): IdempotencyStore {
  const answers: Table<KeptAnswer> = store.table('idempotency');
  const byAge: Table<true> = store.table('idempotency-by-age');
  const drop = (writes: Transaction, [keptAt, key]: readonly [number, string]) => {
    writes.remove(byAge, [keptAt, key]);
    if (writes.get(answers, key)?.kept_at === keptAt) writes.remove(answers, key);
  };
  return {
    async get(key) {
      return answers.get(key) ?? null;
    },
    keep(key, answer, dropBefore) {
      return store.transaction((writes) => {
        const full = byAge.count() >= MAX_KEPT;
        for (const age of byAge.keys({ limit: DROPPED_PER_KEEP }).map(asAge)) {
          if (full || age[0] < dropBefore) drop(writes, age);
        }
        writes.put(answers, key, answer);
        writes.put(byAge, [answer.kept_at, key], true);
      });
    },
  };
}

function asAge(key: StoreKey): readonly [number, string] {
  return key as unknown as readonly [number, string];
}

/** Keys are hashed: they are the caller's, of any length and alphabet, and the store's are not. */
export function keyOf(who: string, operationId: string, idempotencyKey: string): string {
  return digest([who, operationId, idempotencyKey]);
}

export function fingerprintOf(path: string, query: string, body: Buffer): string {
  return digest([path, query, body]);
}

/** Lengths stand between the parts, so that no two lists of parts read alike. */
function digest(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
