import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { hashSecret, newSecret } from '../../platform/secret-token.ts';

/**
 * Links that work once: for the first admin, and for a person who has to choose a password. Only hashes are kept; a new
 * one for the same purpose replaces the old one.
 */
export interface OneTimeTokens {
  mint(purpose: TokenPurpose): Promise<string>;
  /** The purpose of a token that would be accepted now; null for any other. Takes nothing. */
  peek(token: string): Promise<TokenPurpose | null>;
  /** Takes the token: of two at the same time one gets it. Throws `unauthorized` for any that is not live. */
  take(token: string): Promise<TokenPurpose>;
  /** Ends what was minted for this purpose. */
  revoke(purpose: TokenPurpose): Promise<void>;
}

/** `setup`, or `password:` and the id of the user. */
export type TokenPurpose = 'setup' | `password:${string}`;

export const ONE_TIME_LIFE_MS = 24 * 60 * 60_000;

interface Row {
  purpose: TokenPurpose;
  expires_ms: number;
}

export function createOneTimeTokens(store: KeyValueStore, nowMs: () => number): OneTimeTokens {
  const rows: Table<Row> = store.table('one-time-tokens');
  const byPurpose: Table<string> = store.table('one-time-tokens-by-purpose');
  const live = (row: Row | undefined) => (row && row.expires_ms > nowMs() ? row.purpose : null);
  return {
    async mint(purpose) {
      const token = newSecret('tko_');
      const hash = hashSecret(token);
      await store.transaction((writes) => {
        const earlier = writes.get(byPurpose, purpose);
        if (earlier !== undefined) writes.remove(rows, earlier);
        writes.put(rows, hash, { purpose, expires_ms: nowMs() + ONE_TIME_LIFE_MS });
        writes.put(byPurpose, purpose, hash);
      });
      return token;
    },
    async peek(token) {
      return live(rows.get(hashSecret(token)));
    },
    take(token) {
      const hash = hashSecret(token);
      return store.transaction((writes) => {
        const purpose = live(writes.get(rows, hash));
        if (purpose === null) throw deadToken();
        writes.remove(rows, hash);
        writes.remove(byPurpose, purpose);
        return purpose;
      });
    },
    async revoke(purpose) {
      await store.transaction((writes) => {
        const hash = writes.get(byPurpose, purpose);
        if (hash === undefined) return;
        writes.remove(rows, hash);
        writes.remove(byPurpose, purpose);
      });
    },
  };
}

export function deadToken(): AppError {
  return new AppError('unauthorized', 'this link was used already or has expired; ask for a new one');
}
