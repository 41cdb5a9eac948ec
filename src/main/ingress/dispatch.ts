import type { IncomingMessage } from 'node:http';
import { type FleetAnswer, mediaRefusal, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import { DISPATCH_ROUTE, MAX_ORDER_BYTES } from '../../contracts/fleet-routes.ts';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import type { DispatchRequest } from '../../contracts/room-requests.ts';
import { SIP_ROOM_PREFIX } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { maskNumber } from '../../platform/logger.ts';
import { readMediaWebhook } from '../rooms/media-webhook.ts';
import { RecentNames } from '../rooms/recent-names.ts';
import { dispatchOrder } from '../rooms/room-requests.ts';
import { startAndAnswer } from '../rooms/room-service.ts';
import { admission } from './call-admission.ts';
import { readBody, type ServedRoute, serve } from './fleet-table.ts';
import type { RoomRouteOptions } from './room-routes.ts';

/** The media server signs before anybody parses, and says so by the type (its webhook package). */
const WEBHOOK_TYPE = /^application\/(webhook\+)?json\s*(;|$)/i;
const SIGNED_TYPE = /^application\/webhook\+json\s*(;|$)/i;
/** Callers whose joining was told before; the media server repeats itself for some minutes, and more do not ring. */
const MAX_SEEN = 2_000;

const IGNORED: FleetAnswer = { status: 200, body: { status: 'ignored' } };

/**
 * `POST /rtc/dispatch` (R19, D-41): a caller rings in a room of the media server.
 * Who holds the core secret says so with all that is known; the media server says so itself, with a signed event. Every
 * way of not serving the caller sends them away while it rings, since nobody else would (D-42); only a number
 * that this host does not know leaves another installation on the same media server some time.
 */
export function serveDispatch(options: RoomRouteOptions): ServedRoute {
  const { roomService, logger } = options;
  const seen = new RecentNames(MAX_SEEN);

  return serve(
    DISPATCH_ROUTE,
    ({ body }) => dispatch(body, 'order'),
    (request) => (isSigned(request) ? hearMediaServer(request) : null),
  );

  async function hearMediaServer(request: IncomingMessage): Promise<FleetAnswer> {
    const setup = await roomService.media.fresh();
    if (!setup) return REFUSALS.unauthorized;
    const body = await readBody(request, MAX_ORDER_BYTES, WEBHOOK_TYPE);
    const { authorization } = request.headers;
    const event = await readMediaWebhook(setup.access, authorization, body.toString('utf8'), Date.now());
    if (!event) return REFUSALS.unauthorized;
    roomService.onRoomEvent({ event: event.event, room: event.room, identity: event.identity });
    if (!event.caller) return IGNORED;
    const { sid, request: call } = event.caller;
    if (seen.has(sid)) return (await roomService.claims.standing(keyOf(call))) ?? IGNORED;
    seen.add(sid);
    return dispatch(call, 'event');
  }

  /**
   * An order is for this host. An event is for everybody who shares the media server: it may tell of a room that has its
   * call already, and of a number that another installation answers.
   */
  async function dispatch(request: DispatchRequest, source: 'order' | 'event'): Promise<FleetAnswer> {
    const setup = await roomService.media.fresh();
    if (!setup) return REFUSALS.sipNotConfigured;
    const bot = request.bot_id === undefined ? await botFor(request.did) : { botId: request.bot_id };
    const key = keyOf(request);
    const standing = roomService.claims.standing(key);
    if (standing) return standing;
    if (roomService.isServed(request.room_name))
      return source === 'event' ? IGNORED : REFUSALS.alreadyAttached;
    if ('status' in bot) {
      if (source === 'order') return sendAway(request, bot);
      roomService.closer.refuseUnclaimed(request.room_name, request.participant_identity);
      return bot;
    }
    const refused = admission(options);
    if (refused) return sendAway(request, refused);
    const order = dispatchOrder(request, bot.botId);
    const claim = { key, roomName: order.roomName, callId: order.callId, lasting: false };
    const answer = await roomService.claims.run(claim, () => startAndAnswer(roomService, setup, order));
    return answer.status === 200 ? answer : sendAway(request, answer as Refusal);
  }

  async function botFor(did: string): Promise<{ botId: string } | Refusal> {
    try {
      const detail = 'no bot answers this number; map it in the control plane, or in DID_MAP of a worker';
      return (
        (await roomService.botForNumber(did)) ?? {
          status: 404,
          body: { error: 'Not found', code: 'not_found', detail },
        }
      );
    } catch (error) {
      return mediaRefusal(
        'config_failed',
        `the bot of the number cannot be found out: ${describeError(error)}`,
      );
    }
  }

  function sendAway(request: DispatchRequest, refusal: Refusal): Refusal {
    logger.warn(
      {
        room: request.room_name,
        did: maskNumber(request.did),
        status: refusal.status,
        code: refusal.body.code,
      },
      'a caller cannot be served and is refused',
    );
    roomService.closer.refuseCaller(request.room_name, request.participant_identity, {
      ownRoom: request.room_name.startsWith(SIP_ROOM_PREFIX),
    });
    return refusal;
  }
}

function keyOf(request: DispatchRequest): string {
  return `sip ${request.room_name} ${request.participant_identity}`;
}

/** The media server's events come with a type of their own, and with its token in place of our secret. */
function isSigned(request: IncomingMessage): boolean {
  if (SIGNED_TYPE.test(request.headers['content-type'] ?? '')) return true;
  return request.headers.authorization !== undefined && request.headers[CORE_SECRET_HEADER] === undefined;
}
