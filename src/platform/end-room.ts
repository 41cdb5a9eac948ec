import { describeError } from './app-error.ts';
import { monotonicMs, sleepMs, within } from './clock.ts';
import type { MediaServer } from './media-server.ts';

/** All tries together, where a call waits for them. What still stands then is found by the host's look at its rooms (RT-85). */
const LIMIT_MS = 5_000;
/** Before the second try; each further wait is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1_000;

/** How an ending went. */
export interface RoomEnding {
  status: 'gone' | 'failed';
  attempts: number;
  durationMs: number;
  /** What went wrong the last time it did. */
  reason: string | null;
}

/**
 * The one law of ending something at the media server: `attempt` does it and looks whether it is so, and is made again
 * until it says yes, for `limitMs` at most. Never rejects.
 */
export async function untilGone(
  attempt: () => Promise<boolean>,
  { limitMs = LIMIT_MS, signal }: { limitMs?: number; signal?: AbortSignal } = {},
): Promise<RoomEnding> {
  const startedAtMs = monotonicMs();
  let reason: string | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  for (let attempts = 1; ; attempts++) {
    const trying = attempt().catch((error: unknown) => {
      reason = describeError(error);
      return false;
    });
    const leftMs = limitMs - (monotonicMs() - startedAtMs);
    const isGone = leftMs > 0 && (await within(trying, leftMs, false));
    const durationMs = Math.round(monotonicMs() - startedAtMs);
    if (isGone) return { status: 'gone', attempts, durationMs, reason };
    if (durationMs + pauseMs >= limitMs) return { status: 'failed', attempts, durationMs, reason };
    try {
      await sleepMs(pauseMs, signal);
    } catch {
      return { status: 'failed', attempts, durationMs, reason };
    }
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Sends everybody away and closes the room: a SIP leg that rings is cancelled or refused, one that stands is hung up. */
export async function tryCloseRoom(
  media: Pick<MediaServer, 'deleteRoom' | 'participants'>,
  roomName: string,
): Promise<boolean> {
  await media.deleteRoom(roomName);
  return (await media.participants(roomName)).length === 0;
}

/** The same for one of them; the room stays. */
export async function tryRemove(
  media: Pick<MediaServer, 'removeParticipant' | 'participant'>,
  roomName: string,
  identity: string,
): Promise<boolean> {
  await media.removeParticipant(roomName, identity);
  return (await media.participant(roomName, identity)) === null;
}

/** {@link tryCloseRoom} until it is so. */
export function closeRoom(
  media: Pick<MediaServer, 'deleteRoom' | 'participants'>,
  roomName: string,
): Promise<RoomEnding> {
  return untilGone(() => tryCloseRoom(media, roomName));
}

/** {@link tryRemove} until it is so (RT-25). */
export function hangUpParticipant(
  media: Pick<MediaServer, 'removeParticipant' | 'participant'>,
  roomName: string,
  identity: string,
): Promise<RoomEnding> {
  return untilGone(() => tryRemove(media, roomName, identity));
}
