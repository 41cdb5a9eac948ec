import { type TObject, type TSchema, Type } from 'typebox';
import { DIALOUT_PATH, DialoutAccepted, DialoutRequest } from './dialout.ts';
import { HostSessions } from './fleet-sessions.ts';
import {
  BOT_ID_PATTERN,
  FLEET_HEALTH_PATH,
  PARTNER_PATH,
  RECORDINGS_PATH,
  SESSIONS_PATH,
  SOCKET_PATH,
} from './http-names.ts';
import {
  ATTACH_PATH,
  AttachRequest,
  CALLS_PATH,
  DISPATCH_PATH,
  DispatchRequest,
  HangupRequest,
  RESERVATIONS_PATH,
  Reservation,
  ReservationRequest,
  RoomCallAccepted,
  WIDGET_PATH,
  WidgetDispatchRequest,
} from './room-requests.ts';
import type { RouteBody, RouteDeclaration } from './route-declaration.ts';
import { CLOSE } from './wire.ts';
import { DiallerMessageSchema, FleetHealthSchema, SlotMessageSchema } from './wire-schemas.ts';

/**
 * A route of the fleet port, which a host serves and a dialler or a control plane asks. Errors are `{error, code}`
 * (fleet-refusals.ts); a query is passed over.
 */
export interface FleetRoute<P extends TObject = TObject, B extends TSchema = TSchema>
  extends RouteDeclaration<P, B> {
  /** `optional`: everybody may ask, and whoever brings the core secret gets or may more. */
  auth: { kind: 'core_secret'; optional?: boolean };
  body?: RouteBody<B> & { maxBytes: number };
}

// biome-ignore lint/complexity/noBannedTypes: an object schema without fields is spelled so.
type NoFields = TObject<{}>;

/** Keeps the types of the schemas for the handler. */
function fleetRoute<P extends TObject = NoFields, B extends TSchema = NoFields>(
  def: Omit<FleetRoute<P, B>, 'tag'>,
): FleetRoute<P, B> {
  return { ...def, tag: 'fleet' };
}

/** A connected event and a few fields, with the escapes that JSON may need. */
export const MAX_ORDER_BYTES = 65_536;
/** The same with what was heard in screening. */
const MAX_ATTACH_BYTES = 131_072;
const MAX_SMALL_BYTES = 4_096;

const ORDER = { kind: 'core_secret' } as const;
const ANYBODY = { kind: 'core_secret', optional: true } as const;

const BOT_PARAMS = Type.Object({ bot_id: Type.String({ pattern: BOT_ID_PATTERN.source }) });
const Id = Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' });
const RESERVATION_PARAMS = Type.Object({ reservation_id: Id });
const Done = Type.Object({ status: Type.Literal('ok') }, { title: 'FleetDone' });

const CAPACITY = { description: '`At capacity`: no free call slot; nothing is queued' };
const AWAY = { description: 'No media server is set up, it does not answer, or the host takes no calls now' };
const NO_CONFIG = { description: 'The bot’s config, or the bot of the number, cannot be had' };
const NO_BOT = { description: 'No such bot' };
const TAKEN = {
  description:
    'The room has another bot (`already_attached`) or is gone (`room_gone`), or a call with this session id lives on this host (`session_in_use`)',
};
const IN_USE = {
  description: 'A call with this `_campaign_session_id` lives on this host (`session_in_use`)',
};
const GONE = { description: 'The reservation has expired' };
const IN_ROOM = { description: 'The bot stands in the room', schema: RoomCallAccepted };

export const HEALTH_ROUTE = fleetRoute({
  method: 'GET',
  path: FLEET_HEALTH_PATH,
  operationId: 'getFleetHealth',
  summary: 'How many calls this host can take',
  auth: ANYBODY,
  responses: { 200: { description: 'The state of the host', schema: FleetHealthSchema } },
});

export const SESSIONS_ROUTE = fleetRoute({
  method: 'GET',
  path: SESSIONS_PATH,
  operationId: 'listHostSessions',
  summary: 'Which sessions this host still has',
  description: 'The control plane asks before it gives a call up as lost, or a session id to another call.',
  auth: ORDER,
  responses: { 200: { description: 'By session id', schema: HostSessions } },
});

