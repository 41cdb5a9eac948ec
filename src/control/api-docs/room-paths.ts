import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import {
  ATTACH_PATH,
  AttachRequest,
  CALLS_PATH,
  DISPATCH_PATH,
  DispatchRequest,
  RESERVATIONS_PATH,
  Reservation,
  ReservationRequest,
  RoomCallAccepted,
  WIDGET_PATH,
  WidgetDispatchRequest,
} from '../../contracts/room-requests.ts';
import type { Components } from './components.ts';
import { FleetErrorSchema } from './problem-schema.ts';

const Done = Type.Object({ status: Type.Literal('ok') }, { title: 'FleetDone' });

interface FleetOperation {
  path: string;
  method: 'post' | 'delete';
  operationId: string;
  summary: string;
  description?: string;
  body?: TSchema;
  parameter?: string;
  success: { status: 200 | 201; description: string; schema: TSchema };
  refusals: Readonly<Record<number, string>>;
}

const CAPACITY = '`At capacity`: no free call slot; nothing is queued';
const AWAY = 'No media server is set up, it does not answer, or the host takes no calls now';
const GONE = 'The reservation has expired';

const OPERATIONS: readonly FleetOperation[] = [
  {
    path: DISPATCH_PATH,
    method: 'post',
    operationId: 'dispatchSipCall',
    summary: 'A SIP call rings in a room: give it to the bot of its number',
    description:
      'Takes the core secret with this body, or the signed webhook of the media server as it is. Events that start no call are answered with `status` = `ignored`.',
    body: DispatchRequest,
    success: { status: 200, description: 'The bot stands in the room', schema: RoomCallAccepted },
    refusals: { 404: 'The number leads to no bot; the caller is refused', 429: CAPACITY, 503: AWAY },
  },
  {
    path: WIDGET_PATH,
    method: 'post',
    operationId: 'dispatchWidgetCall',
    summary: 'A visitor of a website is about to join a room: bring the bot there first',
    body: WidgetDispatchRequest,
    success: { status: 200, description: 'The bot stands in the room', schema: RoomCallAccepted },
    refusals: { 429: CAPACITY, 503: AWAY },
  },
  {
    path: ATTACH_PATH,
    method: 'post',
    operationId: 'attachCampaignCall',
    summary: 'The customer of a campaign has answered: the bot takes the call',
    description: 'Repeating it with the same `session_id` gives the same answer and no second call.',
    body: AttachRequest,
    success: { status: 200, description: 'The bot stands in the room', schema: RoomCallAccepted },
    refusals: {
      409: 'The room has another bot (`already_attached`), or is gone (`room_gone`)',
      410: GONE,
      429: CAPACITY,
      503: AWAY,
    },
  },
  {
    path: RESERVATIONS_PATH,
    method: 'post',
    operationId: 'reserveSlot',
    summary: 'Keep a slot for a call that is about to be dialled',
    description: 'For 45 seconds, unless it is renewed. A restart of the host forgets it.',
    body: ReservationRequest,
    success: { status: 201, description: 'Kept', schema: Reservation },
    refusals: { 429: CAPACITY, 503: AWAY },
  },
  {
    path: `${RESERVATIONS_PATH}/{reservation_id}/renew`,
    method: 'post',
    operationId: 'renewReservation',
    summary: 'Keep the slot for another 45 seconds',
    parameter: 'reservation_id',
    success: { status: 200, description: 'Kept', schema: Reservation },
    refusals: { 410: GONE },
  },
  {
    path: `${RESERVATIONS_PATH}/{reservation_id}`,
    method: 'delete',
    operationId: 'releaseReservation',
    summary: 'Give the slot back',
    parameter: 'reservation_id',
    success: { status: 200, description: 'Given back, also when it had expired', schema: Done },
    refusals: {},
  },
  {
    path: `${CALLS_PATH}{call_id}/hangup`,
    method: 'post',
    operationId: 'hangUpCall',
    summary: 'End a call of this host, or stop its telephone from ringing',
    parameter: 'call_id',
    success: { status: 200, description: 'It ends now', schema: Done },
    refusals: { 404: 'No such call on this host' },
  },
];

/** The room routes of the fleet ingress (docs/room-calls.md) for the API document. */
export function roomPaths(components: Components, fleetUrl: string): Record<string, Record<string, unknown>> {
  const json = (schema: TSchema) => ({
    content: { 'application/json': { schema: components.place(schema) } },
  });
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const refusals: Record<number, string> = {
      ...(operation.body
        ? {
            400: 'The request cannot be read',
            413: 'The body is too large',
            415: 'The body is not JSON',
            422: 'The body does not fit',
          }
        : {}),
      403: '`Unauthorized`: the core secret is missing or wrong',
      ...operation.refusals,
    };
    const entry = paths[operation.path] ?? { servers: [{ url: fleetUrl, description: 'Fleet port' }] };
    paths[operation.path] = entry;
    entry[operation.method] = {
      operationId: operation.operationId,
      summary: operation.summary,
      ...(operation.description ? { description: operation.description } : {}),
      tags: ['fleet'],
      security: [{ coreSecret: [] }],
      ...(operation.parameter
        ? {
            parameters: [
              { name: operation.parameter, in: 'path', required: true, schema: { type: 'string' } },
            ],
          }
        : {}),
      ...(operation.body ? { requestBody: { required: true, ...json(operation.body) } } : {}),
      responses: {
        [operation.success.status]: {
          description: operation.success.description,
          ...json(operation.success.schema),
        },
        ...Object.fromEntries(
          Object.entries(refusals).map(([status, description]) => [
            status,
            { description, ...json(FleetErrorSchema) },
          ]),
        ),
      },
    };
  }
  return paths;
}
