import { createHash } from 'node:crypto';
import { canonicalJson } from '../../platform/canonical-json.ts';
import type { Actor } from '../http/authenticate.ts';

/**
 * One line of the audit log (D-58). Each entry carries the hash of the one before it, so that nothing
 * can be changed, taken out or moved without every later hash being wrong.
 */
export interface AuditEntry {
  id: string;
  /** Counts from 1 without a gap. */
  seq: number;
  at: string;
  actor: AuditActor;
  /** What was done, `user.create`. */
  action: string;
  /** To what, `user:usr_0123`. */
  target: string;
  /** State before and after, secrets as hashes; null where there was none. */
  before: unknown;
  after: unknown;
  request_id: string | null;
  prev_hash: string;
  hash: string;
}

export interface AuditActor {
  type: Actor['type'];
  id: string | null;
  name: string | null;
  ip: string | null;
}

/** Who does something and in which request: what every audited write is told. */
export interface AuditCause {
  actor: Actor;
  action: string;
  requestId: string | null;
  ip: string | null;
}

/** An {@link AuditCause} with what was done to what. */
export interface AuditNote extends AuditCause {
  target: string;
  before?: unknown;
  after?: unknown;
}

export function causeOf(
  actor: Actor,
  action: string,
  origin: { requestId: string | null; ip: string | null },
): AuditCause {
  return { actor, action, requestId: origin.requestId, ip: origin.ip };
}

/** What the log says of a request. */
export interface AuditedRequest {
  actor: Actor;
  requestId: string;
  remoteAddress: string;
}

/** The same for a request of the API. */
export function causedBy(request: AuditedRequest, action: string): AuditCause {
  return causeOf(request.actor, action, { requestId: request.requestId, ip: request.remoteAddress });
}

/** What the first entry carries as the hash of its predecessor. */
export const FIRST_PREV_HASH = '0'.repeat(64);

/**
 * SHA-256 over the entry without `hash`, as JSON without spaces and with the keys of every object in code-unit order,
 * so that a verifier in another language comes to the same bytes.
 */
export function hashOf(entry: Omit<AuditEntry, 'hash'>): string {
  const { id, seq, at, actor, action, target, before, after, request_id, prev_hash } = entry;
  const covered = { id, seq, at, actor, action, target, before, after, request_id, prev_hash };
  return createHash('sha256').update(canonicalJson(covered)).digest('hex');
}

export function auditActor(actor: Actor, ip: string | null): AuditActor {
  const named = actor.type === 'user' || actor.type === 'api_key';
  return { type: actor.type, id: named ? actor.id : null, name: named ? actor.name : null, ip };
}
