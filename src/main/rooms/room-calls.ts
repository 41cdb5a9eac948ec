import type { MediaSetup } from '../../contracts/rooms.ts';
import type { SlotRoomCall, SlotToMain } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LeaseSource } from '../slots/slot-pool.ts';
import { orderedSession, type SlotProcess } from '../slots/slot-process.ts';

/** Slots that are tried for one call before it is refused. */
const SLOTS_TRIED = 2;

/** What a call through a room is made of; the rest of the slot's message is the same for all of them. */
export type RoomOrder = Pick<
  SlotRoomCall,
  | 'callId'
  | 'kind'
  | 'botId'
  | 'roomName'
  | 'customerIdentity'
  | 'connected'
  | 'configUrl'
  | 'dial'
  | 'attached'
>;

export type RoomOutcome =
  | { kind: 'accepted'; slotId: number }
  /** Every slot has a call. */
  | { kind: 'full' }
  /** The order names a session that a call of this host has. */
  | { kind: 'session_in_use' }
  /** No slot took it, or the one that did went away. */
  | { kind: 'failed' }
  /** The bot was not in the room in time; its slot is told to let go. */
  | { kind: 'late' }
  /** The slot says no: `code` is one of contracts/wire.ts CLOSE. */
  | { kind: 'refused'; code: number; reason: string };

type RoomNews = Extract<SlotToMain, { type: 'room_joined' | 'room_refused' }>;

/**
 * Gives room calls to slots and hears how they begin. Everything with the room itself is the slot's work, so that a call
 * does not need main (D-2).
 */
export class RoomCalls {
  private readonly pool: LeaseSource;
  private readonly hostId: string;
  private readonly isSessionLive: (sessionId: string) => boolean;
  private readonly logger: Logger;
  /** Those who wait for a bot to be in its room; bounded by the number of slots. */
  private readonly waiting = new Map<string, (outcome: RoomOutcome) => void>();

  constructor(options: {
    pool: LeaseSource;
    hostId: string;
    /** Whether a call of this host has the session. */
    isSessionLive(sessionId: string): boolean;
    logger: Logger;
  }) {
    this.pool = options.pool;
    this.hostId = options.hostId;
    this.isSessionLive = options.isSessionLive;
    this.logger = options.logger;
  }

  /**
   * Hands the call to `slot`, or to a free one. With `joinedWithinMs` it resolves when the bot is in the room, without
   * it as soon as a slot has the call. A slot that was leased is busy or given back when this resolves.
   */
  async start(
    order: RoomOrder,
    setup: MediaSetup,
    how: { slot?: SlotProcess; joinedWithinMs: number | null },
  ): Promise<RoomOutcome> {
    // Decided before anything is waited for, so that of two orders at once one is the first.
    const session = orderedSession(order.connected);
    if (session !== null && this.isSessionLive(session)) {
      if (how.slot) this.pool.release(how.slot);
      return { kind: 'session_in_use' };
    }
    for (let tried = 0; tried < SLOTS_TRIED; tried++) {
      const slot = tried === 0 && how.slot ? how.slot : this.pool.lease();
      if (!slot) return { kind: tried === 0 ? 'full' : 'failed' };
      const joined = how.joinedWithinMs === null ? null : this.joined(order.callId, how.joinedWithinMs);
      try {
        await slot.takeRoomCall(this.message(order, setup));
      } catch (error) {
        this.settle(order.callId, { kind: 'failed' });
        this.logger.warn(
          { call_id: order.callId, slot: slot.slotId, err: describeError(error) },
          'a slot did not take a room call',
        );
        continue;
      }
      this.logger.info(
        {
          call_id: order.callId,
          slot: slot.slotId,
          slot_pid: slot.pid,
          bot_id: order.botId,
          kind: order.kind,
        },
        'room call given to a slot',
      );
      const outcome = joined === null ? null : await joined;
      if (outcome?.kind === 'late' && slot.call?.callId === order.callId)
        slot.hangUp({ cause: 'host', reason: 'not_joined' });
      return outcome === null || outcome.kind === 'accepted'
        ? { kind: 'accepted', slotId: slot.slotId }
        : outcome;
    }
    return { kind: 'failed' };
  }

  /** What a slot says about the beginning of its call. */
  hear(news: RoomNews): void {
    this.settle(
      news.callId,
      news.type === 'room_joined'
        ? { kind: 'accepted', slotId: 0 }
        : { kind: 'refused', code: news.code, reason: news.reason },
    );
  }

  /** The call is over, whichever way: who still waits for it waits in vain. */
  ended(callId: string): void {
    this.settle(callId, { kind: 'failed' });
  }

  private joined(callId: string, withinMs: number): Promise<RoomOutcome> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.settle(callId, { kind: 'late' }), withinMs);
      this.waiting.set(callId, (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      });
    });
  }

  private settle(callId: string, outcome: RoomOutcome): void {
    const waiter = this.waiting.get(callId);
    this.waiting.delete(callId);
    waiter?.(outcome);
  }

  private message(order: RoomOrder, setup: MediaSetup): SlotRoomCall {
    return {
      v: SLOT_MESSAGES_VERSION,
      type: 'room_call',
      ...order,
      media: setup.access,
      hostId: this.hostId,
      acceptedAtMs: Date.now(),
    };
  }
}
