import { randomUUID } from 'node:crypto';
import type { DialoutRequest } from '../../contracts/dialout.ts';
import { SESSION_ID_PATTERN } from '../../contracts/http-names.ts';
import type { AttachRequest, DispatchRequest, WidgetDispatchRequest } from '../../contracts/room-requests.ts';
import { callRoomName, SIP_CUSTOMER_PREFIX, type SipDialling } from '../../contracts/rooms.ts';
import { invalid, issue } from '../../platform/http-server/schema-check.ts';
import type { RoomOrder } from './room-calls.ts';

/**
 * What each kind of room call tells its config endpoint (R148): the fields that a dialler would have sent in its
 * handshake. What this host knows for a fact comes last, so that no field of a request can pass for it.
 */

/** A number is dialled from a room of its own. */
export function dialoutOrder(request: DialoutRequest, dialling: SipDialling): RoomOrder {
  const callId = randomUUID();
  const roomName = callRoomName(callId);
  const fromNumber = request.from_number ?? dialling.defaultFrom;
  return {
    callId,
    kind: 'sip_outbound',
    botId: request.bot_id,
    roomName,
    customerIdentity: `${SIP_CUSTOMER_PREFIX}${callId.slice(0, 8)}`,
    connected: {
      ...request.connected_event,
      event: 'connected',
      ...call(callId, roomName, 'rtc_sip'),
      caller_id: request.to_number,
      from_number: fromNumber,
      to_number: request.to_number,
      call_direction: 'outbound',
      trunk_id: dialling.trunkId,
    },
    configUrl: request.config_url ?? null,
    dial: { trunkId: dialling.trunkId, toNumber: request.to_number, fromNumber },
    attached: null,
  };
}

/** A caller rings in a room. */
export function dispatchOrder(request: DispatchRequest, botId: string): RoomOrder {
  const callId = randomUUID();
  return {
    callId,
    kind: 'sip_inbound',
    botId,
    roomName: request.room_name,
    customerIdentity: request.participant_identity,
    connected: {
      event: 'connected',
      ...call(callId, request.room_name, 'rtc_sip'),
      caller_id: request.caller ?? '',
      // Our side of the call in both directions (R91).
      from_number: request.did,
      to_number: request.did,
      call_direction: 'inbound',
      ...given('trunk_id', request.trunk_id),
      ...given('sip_call_id', request.call_id),
      ...given('received_at', request.received_at),
      sip_candidate_headers: candidateHeaders(request.sip_headers ?? {}),
    },
    configUrl: request.config_url ?? null,
    dial: null,
    attached: null,
  };
}

/** A visitor of a website is about to join the room. */
export function widgetOrder(request: WidgetDispatchRequest): RoomOrder {
  const callId = randomUUID();
  return {
    callId,
    kind: 'widget',
    botId: request.bot_id,
    roomName: request.room_name,
    customerIdentity: request.participant_identity,
    connected: {
      ...request.visitor,
      ...request.connected_event,
      event: 'connected',
      ...call(callId, request.room_name, 'rtc_widget'),
      caller_id: request.participant_identity,
      call_direction: 'inbound',
    },
    configUrl: request.config_url ?? null,
    dial: null,
    attached: null,
  };
}

/** A dialler has called the customer and found a person; the campaign's session is the call's (R85). */
export function attachOrder(request: AttachRequest): RoomOrder {
  const callId = randomUUID();
  const { screening } = request;
  return {
    callId,
    kind: 'attach',
    botId: request.bot_id,
    roomName: request.room_name,
    customerIdentity: request.customer_identity,
    connected: {
      ...request.connected_event,
      event: 'connected',
      ...call(callId, request.room_name, 'rtc_sip'),
      caller_id: request.to_number,
      ...given('from_number', request.from_number ?? undefined),
      to_number: request.to_number,
      call_direction: 'outbound',
      ...given('trunk_id', request.sip?.trunk_id),
      ...given('sip_call_id', request.sip?.call_id),
      ...given('answered_at', request.answered_at),
      // The words that were heard travel to the slot, not in a URL.
      ...given('screening_result', screening?.result),
      ...given('screening_confidence', screening?.confidence),
      ...given('screening_elapsed_ms', screening?.elapsed_ms),
      _campaign_session_id: request.session_id,
      ...given('_campaign_id', request.campaign_id),
      ...given('_campaign_call_id', request.campaign_call_id),
      ...given('_campaign_attempt', request.attempt),
      ...given('_campaign_run_number', request.run_number),
    },
    configUrl: request.config_url ?? null,
    dial: null,
    attached: { answeredAt: request.answered_at ?? null, screening: screening ? { ...screening } : null },
  };
}

/**
 * A session id that our own control plane would refuse is refused here, where its sender still waits. What another plane
 * makes of an id is its own affair. Throws `validation_error`.
 */
export function demandSessionId(id: unknown, pointer: string): void {
  if (id === undefined || id === null) return;
  if (typeof id === 'string' && SESSION_ID_PATTERN.test(id)) return;
  const shown = JSON.stringify(id).slice(0, 60);
  const sentence = `${shown} is no session id: 1 to 200 letters, digits or . _ : @ -`;
  throw invalid(sentence, [issue('body', pointer, sentence, 'value')]);
}

/** The call's own id is its stream, so that an orchestrator finds in the config request what its order was answered. */
function call(callId: string, roomName: string, transport: 'rtc_sip' | 'rtc_widget') {
  return { stream_id: callId, call_id: callId, room_name: roomName, transport };
}

function given(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

const MAX_HEADER_CHARS = 1_000;
/** Of all headers together: they travel on in a URL, beside the rest of the connected event. */
const MAX_HEADERS_CHARS = 8_000;

/** Headers of the carrier that may become variables: `X-` ones, bounded (R89). */
export function candidateHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  let chars = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^x-[\w.-]{1,100}$/i.test(name)) continue;
    const bounded = value.slice(0, MAX_HEADER_CHARS);
    chars += name.length + bounded.length;
    if (chars > MAX_HEADERS_CHARS) break;
    kept[name] = bounded;
  }
  return kept;
}
