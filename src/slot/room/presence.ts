/** A customer who never comes is waited for so long (RT-63, solo). */
export const SOLO_MS = 60_000;
/** A customer who vanished without a goodbye may come back within this (RT-63, empty room). */
export const EMPTY_MS = 20_000;

export type Absence = { kind: 'never_came' | 'left_alone' | 'others_only'; afterMs: number };

/**
 * The timers of a room, ours and not the media server's (RT-63): how long the bot stays in a room without its customer.
 *
 * Nobody has come yet: 60 s. The customer was there and vanished: 20 s where the bot is alone in the room, 60 s where
 * somebody else still is, who may know more.
 */
export class Presence {
  private readonly now: () => number;
  private readonly scale: number;
  private wasThere = false;
  private absentSinceMs: number | null;

  /** `scale` is a share of the true waits; only tests bring one. */
  constructor(now: () => number, scale = 1) {
    this.now = now;
    this.scale = scale;
    this.absentSinceMs = now();
  }

  came(): void {
    this.wasThere = true;
    this.absentSinceMs = null;
  }

  vanished(): void {
    this.absentSinceMs ??= this.now();
  }

  /** Whether the wait is over, and which one. `others`: people in the room beside the bot and the customer. */
  look(others: number): Absence | null {
    if (this.absentSinceMs === null) return null;
    const kind = !this.wasThere ? 'never_came' : others > 0 ? 'others_only' : 'left_alone';
    const limitMs = (kind === 'left_alone' ? EMPTY_MS : SOLO_MS) * this.scale;
    const afterMs = this.now() - this.absentSinceMs;
    return afterMs > limitMs ? { kind, afterMs } : null;
  }
}
