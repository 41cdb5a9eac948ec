import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostSessions } from '../contracts/fleet-sessions.ts';
import type { OutboxRow } from './outbox/results-outbox.ts';
import type { OrphanCalls } from './slots/orphan-calls.ts';
import type { SlotPool } from './slots/slot-pool.ts';
import { readJournalCall } from './slots/spool-owner.ts';

export interface SessionSources {
  pool: Pick<SlotPool, 'slots'>;
  orphans: Pick<OrphanCalls, 'has'>;
  spoolFolder: string;
  /** Results that wait for their receivers. */
  outbox: () => AsyncIterable<OutboxRow>;
}

/**
 * The sessions that this host still has (`GET /sessions`). A call goes from a slot to its spool folder and from there to
 * the outbox; it is looked for in this order, so that one which moves on meanwhile is met all the same.
 */
export async function hostSessions(sources: SessionSources): Promise<HostSessions> {
  const { pool, orphans, spoolFolder } = sources;
  const live = new Set<string>();
  const owed = new Set<string>();
  const inSlots = new Set<string>();
  for (const { call } of pool.slots()) {
    if (!call) continue;
    inSlots.add(call.callId);
    if (call.sessionId !== null) live.add(call.sessionId);
  }
  for (const callId of await readdir(spoolFolder)) {
    const session = (await readJournalCall(join(spoolFolder, callId)))?.sessionId;
    if (session === undefined) continue;
    owed.add(session);
    if (inSlots.has(callId) || orphans.has(callId)) live.add(session);
  }
  for await (const { sessionId } of sources.outbox()) owed.add(sessionId);
  return { live: [...live], owed: [...new Set([...live, ...owed])] };
}
