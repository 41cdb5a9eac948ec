import type { IncomingMessage } from 'node:http';
import { RESERVATIONS_PATH, ReservationRequest } from '../../contracts/room-requests.ts';
import { admission } from './admission.ts';
import type { RoomRouteOptions } from './dispatch.ts';
import {
  bodyReader,
  type IngressAnswer,
  type IngressHandler,
  jsonRoute,
  mayCommand,
  pathOf,
  readBody,
} from './json-route.ts';
import { REFUSALS } from './refusal.ts';

const MAX_BODY_BYTES = 4_096;
const ONE = new RegExp(`^${RESERVATIONS_PATH}/([A-Za-z0-9-]{1,64})(/renew)?$`);

const readReservation = bodyReader(ReservationRequest);

/**
 * `POST /reservations`, `POST /reservations/{id}/renew`, `DELETE /reservations/{id}` (D-16): a dialler keeps
 * a slot for 45 s while it dials. A host that drains makes and renews none; those it has made stand to their end.
 */
export function createReservationRoutes(options: RoomRouteOptions): IngressHandler {
  const { reservations } = options.roomService;

  return jsonRoute(options.logger, async (request) => {
    const path = pathOf(request);
    if (path === RESERVATIONS_PATH) return authorised(request, 'POST', () => make(request));
    const [, id = '', renew] = ONE.exec(path) ?? [];
    if (id === '') return REFUSALS.notFound;
    if (renew) return authorised(request, 'POST', async () => renewed(id));
    return authorised(request, 'DELETE', async () => {
      reservations.cancel(id);
      return { status: 200, body: { status: 'ok' } };
    });
  });

  async function authorised(
    request: IncomingMessage,
    method: string,
    action: () => Promise<IngressAnswer>,
  ): Promise<IngressAnswer> {
    if (request.method !== method) return REFUSALS.methodNotAllowed;
    if (!mayCommand(request, options.settings.coreSecrets)) return REFUSALS.unauthorized;
    return action();
  }

  async function make(request: IncomingMessage): Promise<IngressAnswer> {
    // Who reserves may say for what, and need not.
    if (request.headers['content-type'] !== undefined) {
      const body = await readBody(request, MAX_BODY_BYTES);
      if ('refusal' in body) return body.refusal;
      const read = readReservation(body.value);
      if ('refusal' in read) return read.refusal;
    }
    const refused = admission(options);
    if (refused) return refused;
    const made = reservations.take();
    return made ? { status: 201, body: made } : REFUSALS.full;
  }

  function renewed(id: string): IngressAnswer {
    if (options.isDraining()) return REFUSALS.draining;
    const renewed = reservations.renew(id);
    return renewed ? { status: 200, body: renewed } : REFUSALS.reservationExpired;
  }
}
