import {
  AGENT_PREFIX,
  BOT_PREFIX,
  BRIDGED_CALLER_PREFIX,
  readRoomOwner,
  SUPERVISOR_PREFIX,
} from '../../contracts/rooms.ts';
import { sleepMs, within } from '../../platform/clock.ts';
import { tryCloseRoom, tryRemove, untilGone } from '../../platform/end-room.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';
import type { MediaSettings } from './media-settings.ts';

/** Nobody waits for these endings, so they are tried for longer: a media server that restarts is back by then. */
const IN_BACKGROUND_MS = 15_000;
/** Rooms that are being closed at once; what dies beyond them is the reconciler's. */
const MAX_CLOSING = 64;

/**
 * A caller whose number this host does not know may be another installation's, which shares the media server: it has
 * this long to put its bot into the room. The caller hears nothing but ringing meanwhile.
 */
export const UNCLAIMED_MS = 10_000;
/** Such callers at once; those beyond ring until livekit-sip gives up. */
const MAX_UNCLAIMED = 256;
/** A stop waits this long for answers of the media server. */
const LAST_ANSWERS_MS = 2_000;

/** Identities that are no customer. */
const OURS = [BOT_PREFIX, AGENT_PREFIX, SUPERVISOR_PREFIX, BRIDGED_CALLER_PREFIX] as const;

/** Closes rooms of calls that are over, in the background and within bounds. */
export class RoomCloser {
  private readonly media: MediaSettings;
  private readonly logger: Logger;
  private readonly closing = new Map<string, Promise<void>>();
  /** Rooms whose callers nobody has served yet. */
  private readonly unclaimed = new Set<string>();
  private readonly unclaimedMs: number;
  private readonly stopping = new AbortController();

  constructor(options: { media: MediaSettings; logger: Logger; unclaimedMs?: number | undefined }) {
    this.media = options.media;
    this.logger = options.logger;
    this.unclaimedMs = options.unclaimedMs ?? UNCLAIMED_MS;
  }

  /**
   * The slot of the call in this room is dead: SIP legs are hung up, everybody else is sent away (D-10). A
   * room whose customer talks to an agent is the agent desk's and stands.
   */
  closeDead(roomName: string, callId: string): void {
    this.inBackground(roomName, async (server) => {
      if (await belongsToDesk(server, roomName)) return true;
      const isClosed = await tryCloseRoom(server, roomName);
      if (isClosed)
        this.logger.warn({ call_id: callId, room: roomName }, 'the room of a dead call is closed');
      return isClosed;
    });
  }

  /**
   * Sends away a caller who rings and cannot be served; livekit-sip refuses the call then (D-42). A room
   * that was made for this one call goes with them.
   */
  refuseCaller(roomName: string, identity: string, options: { ownRoom: boolean }): void {
    this.inBackground(roomName, async (server) => {
      const isRemoved = await tryRemove(server, roomName, identity);
      return options.ownRoom ? tryCloseRoom(server, roomName) : isRemoved;
    });
  }

  /** The same, for a caller whom another installation may serve: only if it has not done so in time. */
  refuseUnclaimed(roomName: string, identity: string): void {
    if (this.unclaimed.has(roomName) || this.unclaimed.size >= MAX_UNCLAIMED) return;
    this.unclaimed.add(roomName);
    sleepMs(this.unclaimedMs, this.stopping.signal)
      .then(() => {
        this.inBackground(roomName, async (server) => {
          if (await isClaimed(server, roomName, identity)) return true;
          this.logger.warn({ room: roomName }, 'a caller whom nobody serves is refused');
          await tryRemove(server, roomName, identity);
          return tryCloseRoom(server, roomName);
        });
      })
      // Main stops; the caller is the next one's.
      .catch(() => undefined)
      .finally(() => this.unclaimed.delete(roomName));
  }

  /** Nothing is tried again; what is under way has a moment to finish. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(Promise.allSettled(this.closing.values()), LAST_ANSWERS_MS, undefined);
  }

  private inBackground(roomName: string, end: (server: MediaServer) => Promise<boolean>): void {
    if (this.closing.has(roomName) || this.closing.size >= MAX_CLOSING) return;
    const work = this.endRoom(roomName, end).finally(() => this.closing.delete(roomName));
    this.closing.set(roomName, work);
  }

  private async endRoom(roomName: string, end: (server: MediaServer) => Promise<boolean>): Promise<void> {
    const { signal } = this.stopping;
    const attempt = async () => {
      const setup = await this.media.fresh();
      if (!setup || signal.aborted) return true;
      return end(await this.media.server(setup.access));
    };
    const { status, reason } = await untilGone(attempt, { limitMs: IN_BACKGROUND_MS, signal });
    if (status === 'failed' && !signal.aborted) {
      this.logger.warn({ room: roomName, err: reason }, 'a room could not be closed');
    }
  }
}

/** Whether the room has an owner, or anybody but the caller in it. */
async function isClaimed(server: MediaServer, roomName: string, identity: string): Promise<boolean> {
  const [room] = await server.listRooms([roomName]);
  if (!room || readRoomOwner(room.metadata)) return true;
  const people = await server.participants(roomName);
  return people.some((person) => person.identity !== identity);
}

/** Whether the room was handed over and its customer is still there. */
async function belongsToDesk(server: MediaServer, roomName: string): Promise<boolean> {
  const [room] = await server.listRooms([roomName]);
  if (!room || readRoomOwner(room.metadata)?.handed_over !== true) return false;
  const people = await server.participants(roomName);
  return people.some(({ identity }) => !OURS.some((prefix) => identity.startsWith(prefix)));
}
