import { randomUUID } from 'node:crypto';
import type { Reservation } from '../../contracts/room-requests.ts';
import type { SlotPool } from '../slots/slot-pool.ts';
import type { SlotProcess } from '../slots/slot-process.ts';

/** A reservation that nobody renews is over after this (D-16). */
export const RESERVATION_MS = 45_000;

interface Held {
  slot: SlotProcess;
  timer: NodeJS.Timeout;
}

/**
 * Slots that are kept for calls which a dialler is about to make (D-16). They hold no call yet, so they are
 * kept in memory and survive no restart: the dialler is told 410 then and reserves anew. Each one holds a slot, which
 * is their bound.
 */
export class Reservations {
  private readonly pool: Pick<SlotPool, 'reserve' | 'release'>;
  private readonly lifeMs: number;
  private readonly held = new Map<string, Held>();

  constructor(pool: Pick<SlotPool, 'reserve' | 'release'>, lifeMs = RESERVATION_MS) {
    this.pool = pool;
    this.lifeMs = lifeMs;
  }

  /** Null where no slot is free. */
  take(): Reservation | null {
    const slot = this.pool.reserve();
    if (!slot) return null;
    const id = randomUUID();
    this.held.set(id, { slot, timer: this.expiry(id) });
    return this.view(id);
  }

  /** Null where it has expired, or was never there. */
  renew(id: string): Reservation | null {
    const held = this.held.get(id);
    if (!held) return null;
    clearTimeout(held.timer);
    held.timer = this.expiry(id);
    return this.view(id);
  }

  /** Gives the slot back. Idempotent. */
  cancel(id: string): void {
    const slot = this.claim(id);
    if (slot) this.pool.release(slot);
  }

  /** The slot for the call that it was kept for; the reservation is over then. Null where it has expired. */
  claim(id: string): SlotProcess | null {
    const held = this.held.get(id);
    if (!held) return null;
    clearTimeout(held.timer);
    this.held.delete(id);
    return held.slot;
  }

  /** Gives back what was claimed and not used. */
  giveBack(slot: SlotProcess): void {
    this.pool.release(slot);
  }

  /** A reserved slot has died: another one takes its place, or the reservation is over. */
  slotGone(slot: SlotProcess): void {
    for (const [id, held] of this.held) {
      if (held.slot !== slot) continue;
      const other = this.pool.reserve();
      if (other) held.slot = other;
      else this.claim(id);
      return;
    }
  }

  stop(): void {
    for (const id of [...this.held.keys()]) this.cancel(id);
  }

  private expiry(id: string): NodeJS.Timeout {
    return setTimeout(() => this.cancel(id), this.lifeMs);
  }

  private view(id: string): Reservation {
    return { reservation_id: id, expires_at: new Date(Date.now() + this.lifeMs).toISOString() };
  }
}
