import { Type } from 'typebox';
import { CALLS_PATH } from '../../contracts/room-requests.ts';
import type { RoomRouteOptions } from './dispatch.ts';
import { bodyReader, type IngressHandler, jsonRoute, mayCommand, pathOf, readBody } from './json-route.ts';
import { REFUSALS } from './refusal.ts';

const MAX_BODY_BYTES = 4_096;
const PATH = new RegExp(`^${CALLS_PATH}([A-Za-z0-9-]{1,64})/hangup$`);

const readHangup = bodyReader(
  Type.Object({ reason: Type.Optional(Type.String({ maxLength: 200 })) }, { additionalProperties: false }),
);

/**
 * `POST /calls/{call_id}/hangup`: ends a live or ringing call of this host, whatever it came by. Of a call that is over
 * there is nothing to end, which is what was asked for.
 */
export function createHangup(options: RoomRouteOptions): IngressHandler {
  return jsonRoute(options.logger, async (request) => {
    const [, callId = ''] = PATH.exec(pathOf(request)) ?? [];
    if (callId === '') return REFUSALS.notFound;
    if (request.method !== 'POST') return REFUSALS.methodNotAllowed;
    if (!mayCommand(request, options.settings.coreSecrets)) return REFUSALS.unauthorized;
    let reason = 'the call was cancelled';
    if (request.headers['content-type'] !== undefined) {
      const body = await readBody(request, MAX_BODY_BYTES);
      if ('refusal' in body) return body.refusal;
      const read = readHangup(body.value);
      if ('refusal' in read) return read.refusal;
      reason = read.value.reason || reason;
    }
    const known = options.roomService.hangUp(callId, reason);
    return known === 'unknown' ? REFUSALS.notFound : { status: 200, body: { status: 'ok' } };
  });
}
