import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';

/** Events that can occur in this version (docs/crm-and-webhooks.md, "Webhooks"). */
export const EventType = Type.Union([
  Type.Literal('call.started'),
  Type.Literal('call.ended'),
  Type.Literal('call.not_connected'),
]);
export type EventType = Static<typeof EventType>;

/** `crm.push` is the post-call push of a bot, `webhook.test` what an admin sends by hand. */
export type DeliveryType = EventType | 'crm.push' | 'webhook.test';

/** One message to one receiver: what is sent, and how far that has come. */
export interface Delivery {
  /** `webhook-id`: the same in every attempt, so that a receiver can tell a repeat. */
  id: string;
  /** `whk_…`, or `bot:<bot_id>` for the post-call push of a bot. */
  endpoint_id: string;
  type: DeliveryType;
  session_id: string | null;
  body: string;
  created_at: string;
  state: 'pending' | 'delivered' | 'dead';
  /** Attempts of the present plan; a replay begins at 0 again. */
  attempts: number;
  /** All attempts ever. */
  attempts_total: number;
  next_attempt_ms: number;
  finished_at: string | null;
  last_status: number | null;
  last_error: string | null;
  /** The message of the same call that this receiver must have, or have lost for good, before this one. */
  after: string | null;
}

/** One attempt as the delivery log shows it. Values of secrets stand as `***`. */
export interface AttemptLog {
  delivery_id: string;
  type: DeliveryType;
  session_id: string | null;
  /** From 1. */
  attempt: number;
  at: string;
  ms: number;
  request: { method: 'POST'; url: string; headers: Record<string, string>; body: string };
  response: { status: number; headers: Record<string, string>; body: string } | null;
  error: string | null;
}

/** Larger bodies are not sent: they end as dead letters at once. */
export const MAX_DELIVERY_BYTES = 1_048_576;

/**
 * The id follows from what it is about, so that a fan-out that is done twice after a crash makes one message, not two.
 */
export function deliveryId(endpointId: string, type: DeliveryType, call: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([endpointId, type, call]))
    .digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

export function newDelivery(
  fields: Pick<Delivery, 'endpoint_id' | 'type' | 'session_id' | 'body'> & {
    id: string;
    after?: string | null;
  },
  nowMs: number,
): Delivery {
  const tooLarge = Buffer.byteLength(fields.body) > MAX_DELIVERY_BYTES;
  const at = new Date(nowMs).toISOString();
  return {
    ...fields,
    body: tooLarge ? '' : fields.body,
    after: fields.after ?? null,
    created_at: at,
    state: tooLarge ? 'dead' : 'pending',
    attempts: 0,
    attempts_total: 0,
    next_attempt_ms: nowMs,
    finished_at: tooLarge ? at : null,
    last_status: null,
    last_error: tooLarge ? `the body is larger than ${MAX_DELIVERY_BYTES} bytes` : null,
  };
}
