import { type RecordFacts, resultsPayload } from '../calls/after-call.ts';
import { type EventType, MAX_DELIVERY_BYTES } from './delivery.ts';

/** Room for the envelope around a call. */
const MAX_DATA_BYTES = MAX_DELIVERY_BYTES - 4_096;

/**
 * The JSON of a webhook: type, time of the event and the call (Standard Webhooks, "Payload structure"). A call that has
 * ended carries its results; where these are too large for one message, transcript, events and usage stay out and
 * `truncated` says so: the record has them.
 */
export function eventBody(type: EventType, call: RecordFacts, at: string): string {
  const outline = {
    session_id: call.session_id,
    bot_id: call.bot_id,
    bot_name: call.bot_name,
    status: call.status,
    call_direction: call.call_direction,
    caller_id: call.caller_id,
    from_number: call.from_number,
    created_at: call.created_at,
    ended_at: call.ended_at,
  };
  const envelope = (data: unknown) => JSON.stringify({ type, timestamp: at, data });
  if (type === 'call.started') return envelope({ ...outline, connected_event: call.connected_event });
  const results = resultsPayload(call);
  const whole = envelope({ ...outline, ...results, truncated: false });
  if (Buffer.byteLength(whole) <= MAX_DATA_BYTES) return whole;
  const { transcript: _transcript, events: _events, usage_metrics: _usage, ...rest } = results;
  const cut = envelope({ ...outline, ...rest, truncated: true });
  return Buffer.byteLength(cut) <= MAX_DATA_BYTES ? cut : envelope({ ...outline, truncated: true });
}