export const RECORDING_ROUTE = fleetRoute({
  method: 'GET',
  path: `${RECORDINGS_PATH}{year}/{month}/{day}/{file}`,
  operationId: 'getHostRecording',
  summary: 'A recording of this host, as WAV',
  description:
    'The `recording_url` of calls whose config came from elsewhere leads here: its query (`expires`, `signature`) lets in until it ends. The core secret lets in without it. Honours Range.',
  auth: ANYBODY,
  params: Type.Object({
    year: Type.String({ pattern: '^[0-9]{4}$' }),
    month: Type.String({ pattern: '^[0-9]{2}$' }),
    day: Type.String({ pattern: '^[0-9]{2}$' }),
    file: Type.String({ pattern: '^[A-Za-z0-9-]{1,100}[.]wav$' }),
  }),
  responses: {
    200: { description: 'The whole recording', contentType: 'audio/wav' },
    206: { description: 'The part that Range names', contentType: 'audio/wav' },
    403: { description: 'The link is not as this host has signed it' },
    404: { description: 'The recording is not, or no longer, on this host' },
    410: { description: 'The link has expired (`link_expired`)' },
    416: { description: 'The range lies behind the end' },
    429: { description: 'Too many recordings are being read at once' },
  },
});

export const DIALOUT_ROUTE = fleetRoute({
  method: 'POST',
  path: DIALOUT_PATH,
  operationId: 'dialOut',
  summary: 'Dial a number and connect the bot',
  auth: ORDER,
  body: {
    schema: DialoutRequest,
    maxBytes: MAX_ORDER_BYTES,
    example: {
      bot_id: 'clinic',
      to_number: '+911140001234',
      connected_event: { customer_name: 'Asha' },
    },
    unknownFieldHints: {
      variables: 'this server takes connected_event; variables belong to the public API of the control plane',
    },
  },
  responses: {
    200: { description: 'The call runs in the background', schema: DialoutAccepted },
    409: IN_USE,
    429: { description: '`At capacity`: no free call slot; the call is not queued' },
    503: { description: 'SIP is not configured on this host, or the host takes no calls now' },
  },
});

export const DISPATCH_ROUTE = fleetRoute({
  method: 'POST',
  path: DISPATCH_PATH,
  operationId: 'dispatchSipCall',
  summary: 'A SIP call rings in a room: give it to the bot of its number',
  description:
    'Takes the core secret with this body, or the signed webhook of the media server as it is. Events that start no call are answered with `status` = `ignored`.',
  auth: ORDER,
  body: {
    schema: DispatchRequest,
    maxBytes: MAX_ORDER_BYTES,
    example: {
      did: '+911140001234',
      caller: '+911150000001',
      room_name: 'sip-in-7',
      participant_identity: 'sip_+911150000001',
    },
  },
  responses: {
    200: IN_ROOM,
    404: { description: 'The number leads to no bot; the caller is refused' },
    409: TAKEN,
    429: CAPACITY,
    502: NO_CONFIG,
    503: AWAY,
  },
});

export const WIDGET_ROUTE = fleetRoute({
  method: 'POST',
  path: WIDGET_PATH,
  operationId: 'dispatchWidgetCall',
  summary: 'A visitor of a website is about to join a room: bring the bot there first',
  auth: ORDER,
  body: {
    schema: WidgetDispatchRequest,
    maxBytes: MAX_ORDER_BYTES,
    example: {
      bot_id: 'clinic',
      room_name: 'widget-clinic-0b1c2d3e4f5a',
      participant_identity: 'widget-user-0b1c2d3e',
      visitor: { page_url: 'https://example.org/prices', locale: 'en-IN' },
    },
  },
  responses: { 200: IN_ROOM, 404: NO_BOT, 409: TAKEN, 429: CAPACITY, 502: NO_CONFIG, 503: AWAY },
});

export const ATTACH_ROUTE = fleetRoute({
  method: 'POST',
  path: ATTACH_PATH,
  operationId: 'attachCampaignCall',
  summary: 'The customer of a campaign has answered: the bot takes the call',
  description: 'Repeating it with the same `session_id` gives the same answer and no second call.',
  auth: ORDER,
  body: {
    schema: AttachRequest,
    maxBytes: MAX_ATTACH_BYTES,
    example: {
      room_name: 'call-0b1c2d3e',
      bot_id: 'clinic',
      session_id: '3f1f0f2c-0000-4000-8000-000000000001',
      to_number: '+911150000001',
      customer_identity: 'sip-0b1c2d3e',
      campaign_id: 'cmp_1',
    },
  },
  responses: {
    200: IN_ROOM,
    404: NO_BOT,
    409: TAKEN,
    410: GONE,
    429: CAPACITY,
    502: NO_CONFIG,
    503: AWAY,
  },
});

