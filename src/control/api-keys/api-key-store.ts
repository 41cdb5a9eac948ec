import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { AuditCause, TransactionalAuditLog } from '../audit/audit-log.ts';
import type { Scope } from '../http/authenticate.ts';
import type { CreatedPosition } from '../http/pagination.ts';

/**
 * Keys of machines. Each promise resolves when what it says is durable; a change and its audit entry are one write.
 * Every implementation passes `test/control/accounts/api-key-store-conformance.ts`.
 */
export interface ApiKeyStore {
  /** Throws `conflict` when there are {@link MAX_API_KEYS}. */
  insert(key: ApiKey, cause: AuditCause): Promise<void>;
  get(id: string): Promise<ApiKey | null>;
  byHash(hash: string): Promise<ApiKey | null>;
  /** Newest first. */
  list(page: { limit: number; before?: CreatedPosition }): Promise<ApiKey[]>;
  /** Once archived it stays so: a second time changes nothing. Throws `not_found`. */
  archive(id: string, nowIso: string, cause: AuditCause): Promise<ApiKey>;
  setLastUsed(id: string, nowIso: string): Promise<void>;
}

export interface ApiKey {
  id: string;
  name: string;
  /** The beginning of the key, for people to tell keys apart. */
  prefix: string;
  hash: string;
  scopes: Scope[];
  /** Requests a minute that an admin allows this key on all routes together; null: what each route says. */
  requests_per_minute: number | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  archived_at: string | null;
}

export const MAX_API_KEYS = 10_000;

export function createApiKeyStore(store: KeyValueStore, audit: TransactionalAuditLog): ApiKeyStore {
  const keys: Table<ApiKey> = store.table('api-keys');
  const idsByHash: Table<string> = store.table('api-keys-by-hash');
  const byTime: Table<1> = store.table('api-keys-by-time');
  return {
    insert: (key, cause) =>
      store.transaction((writes) => {
        // Rows of the same commit are not counted: the bound is there for disks, not for exactness.
        if (keys.count() >= MAX_API_KEYS) {
          throw new AppError(
            'conflict',
            `there are ${MAX_API_KEYS} API keys, archived ones included; no more fit`,
          );
        }
        writes.put(keys, key.id, key);
        writes.put(idsByHash, key.hash, key.id);
        writes.put(byTime, [key.created_at, key.id], 1);
        audit.append(writes, { ...cause, target: targetOf(key), after: auditView(key) });
      }),
    async get(id) {
      return keys.get(id) ?? null;
    },
    async byHash(hash) {
      const id = idsByHash.get(hash);
      return id === undefined ? null : (keys.get(id) ?? null);
    },
    async list(page) {
      const from = page.before
        ? { start: [page.before.created_at, page.before.id], exclusiveStart: true }
        : {};
      return byTime
        .keys({ limit: page.limit, reverse: true, ...from })
        .map((key) => keys.get((key as readonly string[])[1] ?? ''))
        .filter((key) => key !== undefined);
    },
    archive: (id, nowIso, cause) =>
      store.transaction((writes) => {
        const before = writes.get(keys, id);
        if (!before) throw noSuchKey();
        if (before.archived_at !== null) return before;
        const after = { ...before, archived_at: nowIso };
        writes.put(keys, id, after);
        audit.append(writes, {
          ...cause,
          target: targetOf(after),
          before: auditView(before),
          after: auditView(after),
        });
        return after;
      }),
    async setLastUsed(id, nowIso) {
      await store.transaction((writes) => {
        const key = writes.get(keys, id);
        if (key) writes.put(keys, id, { ...key, last_used_at: nowIso });
      });
    },
  };
}

/** The hash of a key stands for the key; the log need not have it. */
function auditView({ hash: _, ...key }: ApiKey): unknown {
  return key;
}

function targetOf(key: ApiKey): string {
  return `api_key:${key.id}`;
}

export function noSuchKey(): AppError {
  return new AppError('not_found', 'there is no API key with this id');
}
