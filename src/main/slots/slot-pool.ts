import { availableParallelism } from 'node:os';
import type { SlotInit } from '../../contracts/slot-messages.ts';
import type { Logger } from '../../platform/logger.ts';
import { delayAfterFailure, freshRestartState, type RestartState } from './restart-policy.ts';
import { type LiveCall, type SlotEnding, type SlotNews, SlotProcess } from './slot-process.ts';

/** A slot is renewed after this many calls, before small leaks add up (RT-73). */
export const RECYCLE_AFTER_CALLS = 500;
/**
 * So many calls through rooms renew it earlier: the real-time SDK keeps up to 0.7 MB of each room that it has joined
 * (measured over 30 joins).
 */
export const RECYCLE_AFTER_ROOM_CALLS = 50;
/** A slot is renewed when its resident memory has grown by this much since it became ready (RT-73). */
export const RECYCLE_AFTER_GROWTH_BYTES = 256 * 1_048_576;

export interface SlotPoolOptions {
  size: number;
  entry: string;
  reportsFolder: string;
  /** The init message of a slot by its number. */
  init(slotId: number): SlotInit;
  /** The call is over and its spool folder is whole. */
  onFinished(call: LiveCall, hasResult: boolean): void;
  /** The process of a call ended before the call did. */
  onDied(call: LiveCall, cause: 'slot_died' | 'slot_hung'): void;
  /** What a slot tells beyond its own life: its process, and what it said. */
  onNews(slot: SlotProcess, message: SlotNews): void;
  /** A process is no longer there, or no longer ours: what it held for itself is free. */
  onSlotGone(slot: SlotProcess): void;
  recycleAfterCalls: number;
  recycleAfterRoomCalls: number;
  logger: Logger;
}

/** Where a call gets its slot. */
export type LeaseSource = Pick<SlotPool, 'lease' | 'release'>;

interface Place {
  slotId: number;
  slot: SlotProcess | null;
  restart: RestartState;
  /** A replacement is waiting for its back-off. */
  timer: NodeJS.Timeout | null;
}

/**
 * The slots of this host: one process per place, less the places that orphans of an earlier main still fill. Leases
 * are tied to the process: when it ends, for whatever reason, its lease is free with it (D-16).
 */
export class SlotPool {
  private readonly options: SlotPoolOptions;
  private readonly places: Place[];
  private orphans = 0;
  private draining = false;
  private closed = false;
  private waiters: { done: () => boolean; resolve: () => void }[] = [];

  constructor(options: SlotPoolOptions) {
    this.options = options;
    this.places = Array.from({ length: options.size }, (_, index) => ({
      slotId: index + 1,
      slot: null,
      restart: freshRestartState(),
      timer: null,
    }));
  }

  get size(): number {
    return this.places.length;
  }

  /** Every running process, whatever its state. */
  slots(): SlotProcess[] {
    return this.places.flatMap((place) => (place.slot ? [place.slot] : []));
  }

  /** Places that wait for a replacement after a failure. */
  deadPlaces(): number[] {
    return this.places.filter((place) => place.timer !== null).map((place) => place.slotId);
  }

  idleCount(): number {
    return this.slots().filter(isFree).length;
  }

  /** A free slot, held for the caller until it hands a call over or gives it back; null when the host is full. */
  lease(): SlotProcess | null {
    return this.take('leased');
  }

  /** The same for a call that is still to be dialled (D-16): given back, or made a lease by its call. */
  reserve(): SlotProcess | null {
    return this.take('reserved');
  }

  private take(state: 'leased' | 'reserved'): SlotProcess | null {
    if (this.draining || this.closed) return null;
    let chosen: SlotProcess | null = null;
    for (const slot of this.slots()) {
      // The longest idle one: a slot that has just failed a caller is not the one its second try gets.
      if (isFree(slot) && (chosen === null || slot.idleSinceMs < chosen.idleSinceMs)) chosen = slot;
    }
    if (chosen) chosen.state = state;
    return chosen;
  }

  /** Gives back a lease or a reservation that no call came of. */
  release(slot: SlotProcess): void {
    if (slot.state !== 'leased' && slot.state !== 'reserved') return;
    slot.state = 'idle';
    if (this.draining || this.closed) slot.leave();
    else this.fill(this.orphans);
  }

  /** Starts what is missing. `orphans` places stay empty until their calls have left (D-7). */
  fill(orphans: number): void {
    this.orphans = orphans;
    if (this.draining || this.closed) return;
    const running = this.slots();
    let room = this.size - this.orphans - running.length;
    // An orphan found late: an idle slot makes room for it, a busy one is left alone.
    for (const slot of running) {
      if (room >= 0) break;
      if (slot.state !== 'idle' || slot.leaving) continue;
      slot.leave();
      room += 1;
    }
    let starting = running.filter((slot) => slot.state === 'starting').length;
    for (const place of this.places) {
      if (room <= 0 || starting >= this.startingLimit()) return;
      if (place.slot || place.timer) continue;
      this.start(place);
      room -= 1;
      starting += 1;
    }
  }

  /** Resolves when a slot is ready, or at once when none will come because orphans fill the host. */
  async firstReady(): Promise<void> {
    await this.until(
      () => this.closed || this.size <= this.orphans || this.slots().some((s) => s.state !== 'starting'),
    );
  }

