import type { FleetMedia } from '../../contracts/fleet.ts';
import { readRoomOwner } from '../../contracts/rooms.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer, RoomFact } from '../../platform/media-server.ts';
import type { MediaSettings } from './media-settings.ts';

/** RT-85: rooms, slots and SIP legs are compared this often. */
export const LOOK_EVERY_MS = 5_000;
/** While the media server is away, looks become as rare as this. */
const MAX_WAIT_MS = 60_000;
/** A room that is younger may belong to a call that is just beginning, or a slot that is just ending. */
const GRACE_MS = 15_000;
/** Rooms that are closed in one look; the next look takes the rest. */
const MAX_CLOSED_PER_LOOK = 20;
/**
 * A slot whose room is gone ends its call by itself, and is then busy with what follows a call for a minute at most
 * (D-31). One that is busy for longer has not noticed.
 */
const ROOMLESS_MS = 75_000;

/** A call through a room as this host knows it. */
export interface LiveRoomCall {
  callId: string;
  roomName: string;
  /** Ends a call whose room is gone. */
  hangUp(reason: string): void;
}

export interface ReconcilerOptions {
  media: MediaSettings;
  hostId: string;
  /** Whether the call of a room is still somebody's: of a slot, of an orphan, or being taken in. */
  isAlive(callId: string): boolean;
  /**
   * Whether a call of ours was in the room and is over. A SIP leg that was still on its way makes the room anew when it
   * arrives, without the owner in its metadata.
   */
  isEnded(roomName: string): boolean;
  /** The room calls of this main's own slots. */
  live(): LiveRoomCall[];
  logger: Logger;
  lookEveryMs?: number;
  graceMs?: number;
  roomlessMs?: number;
}

/**
 * Closes rooms of this host that no call of it serves any more, and ends calls whose room is gone (RT-85). A room must
 * look wrong twice in a row, so that a beginning or an end that is just happening is left alone; one that was handed
 * over is the agent desk's. Without a media server the reconciler does nothing at all.
 */
export class RoomReconciler {
  private readonly options: ReconcilerOptions;
  private readonly lookEveryMs: number;
  private readonly graceMs: number;
  private readonly roomlessMs: number;
  /** Rooms that looked wrong the last time. */
  private suspects = new Set<string>();
  /** Calls whose room is gone, and since when (monotonic). */
  private roomless = new Map<string, number>();
  private failures = 0;
  private cleared = 0;
  private facts: { rooms: number; latencyMs: number } | null = null;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: ReconcilerOptions) {
    this.options = options;
    this.lookEveryMs = options.lookEveryMs ?? LOOK_EVERY_MS;
    this.graceMs = options.graceMs ?? GRACE_MS;
    this.roomlessMs = options.roomlessMs ?? ROOMLESS_MS;
  }

  start(): void {
    const run = () => {
      void this.look().finally(() => {
        if (!this.stopped) this.timer = setTimeout(run, this.waitMs());
      });
    };
    this.timer = setTimeout(run, this.lookEveryMs);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** For the fleet health; null where no media server is set up. */
  health(): FleetMedia | null {
    const setup = this.options.media.current();
    if (!setup) return null;
    return {
      sip: this.failures > 0 ? 'unreachable' : setup.dialling ? 'ok' : 'no_trunk',
      rooms: this.facts?.rooms ?? null,
      latency_ms: this.facts?.latencyMs ?? null,
      rooms_cleared: this.cleared,
    };
  }

  /** One comparison. Never rejects. */
  async look(): Promise<void> {
    const setup = this.options.media.current();
    if (!setup) {
      this.suspects.clear();
      this.roomless.clear();
      this.failures = 0;
      this.facts = null;
      return;
    }
    try {
      const server = await this.options.media.server(setup.access);
      const askedAtMs = monotonicMs();
      const rooms = await server.listRooms();
      this.failures = 0;
      const ours = rooms.filter((room) => {
        const owner = readRoomOwner(room.metadata);
        return owner ? owner.host === this.options.hostId : this.options.isEnded(room.name);
      });
      this.facts = { rooms: ours.length, latencyMs: Math.round(monotonicMs() - askedAtMs) };
      const before = this.suspects;
      this.suspects = new Set();
      await this.closeZombies(server, ours, before);
      this.endRoomless(rooms, askedAtMs);
    } catch (error) {
      this.failures += 1;
      if (this.failures === 1) {
        this.options.logger.warn(
          { err: describeError(error) },
          'the media server does not answer; room calls cannot be taken',
        );
      }
    }
  }

  private waitMs(): number {
    return Math.min(MAX_WAIT_MS, this.lookEveryMs * 2 ** Math.min(this.failures, 10));
  }

  private async closeZombies(
    server: MediaServer,
    ours: readonly RoomFact[],
    before: ReadonlySet<string>,
  ): Promise<void> {
    let closed = 0;
    for (const room of ours) {
      const owner = readRoomOwner(room.metadata);
      if (owner?.handed_over || (owner && this.options.isAlive(owner.call_id))) continue;
      if (Date.now() - room.createdAtMs < this.graceMs) continue;
      if (!before.has(room.name) || closed >= MAX_CLOSED_PER_LOOK) {
        this.suspects.add(room.name);
        continue;
      }
      closed += 1;
      await server.deleteRoom(room.name);
      this.cleared += 1;
      this.options.logger.warn(
        { call_id: owner?.call_id, room: room.name, participants: room.participants },
        'a room without a call was closed',
      );
    }
  }

  private endRoomless(rooms: readonly RoomFact[], nowMs: number): void {
    const standing = new Set(rooms.map((room) => room.name));
    const before = this.roomless;
    this.roomless = new Map();
    for (const call of this.options.live()) {
      if (standing.has(call.roomName)) continue;
      const sinceMs = before.get(call.callId) ?? nowMs;
      this.roomless.set(call.callId, sinceMs);
      if (nowMs - sinceMs < this.roomlessMs) continue;
      this.options.logger.warn({ call_id: call.callId }, 'a call whose room is gone is ended');
      call.hangUp('room_gone');
    }
  }
}
