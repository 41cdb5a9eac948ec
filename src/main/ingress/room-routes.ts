import type { DialoutAccepted, DialoutRequest } from '../../contracts/dialout.ts';
import { type FleetAnswer, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import {
  DIALOUT_ROUTE,
  HANGUP_ROUTE,
  RELEASE_ROUTE,
  RENEW_ROUTE,
  RESERVE_ROUTE,
  WIDGET_ROUTE,
} from '../../contracts/fleet-routes.ts';
import type { Logger } from '../../platform/logger.ts';
import { widgetOrder } from '../rooms/room-requests.ts';
import { type RoomService, startAndAnswer } from '../rooms/room-service.ts';
import { admission, type HostState } from './call-admission.ts';
import { type ServedRoute, serve } from './fleet-table.ts';

/** What the routes of calls through rooms work with. */
export interface RoomRouteOptions extends HostState {
  roomService: RoomService;
  logger: Logger;
}

/** Takes a slot and has it make the room and dial. `full` when the last slot has gone; a refusal says what is missing. */
export type DialOut = (request: DialoutRequest) => Promise<DialoutAccepted | 'full' | Refusal>;

const DONE: FleetAnswer = { status: 200, body: { status: 'ok' } };

/** Dials a number. A full host says so at once; nothing is queued. */
export function serveDialout(host: HostState, dialOut: DialOut | undefined): ServedRoute {
  return serve(DIALOUT_ROUTE, async ({ body }) => {
    const refused = admission(host);
    if (refused) return refused;
    if (!dialOut) return REFUSALS.sipNotConfigured;
    const answer = await dialOut(body);
    if (answer === 'full') return REFUSALS.full;
    return answer.status === 'accepted' ? { status: 200, body: answer } : (answer as Refusal);
  });
}

/** Answered when the bot stands in the room, so that no visitor joins a room without one. */
export function serveWidget(options: RoomRouteOptions): ServedRoute {
  const { roomService } = options;
  return serve(WIDGET_ROUTE, async ({ body }) => {
    const setup = await roomService.media.fresh();
    const order = widgetOrder(body);
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

/**
 * A dialler keeps a slot for 45 s while it dials. A host that drains makes and renews no reservation; those it has made
 * stand to their end.
 */
export function serveReservations(options: RoomRouteOptions): ServedRoute[] {
  const { reservations } = options.roomService;
  return [
    serve(RESERVE_ROUTE, () => {
      const refused = admission(options);
      if (refused) return refused;
      const made = reservations.take();
      return made ? { status: 201, body: made } : REFUSALS.full;
    }),
    serve(RENEW_ROUTE, ({ params }) => {
      if (options.isDraining()) return REFUSALS.draining;
      const renewed = reservations.renew(params.reservation_id);
      return renewed ? { status: 200, body: renewed } : REFUSALS.reservationExpired;
    }),
    serve(RELEASE_ROUTE, ({ params }) => {
      reservations.cancel(params.reservation_id);
      return DONE;
    }),
  ];
}

/**
 * Ends a live or ringing call of this host, whatever it came by. Of a call that is over there is nothing to end, which
 * is what was asked for.
 */
export function serveHangup({ roomService }: RoomRouteOptions): ServedRoute {
  return serve(HANGUP_ROUTE, ({ params, body }) => {
    const known = roomService.hangUp(params.call_id, body?.reason || 'the call was cancelled');
    return known === 'unknown' ? REFUSALS.notFound : DONE;
  });
}
