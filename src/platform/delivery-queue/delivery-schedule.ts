import type { StoreKey } from '../key-value-store.ts';

/** What the queue keeps in memory of a row; everything else stays on disk. */
export interface ScheduledRow {
  key: StoreKey;
  /** Rows of one lane go one after the other. */
  lane: string;
  /** Order within the lane, the lowest first; rows of the same position go as they came. */
  position: number;
  receiver: string;
  createdAtMs: number;
  dueAtMs: number;
  hasFailed: boolean;
}

export interface DeliveryBounds {
  /** Attempts under way at once; the other rows wait for a place. */
  inFlight: number;
  /** Of these to one receiver: one that hangs for its whole time-out must not hold up the others. */
  perReceiver: number;
}

export interface PendingDeliveries {
  /** Rows that no receiver has acknowledged. */
  count: number;
  lanes: number;
  /** Age of the oldest of them. */
  oldestSeconds: number;
  /** Those whose last attempt failed. */
  refused: number;
}

interface Lane {
  rows: ScheduledRow[];
  sending: ScheduledRow | null;
  /** Where the lane waits for a place, its first row being due. */
  readyFor: string | null;
  /** What `timed` holds of this lane counts only where it carries the last ticket. */
  ticket: number;
}

/**
 * Which row may go when: in memory, without a disk and without timers. A lane is timed until its first row is due,
 * then it waits for a place at its receiver, then its first row is under way; its second one never overtakes.
 */
export class DeliverySchedule {
  private readonly bounds: DeliveryBounds;
  private readonly longestWaitMs: number;
  private readonly rows = new Map<string, ScheduledRow>();
  private readonly lanes = new Map<string, Lane>();
  /** Lanes by the time their first row is due, those of one time as they came. */
  private readonly timed: { atMs: number; lane: Lane; ticket: number }[] = [];
  /** Lanes that may go, by receiver; one that has been served stands behind the others. */
  private readonly ready = new Map<string, Set<Lane>>();
  private readonly sendingTo = new Map<string, number>();
  private sending = 0;
  private lastNowMs = 0;

  constructor(bounds: DeliveryBounds, longestWaitMs: number) {
    this.bounds = bounds;
    this.longestWaitMs = longestWaitMs;
  }

  /** Takes a row, or what has changed of one. */
  put(row: ScheduledRow, nowMs: number): void {
    // A wall clock that was set back must not turn a short wait into a long one.
    const dueAtMs = Math.min(row.dueAtMs, nowMs + this.longestWaitMs);
    const id = idOf(row.key);
    const known = this.rows.get(id);
    if (known) {
      Object.assign(known, row, { dueAtMs });
    } else {
      const fresh = { ...row, dueAtMs };
      this.rows.set(id, fresh);
      const rows = this.laneOf(row.lane).rows;
      rows.splice(rows.findLastIndex(({ position }) => position <= row.position) + 1, 0, fresh);
    }
    this.plan(row.lane);
  }

  /** The row is not to be sent any more; an attempt under way goes on. */
  remove(key: StoreKey): void {
    const row = this.rows.get(idOf(key));
    if (!row) return;
    this.rows.delete(idOf(key));
    const { rows } = this.laneOf(row.lane);
    rows.splice(rows.indexOf(row), 1);
    this.plan(row.lane);
  }

  /** The next row that is due and has a place; it is under way until it has {@link landed}. */
  take(nowMs: number): ScheduledRow | null {
    this.ripen(nowMs);
    if (this.sending >= this.bounds.inFlight) return null;
    for (const [receiver, lanes] of this.ready) {
      const underWay = this.sendingTo.get(receiver) ?? 0;
      const [lane] = lanes;
      const row = lane?.rows[0];
      if (!lane || !row || underWay >= this.bounds.perReceiver) continue;
      this.leaveReady(lane);
      // Served as far as it may be, it stands behind the others that wait.
      const isFull = underWay + 1 >= this.bounds.perReceiver;
      if (isFull && this.ready.delete(receiver)) this.ready.set(receiver, lanes);
      lane.sending = row;
      this.sendingTo.set(receiver, underWay + 1);
      this.sending += 1;
      return { ...row };
    }
    return null;
  }

