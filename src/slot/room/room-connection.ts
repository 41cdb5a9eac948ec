import type { Room } from '@livekit/rtc-node';
import { AppError, describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type MediaServer, socketUrl } from '../../platform/media-server.ts';
import { forgetRoom, type RtcSdk } from './load-rtc.ts';

/** Who joins which room, and where. */
export interface RoomSeat {
  /** Of the media server. */
  url: string;
  roomName: string;
  /** Unique in the room: a second one of the same name throws the first one out. */
  identity: string;
  name: string;
  attributes?: Record<string, string>;
}

/** The media server answers a join within this, or the call does not come about. */
const JOIN_BOUND_MS = 6_000;
/** The token of a join; the media server gives newer ones to whoever stays. */
const TOKEN_TTL_S = 3_600;
const LEAVE_BOUND_MS = 3_000;

/**
 * A connection to a room, to which `listen` has listened from its first moment. Subscribes to nobody and publishes
 * nothing. Rejects with `media_unavailable` where the room is not joined within 6 s; nothing is left of it then.
 */
export async function connectRoom(
  rtc: RtcSdk,
  media: MediaServer,
  seat: RoomSeat,
  listen: (room: Room) => void,
): Promise<Room> {
  const room = new rtc.Room();
  try {
    const token = await media.token({
      room: seat.roomName,
      identity: seat.identity,
      name: seat.name,
      ttlS: TOKEN_TTL_S,
      canPublish: true,
      canSubscribe: true,
      canPublishData: true,
      ...(seat.attributes === undefined ? {} : { attributes: seat.attributes }),
    });
    listen(room);
    const joining = room.connect(socketUrl(seat.url), token, { autoSubscribe: false, dynacast: false });
    const late = Symbol('late');
    if ((await within(joining, JOIN_BOUND_MS, late)) !== late) return room;
    // It may still come about, and nobody would leave the room.
    joining.then(() => disconnectRoom(room)).catch(() => undefined);
    throw new Error(`no answer within ${JOIN_BOUND_MS / 1000} s`);
  } catch (error) {
    room.removeAllListeners();
    throw new AppError('media_unavailable', `the room cannot be joined: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Leaves, tells nobody of it, and gives everything back. Bounded; never rejects. */
export async function disconnectRoom(room: Room, logger?: Logger): Promise<void> {
  room.removeAllListeners();
  try {
    await within(room.disconnect(), LEAVE_BOUND_MS, undefined);
  } catch (error) {
    logger?.warn({ err: describeError(error) }, 'the room was not left in order');
  }
  forgetRoom(room);
}