export const RESERVE_ROUTE = fleetRoute({
  method: 'POST',
  path: RESERVATIONS_PATH,
  operationId: 'reserveSlot',
  summary: 'Keep a slot for a call that is about to be dialled',
  description: 'For 45 seconds, unless it is renewed. A restart of the host forgets it.',
  auth: ORDER,
  body: {
    schema: ReservationRequest,
    maxBytes: MAX_SMALL_BYTES,
    example: { campaign_id: 'cmp_1', bot_id: 'clinic' },
    optional: true,
  },
  responses: { 201: { description: 'Kept', schema: Reservation }, 429: CAPACITY, 503: AWAY },
});

export const RENEW_ROUTE = fleetRoute({
  method: 'POST',
  path: `${RESERVATIONS_PATH}/{reservation_id}/renew`,
  operationId: 'renewReservation',
  summary: 'Keep the slot for another 45 seconds',
  auth: ORDER,
  params: RESERVATION_PARAMS,
  responses: {
    200: { description: 'Kept', schema: Reservation },
    410: GONE,
    503: { description: 'The host is draining' },
  },
});

export const RELEASE_ROUTE = fleetRoute({
  method: 'DELETE',
  path: `${RESERVATIONS_PATH}/{reservation_id}`,
  operationId: 'releaseReservation',
  summary: 'Give the slot back',
  auth: ORDER,
  params: RESERVATION_PARAMS,
  responses: { 200: { description: 'Given back, also when it had expired', schema: Done } },
});

export const HANGUP_ROUTE = fleetRoute({
  method: 'POST',
  path: `${CALLS_PATH}{call_id}/hangup`,
  operationId: 'hangUpCall',
  summary: 'End a call of this host, or stop its telephone from ringing',
  auth: ORDER,
  params: Type.Object({ call_id: Id }),
  body: {
    schema: HangupRequest,
    maxBytes: MAX_SMALL_BYTES,
    example: { reason: 'the customer asked for it' },
    optional: true,
  },
  responses: {
    200: { description: 'It ends now', schema: Done },
    404: { description: 'No such call on this host' },
  },
});

const closeCodes = Object.entries(CLOSE).map(([name, code]) => `${code} ${name}`);

export const SOCKET_ROUTE = fleetRoute({
  method: 'GET',
  path: `${SOCKET_PATH}{bot_id}`,
  operationId: 'openCallSocket',
  summary: 'A call as a WebSocket',
  description: `The dialler opens the socket, sends \`connected\`, then audio, and plays what the bot sends. Close codes: ${closeCodes.join(', ')}.`,
  auth: ANYBODY,
  params: BOT_PARAMS,
  responses: {
    101: {
      description: 'The call begins. Messages are JSON text frames.',
      content: {
        'application/vnd.trunkline.dialler+json': DiallerMessageSchema,
        'application/vnd.trunkline.bot+json': SlotMessageSchema,
      },
    },
    400: { description: 'Not a WebSocket upgrade' },
    403: { description: '`Unauthorized`: who is asking may not call here' },
    404: { description: 'Not a call path' },
    429: { description: '`At capacity`: no free call slot' },
    503: { description: 'The host takes no calls now' },
  },
});

/** The partners' own protocol is described in their manual, not here. */
export const PARTNER_ROUTE = fleetRoute({
  ...SOCKET_ROUTE,
  path: `${PARTNER_PATH}{bot_id}`,
  operationId: 'openPartnerSocket',
  summary: 'A call in the protocol of a telephony partner',
  hidden: true,
});

/** Everything on the fleet port, in the order of the document. */
export const FLEET_ROUTES: readonly FleetRoute[] = [
  DISPATCH_ROUTE,
  WIDGET_ROUTE,
  ATTACH_ROUTE,
  RESERVE_ROUTE,
  RENEW_ROUTE,
  RELEASE_ROUTE,
  HANGUP_ROUTE,
  HEALTH_ROUTE,
  SESSIONS_ROUTE,
  RECORDING_ROUTE,
  DIALOUT_ROUTE,
  SOCKET_ROUTE,
  PARTNER_ROUTE,
];
