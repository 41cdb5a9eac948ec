import { type FleetAnswer, mediaRefusal, REFUSALS, type Refusal } from '../../contracts/fleet-refusals.ts';
import type { MediaSetup } from '../../contracts/rooms.ts';
import { CLOSE } from '../../contracts/wire.ts';
import type { SlotProcess } from '../slots/slot-process.ts';
import type { RoomCloser } from './close-room.ts';
import type { MediaSettings } from './media-settings.ts';
import type { Reservations } from './reservations.ts';
import type { RoomCalls, RoomOrder, RoomOutcome } from './room-calls.ts';
import type { RoomClaims } from './room-claims.ts';

/** Everything that the room routes of the ingress work with. */
export interface RoomService {
  media: MediaSettings;
  calls: RoomCalls;
  claims: RoomClaims;
  reservations: Reservations;
  closer: RoomCloser;
  /** The own control plane serves configs, unless an order names another one. */
  hasOwnPlane: boolean;
  /** The bot that a called number leads to. Rejects when the control plane cannot say. */
  botForNumber(did: string): Promise<{ botId: string } | null>;
  /** Whether a call has this room or is about to, one of an earlier main included. */
  isServed(roomName: string): boolean;
  /** The call of an earlier main in this room, with the session that its config named; null before it has one. */
  orphanSession(
    roomName: string,
  ): Promise<{ callId: string; sessionId: string | null; workerId: string } | null>;
  /** What else the media server tells of rooms: whoever keeps track of a handed-over call needs it (D-45). */
  onRoomEvent(event: { event: string; room: string; identity: string }): void;
  /** The bot must be in its room within this where somebody waits for the answer. */
  joinWithinMs: number;
  /** Ends a live call; `over` for one that this host had, `unknown` for one that it never had. */
  hangUp(callId: string, reason: string): 'told' | 'over' | 'unknown';
}

/**
 * A caller that is answered over HTTP waits this long for the bot to be in the room: the control plane gives a host
 * 10 s (R141).
 */
export const JOIN_WITHIN_MS = 9_000;

/** Starts a call that is answered when the bot is in the room. */
export async function startAndAnswer(
  roomService: RoomService,
  setup: MediaSetup,
  order: RoomOrder,
  slot?: SlotProcess,
): Promise<FleetAnswer> {
  const outcome = await roomService.calls.start(order, setup, {
    joinedWithinMs: roomService.joinWithinMs,
    ...(slot ? { slot } : {}),
  });
  if (outcome.kind !== 'accepted') return refusalOf(outcome);
  return {
    status: 200,
    body: {
      status: 'accepted',
      call_id: order.callId,
      room_name: order.roomName,
      bot_id: order.botId,
      worker_id: String(outcome.slotId),
    },
  };
}

/** Why no call came of an order, as the ingress says it. */
export function refusalOf(outcome: Exclude<RoomOutcome, { kind: 'accepted' }>): Refusal {
  switch (outcome.kind) {
    case 'full':
      return REFUSALS.full;
    case 'session_in_use':
      return REFUSALS.sessionInUse;
    case 'failed':
      return REFUSALS.slotsFailed;
    case 'late':
      return mediaRefusal('media_unavailable', 'the bot was not in the room in time');
    case 'refused':
      return slotRefusal(outcome.code, outcome.reason);
  }
}

/** The close code that a socket would have seen, as a status (contracts/wire.ts, CLOSE). */
function slotRefusal(code: number, reason: string): Refusal {
  switch (code) {
    case CLOSE.botNotFound:
      return { status: 404, body: { error: 'Not found', code: 'config_not_found', detail: reason } };
    case CLOSE.outsideHours:
      return {
        status: 503,
        body: { error: 'Outside active hours', code: 'outside_active_hours', detail: reason },
      };
    case CLOSE.roomGone:
      return REFUSALS.roomGone;
    case CLOSE.configFailed:
      return mediaRefusal('config_failed', reason);
    default:
      return mediaRefusal('media_unavailable', reason);
  }
}
