import { type FleetAnswer, mediaRefusal, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import { ATTACH_ROUTE } from '../../contracts/fleet-routes.ts';
import type { AttachRequest } from '../../contracts/room-requests.ts';
import type { MediaSetup } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { attachOrder, demandSessionId } from '../rooms/room-requests.ts';
import { startAndAnswer } from '../rooms/room-service.ts';
import type { SlotProcess } from '../slots/slot-process.ts';
import { admission } from './call-admission.ts';
import { type ServedRoute, serve } from './fleet-table.ts';
import type { RoomRouteOptions } from './room-routes.ts';

/**
 * `POST /attach` (R21): a dialler has called somebody, and the bot
 * joins them. One session is one call, however often it is asked for. With the reservation that was made before dialling
 * (D-16) the call has its slot for certain, also on a host that has filled up or drains meanwhile.
 */
export function serveAttach(options: RoomRouteOptions): ServedRoute {
  const { roomService } = options;

  return serve(ATTACH_ROUTE, async ({ body }) => {
    if (roomService.hasOwnPlane && body.config_url === undefined) {
      demandSessionId(body.session_id, '/session_id');
    }
    const outlived = await roomService.orphanSession(body.room_name);
    const setup = await roomService.media.fresh();
    return attach(body, setup, outlived);
  });

  /** Decides without waiting, so that of two requests at once one is the first. */
  async function attach(
    request: AttachRequest,
    setup: MediaSetup | null,
    outlived: { callId: string; sessionId: string | null; workerId: string } | null,
  ): Promise<FleetAnswer> {
    const key = `attach ${request.session_id}`;
    const standing = roomService.claims.standing(key);
    if (standing) return standing;
    if (outlived?.sessionId === request.session_id) return sameCall(request, outlived);
    if (roomService.isServed(request.room_name)) return REFUSALS.alreadyAttached;
    const place = takePlace(request);
    if ('refusal' in place) return place.refusal;
    const order = attachOrder(request);
    return roomService.claims.run(
      { key, roomName: order.roomName, callId: order.callId, lasting: true },
      async () => {
        const refused = await lookForCustomer(request, setup);
        if (!refused && setup) return startAndAnswer(roomService, setup, order, place.slot);
        if (place.slot) roomService.reservations.giveBack(place.slot);
        return refused ?? REFUSALS.mediaNotConfigured;
      },
    );
  }

  function takePlace(request: AttachRequest): { slot?: SlotProcess } | { refusal: Refusal } {
    if (request.lease_id === undefined) {
      const refusal = admission(options);
      return refusal ? { refusal } : {};
    }
    const slot = roomService.reservations.claim(request.lease_id);
    return slot ? { slot } : { refusal: REFUSALS.reservationExpired };
  }

  async function lookForCustomer(request: AttachRequest, setup: MediaSetup | null): Promise<Refusal | null> {
    if (!setup) return REFUSALS.mediaNotConfigured;
    try {
      const server = await roomService.media.server(setup.access);
      const customer = await server.participant(request.room_name, request.customer_identity);
      return customer ? null : REFUSALS.roomGone;
    } catch (error) {
      return mediaRefusal('media_unavailable', `the media server does not answer: ${describeError(error)}`);
    }
  }
}

/** The call of this session outlived the main that began it. */
function sameCall(request: AttachRequest, call: { callId: string; workerId: string }): FleetAnswer {
  return {
    status: 200,
    body: {
      status: 'accepted',
      call_id: call.callId,
      room_name: request.room_name,
      bot_id: request.bot_id,
      worker_id: call.workerId,
    },
  };
}
