import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import { type Actor, type AnyRoute, route } from '../http/route.ts';
import { OUTBOUND_EXAMPLE, OutboundAccepted, OutboundRequest, OutboundState } from './outbound-schema.ts';
import { type PlaceCallParts, placeCall, recordPath } from './place-call.ts';

export interface OutboundRouteParts extends PlaceCallParts {
  calls: Pick<CallRecordStore, 'get'>;
}

const CALLS_PATH = `${API_PREFIX}/calls`;
const TAG = 'Outbound calls';
const MAX_BODY_BYTES = 65_536;

/** The public outbound API (interface.md): placing a call under its two names, and looking what became of it. */
export function outboundRoutes(parts: OutboundRouteParts): AnyRoute[] {
  return [
    placingRoute(parts, `${CALLS_PATH}/outbound`, 'placeOutboundCall'),
    placingRoute(parts, CALLS_PATH, 'placeCall'),
    route({
      method: 'GET',
      path: `${CALLS_PATH}/{call_id}`,
      operationId: 'getOutboundCall',
      summary: 'What became of an outbound call',
      description:
        'For seven days after the call was placed. An API key without `records:read` sees the calls that it has placed itself.',
      tag: TAG,
      auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['calls:write', 'records:read'] },
      params: Type.Object({ call_id: Type.String({ minLength: 1, maxLength: 200 }) }),
      responses: { 200: { description: 'The call', schema: OutboundState } },
      handler: async ({ params, actor }) => ({
        status: 200,
        json: await stateOf(parts, params.call_id, actor),
      }),
    }),
  ];
}

function placingRoute(parts: OutboundRouteParts, path: string, operationId: string): AnyRoute {
  return route({
    method: 'POST',
    path,
    operationId,
    summary: 'Call a customer',
    description:
      'The fleet server with the most free capacity dials; the answer does not wait for the ringing. Send an `Idempotency-Key`, so that a repeated request does not call twice.',
    tag: TAG,
    auth: { kind: 'api_key', scope: 'calls:write' },
    // interface.md, Limits: the fleet's capacity is the only bound.
    rateLimit: false,
    idempotent: true,
    body: { schema: OutboundRequest, maxBytes: MAX_BODY_BYTES, example: OUTBOUND_EXAMPLE },
    responses: {
      200: { description: 'A fleet server has accepted the call', schema: OutboundAccepted },
      404: { description: 'There is no bot with this id' },
      503: {
        description:
          'No fleet server takes the call (`no_fleet`), the bot is outside its active hours (`outside_active_hours`), or there is no outbound trunk (`no_trunk`)',
        headers: { 'Retry-After': 'Seconds; absent where trying again would not help' },
      },
    },
    handler: async ({ body, actor }) => ({
      status: 200,
      json: await placeCall(parts, body, actor.type === 'api_key' ? actor.id : ''),
    }),
  });
}

async function stateOf(parts: OutboundRouteParts, callId: string, actor: Actor): Promise<OutboundState> {
  const call = await parts.outbound.get(callId);
  const ownOnly = actor.type === 'api_key' && !actor.scopes.includes('records:read');
  if (!call || (ownOnly && call.created_by !== actor.id)) {
    throw new AppError('not_found', 'there is no outbound call with this id');
  }
  const record = await parts.calls.get(call.session_id);
  return {
    call_id: call.call_id,
    session_id: call.session_id,
    room_name: call.room_name,
    bot_id: call.bot_id,
    status: record?.status ?? 'accepted',
    disconnected_by: record?.disconnected_by ?? null,
    call_duration_seconds: record?.call_duration_seconds ?? null,
    created_at: call.created_at,
    ended_at: record?.ended_at ?? null,
    links: { record: recordPath(call.session_id) },
  };
}
