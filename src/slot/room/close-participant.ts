import { monotonicMs, sleepMs, within } from '../../platform/clock.ts';
import type { MediaServer } from '../../platform/media-server.ts';

/** All tries together; a media server that is away for longer is the reconciler's case (RT-85). */
const BOUND_MS = 5_000;
const PAUSE_MS = 250;

export interface SttConnectionEnd {
  status: 'gone' | 'failed';
  attempts: number;
  durationMs: number;
}

/**
 * Sends the customer out of the room, which hangs a SIP leg up, and looks whether it worked; again until it has, for 5 s
 * at most (RT-25). Never rejects.
 */
export function hangUpCustomer(
  media: Pick<MediaServer, 'removeParticipant' | 'participant'>,
  roomName: string,
  identity: string,
): Promise<SttConnectionEnd> {
  return untilDone(async () => {
    await media.removeParticipant(roomName, identity);
    return (await media.participant(roomName, identity)) === null;
  });
}

/** Closes the room for everybody who is still in it. Bounded like the hang-up; never rejects. */
export function closeRoom(
  media: Pick<MediaServer, 'deleteRoom'>,
  roomName: string,
): Promise<SttConnectionEnd> {
  return untilDone(async () => {
    await media.deleteRoom(roomName);
    return true;
  });
}

async function untilDone(attempt: () => Promise<boolean>): Promise<SttConnectionEnd> {
  const startedAtMs = monotonicMs();
  for (let attempts = 1; ; attempts++) {
    const leftMs = BOUND_MS - (monotonicMs() - startedAtMs);
    const isDone =
      leftMs > 0 &&
      (await within(
        attempt().catch(() => false),
        leftMs,
        false,
      ));
    const durationMs = Math.round(monotonicMs() - startedAtMs);
    if (isDone) return { status: 'gone', attempts, durationMs };
    if (durationMs + PAUSE_MS >= BOUND_MS) return { status: 'failed', attempts, durationMs };
    await sleepMs(PAUSE_MS);
  }
}
