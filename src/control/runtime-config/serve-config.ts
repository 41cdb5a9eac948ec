import { Type } from 'typebox';
import { CONFIG_PATH } from '../../contracts/http-names.ts';
import { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { type OpenCallParts, openCall } from './resolve-config.ts';

const ConfigQuery = Type.Object(
  {
    stream_id: Type.Optional(Type.String({ description: "The transport's own id of the call" })),
    caller_id: Type.Optional(Type.String({ description: 'Number or name of the caller' })),
    connected_event: Type.Optional(
      Type.String({
        description:
          'The `connected` message as JSON; what cannot be read counts as `{}`. Reserved flags steer the call, every other field becomes `call.*`',
      }),
    ),
  },
  // Slots of other versions may send more; a call must not fail on it.
  { additionalProperties: true },
);

/**
 * `GET /api/v1/config/{bot_id}`: what a slot asks at the start of every call, whatever its transport (R143, R145).
 * The `active` record is on disk before the answer leaves, so results always find it.
 */
export function configRoute(parts: OpenCallParts): AnyRoute {
  return route({
    method: 'GET',
    path: `${CONFIG_PATH}/{bot_id}`,
    operationId: 'getRuntimeConfig',
    summary: 'Open a call and get its config',
    tag: 'calls',
    auth: { kind: 'core_secret' },
    params: Type.Object({ bot_id: Type.String() }),
    query: ConfigQuery,
    responses: {
      200: { description: 'The config of this call; its record is on disk', schema: RuntimeConfig },
      404: { description: 'There is no published bot with this id' },
      409: {
        description:
          '`session_in_use`: a call with this `_campaign_session_id` lives, or has ended with results; `detail` says which',
      },
      503: {
        description:
          'Outside the active hours of the bot (`detail` starts with `outside_active_hours:`), or the store takes no writes',
        headers: { 'Retry-After': 'Seconds until the bot takes calls again' },
      },
    },
    handler: async (request) => ({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: await openCall(parts, {
        botId: request.params.bot_id,
        callerId: request.query.caller_id ?? '',
        streamId: request.query.stream_id ?? '',
        connectedEvent: request.query.connected_event ?? null,
        signal: request.signal,
      }),
    }),
  });
}