  /**
   * No more leases; idle slots leave, busy ones after their call, reserved ones when the call that somebody is dialling
   * has come and gone or the reservation has expired. Resolves when all have left.
   */
  async drain(): Promise<void> {
    this.draining = true;
    this.cancelRestarts();
    for (const slot of this.slots()) if (slot.state !== 'reserved') slot.leave();
    await this.until(() => this.slots().length === 0);
  }

  /** Lets every live call go on without us and sends the idle slots away. Synchronous: main may exit next. */
  abandon(): void {
    this.closed = true;
    this.cancelRestarts();
    for (const slot of this.slots()) {
      slot.leave();
      slot.disown();
    }
  }

  private start(place: Place): void {
    place.slot = new SlotProcess(
      {
        init: this.options.init(place.slotId),
        entry: this.options.entry,
        reportsFolder: this.options.reportsFolder,
        logger: this.options.logger,
      },
      {
        ready: () => {
          this.fill(this.orphans);
          this.wake();
        },
        identified: (slot) => {
          for (const older of replacedSlots(this.slots(), slot)) {
            this.options.logger.info(
              { slot: older.slotId, call_id: older.call?.callId, by_call_id: slot.call?.callId },
              'the carrier opened the same call again; the older socket is closed',
            );
            older.hangUp({ cause: 'host', reason: 'replaced' });
          }
        },
        finished: (slot, call, hasResult) => {
          if (this.draining) slot.leave();
          else this.recycle(slot);
          this.options.onFinished(call, hasResult);
          this.wake();
        },
        ended: (slot, ending, call) => this.onEnded(place, slot, ending, call),
        news: (slot, message) => this.options.onNews(slot, message),
      },
    );
  }

  private onEnded(place: Place, slot: SlotProcess, ending: SlotEnding, call: LiveCall | null): void {
    place.slot = null;
    this.options.onSlotGone(slot);
    if (ending.kind === 'died') {
      const livedMs = performance.now() - slot.startedAtMs;
      const delayMs = delayAfterFailure(place.restart, livedMs);
      this.options.logger.error(
        {
          slot: slot.slotId,
          slot_pid: slot.pid,
          call_id: call?.callId ?? null,
          cause: ending.cause,
          detail: ending.detail,
          restart_in_ms: delayMs,
        },
        'a slot ended by itself; its call is salvaged and the slot is started again',
      );
      if (!this.draining && !this.closed) {
        place.timer = setTimeout(() => {
          place.timer = null;
          this.fill(this.orphans);
        }, delayMs);
      }
      if (call) this.options.onDied(call, ending.cause);
    } else if (ending.kind === 'left') {
      this.fill(this.orphans);
    }
    this.wake();
  }

  private recycle(slot: SlotProcess): void {
    const grown =
      slot.rssBytes !== null &&
      slot.firstRssBytes !== null &&
      slot.rssBytes - slot.firstRssBytes > RECYCLE_AFTER_GROWTH_BYTES;
    const isWorn =
      slot.callsTaken >= this.options.recycleAfterCalls ||
      slot.roomCallsTaken >= this.options.recycleAfterRoomCalls;
    if (!grown && !isWorn) return;
    this.options.logger.info(
      { slot: slot.slotId, calls: slot.callsTaken, rss_bytes: slot.rssBytes },
      'slot is renewed',
    );
    slot.leave();
  }

  /** While calls are live, restarts go one at a time, so that loading models does not starve the audio (RT-92). */
  private startingLimit(): number {
    return this.slots().some((slot) => slot.state === 'busy') ? 1 : availableParallelism();
  }

  private cancelRestarts(): void {
    for (const place of this.places) {
      if (place.timer) clearTimeout(place.timer);
      place.timer = null;
    }
  }

  private async until(done: () => boolean): Promise<void> {
    if (done()) return;
    await new Promise<void>((resolve) => {
      this.waiters.push({ done, resolve });
    });
  }

  private wake(): void {
    const waiting = this.waiters;
    this.waiters = waiting.filter((waiter) => !waiter.done());
    for (const waiter of waiting) if (!this.waiters.includes(waiter)) waiter.resolve();
  }
}

function isFree(slot: SlotProcess): boolean {
  return slot.state === 'idle' && !slot.leaving && slot.reachable;
}

/**
 * The slots whose call the carrier has opened again: the same `call_sid` for the same bot on a later socket, which is
 * what its retry after a slow handshake looks like (RT-80). The newest socket wins, whichever of them said `start`
 * last. The live calls are the table, so it is bounded by the number of slots.
 */
export function replacedSlots<S extends { call: LiveCall | null }>(slots: readonly S[], spoken: S): S[] {
  const { call } = spoken;
  if (!call || call.callSid === '') return [];
  const same = slots.filter(
    (slot) =>
      slot.call?.callSid === call.callSid && slot.call.botId === call.botId && slot.call.kind === call.kind,
  );
  const newestAtMs = Math.max(...same.map((slot) => slot.call?.handedOverAtMs ?? 0));
  return same.filter(
    (slot) => slot.call && slot.call.handedOverAtMs < newestAtMs && slot.call.hangupSentAtMs === null,
  );
}
