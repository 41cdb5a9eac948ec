import { WidgetDispatchRequest } from '../../contracts/room-requests.ts';
import { widgetOrder } from '../rooms/room-requests.ts';
import { startAndAnswer } from '../rooms/room-service.ts';
import { admission } from './admission.ts';
import type { RoomRouteOptions } from './dispatch.ts';
import { bodyReader, type IngressHandler, jsonRoute, readOrder } from './json-route.ts';
import { REFUSALS } from './refusal.ts';

/** Connected event and visitor, with the escapes that JSON may need. */
const MAX_BODY_BYTES = 65_536;

const readWidget = bodyReader(WidgetDispatchRequest);

/**
 * `POST /rtc/widget` (R22, R139): answered when the bot stands in the room, so that no visitor joins a
 * room without one.
 */
export function createWidget(options: RoomRouteOptions): IngressHandler {
  const { roomService } = options;
  return jsonRoute(options.logger, async (request) => {
    const read = await readOrder(request, options.settings.coreSecrets, MAX_BODY_BYTES, readWidget);
    if ('refusal' in read) return read.refusal;
    const setup = await roomService.media.fresh();
    const order = widgetOrder(read.value);
    const key = `widget ${order.roomName} ${order.customerIdentity}`;
    const standing = roomService.claims.standing(key);
    if (standing) return standing;
    if (roomService.isServed(order.roomName)) return REFUSALS.alreadyAttached;
    const refused = admission(options);
    if (refused) return refused;
    if (!setup) return REFUSALS.mediaNotConfigured;
    return roomService.claims.run(
      { key, roomName: order.roomName, callId: order.callId, lasting: false },
      () => startAndAnswer(roomService, setup, order),
    );
  });
}
