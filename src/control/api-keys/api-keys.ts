import { equalsSecret } from '../../platform/constant-time.ts';
import { hashSecret, newId, newSecret } from '../../platform/secret-token.ts';
import type { AuditCause } from '../audit/audit-log.ts';
import type { Actor, Scope } from '../http/authenticate.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { ApiKey, ApiKeyStore } from './api-key-store.ts';

/** Keys of machines: made once, shown once, kept as a hash. */
export interface ApiKeys {
  /** `secret` is shown to the one who asked and to nobody after that. Throws `validation_error` for a past expiry. */
  create(wanted: NewApiKey, cause: AuditCause): Promise<{ key: ApiKey; secret: string }>;
  archive(id: string, cause: AuditCause): Promise<ApiKey>;
  /** Null for a key that is unknown, archived or expired. */
  authenticate(secret: string): Promise<Extract<Actor, { type: 'api_key' }> | null>;
}

export interface NewApiKey {
  name: string;
  scopes: readonly Scope[];
  expiresAt: string | null;
  requestsPerMinute: number | null;
}

const KEY_PREFIX = 'tk_';
/** `tk_` and seven of the 43 characters: 42 bits told, 214 left. */
const SHOWN_CHARS = 10;
/** `last_used_at` is written at most so often, so that a busy key does not cost a write for each request. */
const USED_EVERY_MS = 60_000;

export function createApiKeys(store: ApiKeyStore, nowMs: () => number): ApiKeys {
  return {
    async create(wanted, cause) {
      const expiresMs = wanted.expiresAt === null ? null : Date.parse(wanted.expiresAt);
      if (expiresMs !== null && !(expiresMs > nowMs())) {
        throw invalidBody('/expires_at', 'expires_at must be a time in the future, as ISO 8601');
      }
      const secret = newSecret(KEY_PREFIX);
      const key: ApiKey = {
        id: newId('key_'),
        name: wanted.name.trim(),
        prefix: secret.slice(0, SHOWN_CHARS),
        hash: hashSecret(secret),
        scopes: [...new Set(wanted.scopes)],
        requests_per_minute: wanted.requestsPerMinute,
        created_at: new Date(nowMs()).toISOString(),
        expires_at: expiresMs === null ? null : new Date(expiresMs).toISOString(),
        last_used_at: null,
        archived_at: null,
      };
      await store.insert(key, cause);
      return { key, secret };
    },

    archive: (id, cause) => store.archive(id, new Date(nowMs()).toISOString(), cause),

    async authenticate(secret) {
      if (!secret.startsWith(KEY_PREFIX)) return null;
      const hash = hashSecret(secret);
      const key = await store.byHash(hash);
      if (key === null || !equalsSecret(hash, key.hash) || key.archived_at !== null) return null;
      const now = nowMs();
      if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return null;
      if (key.last_used_at === null || now - Date.parse(key.last_used_at) >= USED_EVERY_MS) {
        await store.setLastUsed(key.id, new Date(now).toISOString());
      }
      const { id, name, scopes, requests_per_minute: requestsPerMinute } = key;
      return { type: 'api_key', id, name, scopes, requestsPerMinute };
    },
  };
}
