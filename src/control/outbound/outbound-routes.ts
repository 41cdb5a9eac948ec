import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { CALLS_PATH } from '../../contracts/room-requests.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import { postToHost } from '../fleet/post-to-host.ts';
import { type Actor, type AnyRoute, route, type Scope } from '../http/route.ts';
import { OUTBOUND_EXAMPLE, OutboundAccepted, OutboundRequest, OutboundState } from './outbound-schema.ts';
import type { OutboundCall } from './outbound-store.ts';
import { type PlaceCallParts, placeOutboundCall, recordPath } from './place-call.ts';

export interface OutboundRouteParts extends PlaceCallParts {
  calls: Pick<CallRecordStore, 'get'>;
}

const API_CALLS_PATH = `${API_PREFIX}/calls`;
const TAG = 'Outbound calls';
const MAX_BODY_BYTES = 65_536;
const CallId = Type.Object({ call_id: Type.String({ minLength: 1, maxLength: 200 }) });

/** The public outbound API (R156): placing a call under its two names, and looking what became of it. */
export function outboundRoutes(parts: OutboundRouteParts): AnyRoute[] {
  return [
    placingRoute(parts, `${API_CALLS_PATH}/outbound`, 'placeOutboundCall'),
    placingRoute(parts, API_CALLS_PATH, 'placeCall'),
    route({
      method: 'GET',
      path: `${API_CALLS_PATH}/{call_id}`,
      operationId: 'getOutboundCall',
      summary: 'What became of an outbound call',
      description:
        'For seven days after the call was placed. An API key without `records:read` sees the calls that it has placed itself.',
      tag: TAG,
      auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['calls:write', 'records:read'] },
      params: CallId,
      responses: { 200: { description: 'The call', schema: OutboundState } },
      async handler({ params, actor }) {
        const call = await findCall(parts, params.call_id, actor, 'records:read');
        return { status: 200, json: await stateOf(parts, call) };
      },
    }),
    route({
      method: 'POST',
      path: `${API_CALLS_PATH}/{call_id}/cancel`,
      operationId: 'cancelOutboundCall',
      summary: 'End an outbound call, whether it rings or talks',
      description:
        'A call that is over already is no error. An API key ends the calls that it has placed itself.',
      tag: TAG,
      auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['calls:write'] },
      params: CallId,
      responses: {
        200: {
          description: 'It ends now, or has ended; `status` follows with its results',
          schema: OutboundState,
        },
        503: {
          description: 'The fleet server of the call does not answer (`no_fleet`)',
          headers: { 'Retry-After': 'Seconds' },
        },
      },
      async handler({ params, actor }) {
        const call = await findCall(parts, params.call_id, actor, null);
        const before = await stateOf(parts, call);
        if (before.ended_at !== null) return { status: 200, json: before };
        await cancelCall(parts, call);
        return { status: 200, json: await stateOf(parts, call) };
      },
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
    // The fleet's capacity is the only bound (R178).
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
      json: await placeOutboundCall(parts, body, actor.type === 'api_key' ? actor.id : ''),
    }),
  });
}

/** Throws `not_found`, also for a call that another key has placed, unless a scope of this one shows it all calls. */
async function findCall(
  parts: OutboundRouteParts,
  callId: string,
  actor: Actor,
  seesAll: Scope | null,
): Promise<OutboundCall> {
  const call = await parts.outbound.get(callId);
  const ownOnly = actor.type === 'api_key' && (seesAll === null || !actor.scopes.includes(seesAll));
  if (!call || (ownOnly && call.created_by !== actor.id)) {
    throw new AppError('not_found', 'there is no outbound call with this id');
  }
  return call;
}

async function stateOf(parts: OutboundRouteParts, call: OutboundCall): Promise<OutboundState> {
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

const RETRY_SECONDS = 5;

/**
 * Ends an outbound call that rings or talks, at the host that has it. A call that the host no longer knows is over, and
 * that is what was wanted. Throws `no_fleet` where the host does not answer: the call may go on then.
 */
async function cancelCall(parts: { coreSecret: string; logger: Logger }, call: OutboundCall): Promise<void> {
  const path = `${CALLS_PATH}${encodeURIComponent(call.call_id)}/hangup`;
  const reply = await postToHost(call.fleet_url, path, {}, parts.coreSecret);
  if (reply.kind === 'answer' && (reply.status === 200 || reply.status === 404)) {
    parts.logger.info({ call_id: call.call_id, session_id: call.session_id }, 'outbound call cancelled');
    return;
  }
  const status = reply.kind === 'answer' ? reply.status : null;
  parts.logger.warn(
    { call_id: call.call_id, fleet_url: call.fleet_url, kind: reply.kind, status },
    'a fleet server could not be told to end a call',
  );
  throw new AppError('no_fleet', 'the fleet server of this call does not end it; try again', {
    details: { retryAfterSeconds: RETRY_SECONDS },
  });
}