  /** An attempt has ended; `row` is what {@link take} gave. With `againAtMs` the row is not due before then. */
  landed(row: ScheduledRow, againAtMs?: number): void {
    this.sending -= 1;
    const underWay = (this.sendingTo.get(row.receiver) ?? 1) - 1;
    if (underWay > 0) this.sendingTo.set(row.receiver, underWay);
    else this.sendingTo.delete(row.receiver);
    const known = this.rows.get(idOf(row.key));
    if (known && againAtMs !== undefined) known.dueAtMs = againAtMs;
    this.laneOf(row.lane).sending = null;
    this.plan(row.lane);
  }

  /** When the next row becomes due; null where none waits for its time. */
  nextDueMs(): number | null {
    for (;;) {
      const [next] = this.timed;
      if (!next) return null;
      if (next.ticket === next.lane.ticket) return next.atMs;
      this.timed.shift();
    }
  }

  /** Whether a row is due or under way, so that waiting a little longer may still deliver it. */
  isActive(nowMs: number): boolean {
    return this.sending > 0 || this.ready.size > 0 || (this.nextDueMs() ?? Number.POSITIVE_INFINITY) <= nowMs;
  }

  pending(nowMs: number): PendingDeliveries {
    let oldestMs = nowMs;
    let refused = 0;
    for (const row of this.rows.values()) {
      oldestMs = Math.min(oldestMs, row.createdAtMs);
      if (row.hasFailed) refused += 1;
    }
    const oldestSeconds = Math.round((nowMs - oldestMs) / 1000);
    return { count: this.rows.size, lanes: this.lanes.size, oldestSeconds, refused };
  }

  private laneOf(name: string): Lane {
    const lane = this.lanes.get(name) ?? { rows: [], sending: null, readyFor: null, ticket: 0 };
    this.lanes.set(name, lane);
    return lane;
  }

  /** Puts a lane where its first row belongs now. */
  private plan(name: string): void {
    const lane = this.laneOf(name);
    lane.ticket += 1;
    this.leaveReady(lane);
    if (lane.sending) return;
    const atMs = lane.rows[0]?.dueAtMs;
    if (atMs === undefined) {
      this.lanes.delete(name);
      return;
    }
    let [from, to] = [0, this.timed.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.timed[middle]?.atMs ?? 0) <= atMs) from = middle + 1;
      else to = middle;
    }
    this.timed.splice(from, 0, { atMs, lane, ticket: lane.ticket });
  }

  private leaveReady(lane: Lane): void {
    if (lane.readyFor === null) return;
    const lanes = this.ready.get(lane.readyFor);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.ready.delete(lane.readyFor);
    lane.readyFor = null;
  }

  /** Lanes whose time has come wait for a place, the one that is longest due in front. */
  private ripen(nowMs: number): void {
    if (nowMs < this.lastNowMs) this.clockWasSetBack(nowMs);
    this.lastNowMs = nowMs;
    while ((this.nextDueMs() ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const lane = this.timed.shift()?.lane;
      if (!lane) return;
      lane.readyFor = lane.rows[0]?.receiver ?? '';
      const lanes = this.ready.get(lane.readyFor) ?? new Set();
      this.ready.set(lane.readyFor, lanes.add(lane));
    }
  }

  /** A time that no plan under the present clock can have is that of another one: such rows are due at once. */
  private clockWasSetBack(nowMs: number): void {
    for (const row of this.rows.values()) {
      if (row.dueAtMs <= nowMs + this.longestWaitMs) continue;
      row.dueAtMs = nowMs;
      this.plan(row.lane);
    }
  }
}

function idOf(key: StoreKey): string {
  return typeof key === 'string' ? key : JSON.stringify(key);
}
