import type { KeyValueStore, StoreKey, Table } from '../../platform/key-value-store.ts';

/** A call that a fleet server has accepted. No numbers: whoever erases the call record must not have to look here. */
export interface OutboundCall {
  call_id: string;
  session_id: string;
  room_name: string;
  bot_id: string;
  fleet_url: string;
  /** ISO 8601 UTC. */
  created_at: string;
  /** Id of the API key that asked for it. */
  created_by: string;
}

/** Which session an outbound call became. Every implementation passes `outbound-store-conformance.ts`. */
export interface OutboundStore {
  /** Durable when it resolves. Calls older than `KEPT_MS` go on the way, at most a handful each time. */
  add(call: OutboundCall): Promise<void>;
  /** Null for an unknown call, and for one that is too old. */
  get(callId: string): Promise<OutboundCall | null>;
}

/** Longer than any call lasts; afterwards the call record alone tells of it. */
export const KEPT_MS = 7 * 24 * 3_600_000;
/** More than is added, so that the table shrinks. */
const DROPPED_PER_ADD = 4;

export function createOutboundStore(store: KeyValueStore): OutboundStore {
  const calls: Table<OutboundCall> = store.table('outbound-calls');
  const byAge: Table<1> = store.table('outbound-calls-by-age');
  return {
    add: (call) =>
      store.transaction((writes) => {
        const oldest = new Date(Date.parse(call.created_at) - KEPT_MS).toISOString();
        for (const key of byAge.keys({ limit: DROPPED_PER_ADD })) {
          const [createdAt, callId] = asAge(key);
          if (createdAt >= oldest) break;
          writes.remove(byAge, key);
          if (writes.get(calls, callId)?.created_at === createdAt) writes.remove(calls, callId);
        }
        writes.put(calls, call.call_id, call);
        writes.put(byAge, [call.created_at, call.call_id], 1);
      }),
    async get(callId) {
      return calls.get(callId) ?? null;
    },
  };
}

function asAge(key: StoreKey): readonly [string, string] {
  return key as unknown as readonly [string, string];
}
