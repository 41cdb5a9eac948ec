import type { TSchema } from 'typebox';
import { DIALOUT_PATH, DialoutAccepted, DialoutRequest } from '../../contracts/dialout.ts';
import { BOT_ID_PATTERN, FLEET_HEALTH_PATH, SOCKET_PATH } from '../../contracts/http-names.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { DiallerMessageSchema, FleetHealthSchema, SlotMessageSchema } from '../../contracts/wire-schemas.ts';
import type { Components } from './components.ts';
import { FleetErrorSchema } from './problem-schema.ts';
import { roomPaths } from './room-paths.ts';

/**
 * The paths of the fleet ingress. It runs on another server without the route table (D-4), so they are written
 * out here; `test/control/http/openapi.test.ts` holds them to a running ingress.
 */
export function fleetPaths(
  components: Components,
  fleetUrl: string,
): Record<string, Record<string, unknown>> {
  const servers = [{ url: fleetUrl, description: 'Fleet port' }];
  const json = (schema: TSchema) => ({
    content: { 'application/json': { schema: components.place(schema) } },
  });
  const refusal = (description: string) => ({ description, ...json(FleetErrorSchema) });
  const messages = {
    dialler: components.place(DiallerMessageSchema),
    bot: components.place(SlotMessageSchema),
  };
  return {
    ...roomPaths(components, fleetUrl),
    [FLEET_HEALTH_PATH]: {
      servers,
      get: {
        operationId: 'getFleetHealth',
        summary: 'How many calls this host can take',
        tags: ['fleet'],
        security: [{}, { coreSecret: [] }],
        responses: {
          200: { description: 'The state of the host', ...json(FleetHealthSchema) },
        },
      },
    },
    [DIALOUT_PATH]: {
      servers,
      post: {
        operationId: 'dialOut',
        summary: 'Dial a number and connect the bot',
        tags: ['fleet'],
        security: [{ coreSecret: [] }],
        requestBody: { required: true, ...json(DialoutRequest) },
        responses: {
          200: { description: 'The call runs in the background', ...json(DialoutAccepted) },
          400: refusal('The request cannot be read'),
          403: refusal('`Unauthorized`: the core secret is missing or wrong'),
          413: refusal('The body is too large'),
          415: refusal('The body is not JSON'),
          422: refusal('The body does not fit'),
          429: refusal('`At capacity`: no free call slot; the call is not queued'),
          503: refusal('SIP is not configured on this host, or the host takes no calls now'),
        },
      },
    },
    [`${SOCKET_PATH}{bot_id}`]: {
      servers,
      get: {
        operationId: 'openCallSocket',
        summary: 'A call as a WebSocket',
        description: [
          'The dialler opens the socket, sends `connected`, then audio, and plays what the bot sends.',
          `Close codes: ${Object.entries(CLOSE)
            .map(([name, code]) => `${code} ${name}`)
            .join(', ')}.`,
        ].join(' '),
        tags: ['fleet'],
        security: [{}, { coreSecret: [] }],
        parameters: [
          {
            name: 'bot_id',
            in: 'path',
            required: true,
            schema: { type: 'string', pattern: BOT_ID_PATTERN.source },
          },
        ],
        responses: {
          101: {
            description: 'The call begins. Messages are JSON text frames.',
            content: {
              'application/vnd.trunkline.dialler+json': { schema: messages.dialler },
              'application/vnd.trunkline.bot+json': { schema: messages.bot },
            },
          },
          400: refusal('Not a WebSocket upgrade'),
          403: refusal('`Unauthorized`: who is asking may not call here'),
          404: refusal('Not a call path'),
          429: refusal('`At capacity`: no free call slot'),
          503: refusal('The host takes no calls now'),
        },
      },
    },
  };
}
