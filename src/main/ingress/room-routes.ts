import {
  ATTACH_PATH,
  CALLS_PATH,
  DISPATCH_PATH,
  RESERVATIONS_PATH,
  WIDGET_PATH,
} from '../../contracts/room-requests.ts';
import { createAttach } from './attach.ts';
import { createDispatch, type RoomRouteOptions } from './dispatch.ts';
import { createHangup } from './hangup.ts';
import type { IngressHandler } from './json-route.ts';
import { createReservationRoutes } from './reservation-routes.ts';
import { createWidget } from './widget.ts';

/** The routes of calls through rooms (R19 to R22): who answers a path, or null. */
export function createRoomRoutes(options: RoomRouteOptions): (path: string) => IngressHandler | null {
  const exact = new Map<string, IngressHandler>([
    [DISPATCH_PATH, createDispatch(options)],
    [WIDGET_PATH, createWidget(options)],
    [ATTACH_PATH, createAttach(options)],
  ]);
  const reservations = createReservationRoutes(options);
  const hangup = createHangup(options);
  return (path) => {
    const found = exact.get(path);
    if (found) return found;
    if (path === RESERVATIONS_PATH || path.startsWith(`${RESERVATIONS_PATH}/`)) return reservations;
    return path.startsWith(CALLS_PATH) ? hangup : null;
  };
}
