import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import type { EventType } from './delivery.ts';

/** A signing secret. Two may be active while it is being changed (D-51). */
export interface SigningSecret {
  sealed: string;
  created_at: string;
  /** ISO 8601 UTC; null for the newest. */
  retires_at: string | null;
}

/**
 * A receiver: a webhook that an admin entered, or what the platform keeps beside the post-call push of a bot (whose URL
 * stands in the bot).
 */
export interface Endpoint {
  /** `whk_…`, or `bot:<bot_id>`. */
  id: string;
  url: string | null;
  description: string;
  types: readonly EventType[];
  /** Null for all bots. */
  bot_ids: readonly string[] | null;
  /** Extra headers as sealed JSON; null without any. */
  headers_sealed: string | null;
  secrets: readonly SigningSecret[];
  enabled: boolean;
  disabled: { at: string; reason: string; url: string } | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/**
 * The receivers. All stand in memory beside the store, so that the start of a call need not ask the disk whether anyone
 * listens. Every implementation passes `test/control/crm/endpoint-store-conformance.ts`.
 */
export interface EndpointStore {
  all(): readonly Endpoint[];
  get(id: string): Endpoint | null;
  /** Adds, or replaces the version before; false where `expected` is not the version that stands. 0 means new. */
  put(endpoint: Endpoint, expected: number): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}

export function createEndpointStore(store: KeyValueStore): EndpointStore {
  const table: Table<Endpoint> = store.table('webhook-endpoints');
  const known = new Map<string, Endpoint>();
  for (const { value } of table.range({ limit: MAX_STORED })) known.set(value.id, value);
  return {
    all: () => [...known.values()],
    get: (id) => known.get(id) ?? null,
    async put(endpoint, expected) {
      const written = await store.transaction((writes) => {
        if ((writes.get(table, endpoint.id)?.version ?? 0) !== expected) return false;
        writes.put(table, endpoint.id, endpoint);
        return true;
      });
      if (written) known.set(endpoint.id, endpoint);
      return written;
    },
    async remove(id) {
      const removed = await table.remove(id);
      known.delete(id);
      return removed;
    },
  };
}

/** Writers that keep overtaking an edit; then it gives up. */
const MAX_TRIES = 5;

/** Changes a receiver whatever its version is. Null where it is gone; throws `store_unavailable` when overtaken for ever. */
export async function editEndpoint(
  endpoints: EndpointStore,
  id: string,
  change: (standing: Endpoint) => Endpoint,
): Promise<Endpoint | null> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const standing = endpoints.get(id);
    if (!standing) return null;
    const after = { ...change(standing), version: standing.version + 1 };
    if (await endpoints.put(after, standing.version)) return after;
  }
  throw new AppError('store_unavailable', 'others keep changing this receiver; try again');
}

/** Webhooks are bounded by their routes, pushes by the number of bots; this is only the size of a scan. */
const MAX_STORED = 1_000_000;

/** Secrets that sign now, the newest first. */
export function activeSecrets(endpoint: Endpoint, box: SecretBox, nowIso: string): string[] {
  return endpoint.secrets
    .filter((secret) => secret.retires_at === null || secret.retires_at > nowIso)
    .map((secret) => box.open(secret.sealed));
}

/** The new secret in front; the one that was newest signs on until `overlapMs` have passed, all older ones end. */
export function withNewSecret(
  endpoint: Endpoint,
  sealed: string,
  nowMs: number,
  overlapMs: number,
): Endpoint {
  const now = new Date(nowMs).toISOString();
  const former = endpoint.secrets[0];
  const retiring =
    former === undefined || overlapMs === 0
      ? []
      : [{ ...former, retires_at: new Date(nowMs + overlapMs).toISOString() }];
  return {
    ...endpoint,
    secrets: [{ sealed, created_at: now, retires_at: null }, ...retiring],
    updated_at: now,
  };
}

export const BOT_PUSH_PREFIX = 'bot:';

/** What a bot's push begins with: a secret of its own, and nothing else that is not in the bot. */
export function newEndpoint(
  fields: Pick<Endpoint, 'id'> &
    Partial<Pick<Endpoint, 'url' | 'description' | 'types' | 'bot_ids' | 'headers_sealed'>>,
  sealedSecret: string,
  nowMs: number,
): Endpoint {
  const now = new Date(nowMs).toISOString();
  return {
    url: null,
    description: '',
    types: [],
    bot_ids: null,
    headers_sealed: null,
    ...fields,
    secrets: [{ sealed: sealedSecret, created_at: now, retires_at: null }],
    enabled: true,
    disabled: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
