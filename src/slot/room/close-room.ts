import { describeError } from '../../platform/app-error.ts';
import { sleepMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';

/** A server that hiccups is back by then. What still stands afterwards is the reconciler's (RT-85). */
const TRIES = 4;
const PAUSE_MS = 1_500;

/**
 * Ends everything in the room of a call and makes sure that it is so (RT-25): a SIP leg that rings is cancelled or
 * refused, one that stands is hung up. Never rejects; false where the media server could not be asked.
 */
export async function closeRoom(
  media: Pick<MediaServer, 'deleteRoom' | 'participants'>,
  roomName: string,
  logger: Logger,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await media.deleteRoom(roomName);
      if ((await media.participants(roomName)).length === 0) return true;
    } catch (error) {
      logger.warn({ err: describeError(error), attempt }, 'the room of a call cannot be closed yet');
    }
    if (attempt === TRIES) return false;
    await sleepMs(PAUSE_MS);
  }
}
