import { AppError } from '../../platform/app-error.ts';
import { type ActiveCall, type CallRecord, isWithoutResults } from '../calls/call-record.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import type { SessionFinder } from '../fleet/find-sessions.ts';

export interface OpenSessionParts {
  calls: Pick<CallRecordStore, 'insertActive' | 'reopen' | 'get'>;
  /** What the hosts still have of calls. */
  sessions: SessionFinder;
  nowIso: () => string;
}

/**
 * A slot that has got its config tells its host of the session at once. Until then only the record knows of the call, so
 * a call on a socket counts as alive for this long, come what may. A call through a room is known to its host before.
 */
const OPENING_MS = 30_000;

/**
 * Writes the `active` record. The session is the call's own or the one that its dialler has chosen, and never another
 * one: what a dialler cannot find again is lost to it. So where a call with this session lives, or had results, the new
 * one is refused with `session_in_use`; an attempt that came to nothing gives its session away (R85).
 */
export async function openSession(parts: OpenSessionParts, call: ActiveCall): Promise<void> {
  if (await parts.calls.insertActive(call)) return;
  const standing = await parts.calls.get(call.session_id);
  if (standing && isSameCall(standing, call)) return;
  const hindrance = standing ? await hindranceOf(parts, standing) : null;
  if (hindrance !== null) throw inUse(call.session_id, hindrance);
  // Of two that come at once, the record of one stands there by now.
  if (!standing || !(await parts.calls.reopen(call, standing.version))) {
    throw inUse(call.session_id, 'another call has just taken it');
  }
}

/** Whether a slot, or something between it and us, asks again for the same call: the id of a room call is its host's own. */
function isSameCall(standing: CallRecord, call: ActiveCall): boolean {
  return standing.status === 'active' && standing.call_id !== null && standing.call_id === call.call_id;
}

/** Why the session of this record is not free; null where it is. */
async function hindranceOf(parts: OpenSessionParts, standing: CallRecord): Promise<string | null> {
  if (!isWithoutResults(standing)) return 'a call with it has ended, and has its results';
  if (standing.status === 'not_connected') return null;
  const ageMs = Date.parse(parts.nowIso()) - Date.parse(standing.created_at);
  if (standing.call_id === null && ageMs < OPENING_MS) return 'a call with it is just beginning';
  const known = await parts.sessions.ask();
  if (known === null) return 'a host that may have the call with it does not answer';
  if (known.live.has(standing.session_id)) return 'a call with it is live';
  return known.owed.has(standing.session_id) ? 'the results of a call with it are on their way' : null;
}

function inUse(sessionId: string, why: string): AppError {
  return new AppError('session_in_use', `session ${sessionId} is in use: ${why}`);
}
