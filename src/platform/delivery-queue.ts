import { describeError } from './app-error.ts';
import {
  type DeliveryBounds,
  DeliverySchedule,
  type PendingDeliveries,
  type ScheduledRow,
} from './delivery-queue/delivery-schedule.ts';
import { type Failure, type RetryPolicy, retryWaitMs } from './delivery-queue/retry-policy.ts';
import { everyKey } from './every-key.ts';
import type { KeyValueStore, StoreKey, Table, Transaction } from './key-value-store.ts';
import type { Logger } from './logger.ts';

/** A row whose receipt or attempt cannot be noted (full disk) waits this long. */
const STORE_RETRY_MS = 5_000;

const SAID = {
  delivered: ['info', 'was delivered'],
  failed: ['warn', 'was not delivered'],
  given_up: ['error', 'is given up'],
} as const;

/** How far a row has come. */
export interface DeliveryProgress {
  createdAtMs: number;
  /** Failed attempts. */
  attempts: number;
  /** Wall-clock ms of the next attempt. */
  nextAttemptAtMs: number;
  lastError: string | null;
}

/** What an attempt came to; `detail` is the user's own. */
export type DeliveryOutcome<Detail> =
  | { kind: 'delivered'; detail: Detail }
  | ({ kind: 'failed'; error: string; detail: Detail } & Failure)
  /** Of an attempt: nothing will ever help. It also is what becomes of the last failure that the policy allows. */
  | { kind: 'given_up'; error: string; detail: Detail };

/** Time as the queue sees it; tests bring their own. */
export interface QueueClock {
  nowMs(): number;
  random(): number;
  /** Calls `action` after `ms`; returns what cancels it. */
  after(ms: number, action: () => void): () => void;
}

const SYSTEM_CLOCK: QueueClock = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** What the user of a queue supplies: five facts about rows, then what is done with one. */
export interface DeliveryUse<Row, Detail> {
  /** What a row is, for the log: "result". */
  name: string;
  table: string;
  keyOf(row: Row): StoreKey;
  /** Rows of one lane are sent one after the other, by position, a later one only when the earlier is done with. */
  routeOf(row: Row): { lane: string; position: number; receiver: string };
  /** Ids of the row for the log. */
  factsOf(row: Row): Record<string, unknown>;
  /** Where a row keeps its progress; without it in fields of its own ({@link DeliveryProgress}). */
  progress?: {
    /** Null for a row that waits for nothing any more. */
    read(row: Row): DeliveryProgress | null;
    /** The row with this progress; `writes` for what lies elsewhere. */
    write(writes: Transaction, row: Row, progress: DeliveryProgress): Row;
  };
  /** An index of the waiting rows, where finished ones stay in the table. Its keys end with that of the row. */
  waiting?: string;
  bounds: DeliveryBounds;
  retry: RetryPolicy;

  /** One attempt; when `signal` aborts, whatever is not delivered by then counts as not tried. */
  attempt(row: Row, signal: AbortSignal): Promise<DeliveryOutcome<Detail>>;
  /** In the commit that notes an outcome: what stays of the row, null for nothing. Without it, what failed stays. */
  settled?(writes: Transaction, row: Row, outcome: DeliveryOutcome<Detail>): Row | null;
  /** In every commit that writes or removes a row: what hangs on it, such as its indexes. */
  written?(writes: Transaction, before: Row | undefined, after: Row | null): void;
  /** After that commit. */
  afterwards?(row: Row, outcome: DeliveryOutcome<Detail>): void | Promise<void>;

  store: KeyValueStore;
  logger: Logger;
  clock?: QueueClock | undefined;
}

/** The rows inside a transaction of the queue. */
export interface QueueWrites<Row> {
  writes: Transaction;
  get(key: StoreKey): Row | undefined;
  /** `isPaused`: it lies there, but is not sent before it is offered, or before the next start. */
  put(row: Row, how?: { isPaused: boolean }): void;
  remove(key: StoreKey): void;
}

/**
 * A durable queue: rows in LMDB that are delivered at least once, in order within their lane, with a bound in all and
 * per receiver, and tried again by a policy. The disk says everything; memory holds only when which row is due. A crash
 * between a delivery and its note repeats the delivery.
 */
export class DeliveryQueue<Row, Detail = null> {
  readonly rows: Table<Row>;
  private readonly use: DeliveryUse<Row, Detail>;
  private readonly progress: NonNullable<DeliveryUse<Row, Detail>['progress']>;
  private readonly clock: QueueClock;
  private readonly schedule: DeliverySchedule;
  private readonly underWay = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private isStarted = false;
  private cancelAlarm: (() => void) | null = null;

  constructor(use: DeliveryUse<Row, Detail>) {
    this.use = use;
    this.rows = use.store.table<Row>(use.table);
    this.progress = use.progress ?? {
      read: (row) => row as DeliveryProgress,
      write: (_writes, row, progress) => ({ ...row, ...progress }),
    };
    this.clock = use.clock ?? SYSTEM_CLOCK;
    this.schedule = new DeliverySchedule(use.bounds, use.retry.longestWaitMs);
  }

  /** Takes up what an earlier process left. Nothing is sent before everything is read, or order would be lost. */
  async start(): Promise<void> {
    for await (const row of this.all()) this.plan(row);
    this.isStarted = true;
    this.wake();
  }

  /**
   * Changes rows, and whatever else belongs to it, in one commit. Resolves with what `action` returned once that is on
   * disk, and what waits then is sent; rejects with `store_unavailable`.
   */
  async transaction<T>(action: (rows: QueueWrites<Row>) => T): Promise<T> {
    const { rows, use } = this;
    const changes: { key: StoreKey; row: Row | null }[] = [];
    const result = await use.store.transaction((writes) => {
      const get = (key: StoreKey) => writes.get(rows, key);
      return action({
        writes,
        get,
        put(row, { isPaused } = { isPaused: false }) {
          const key = use.keyOf(row);
          const before = get(key);
          writes.put(rows, key, row);
          use.written?.(writes, before, row);
          if (!isPaused) changes.push({ key, row });
        },
        remove(key) {
          const before = get(key);
          if (before === undefined) return;
          writes.remove(rows, key);
          use.written?.(writes, before, null);
          changes.push({ key, row: null });
        },
      });
    });
    for (const { key, row } of changes) {
      if (row === null) this.schedule.remove(key);
      else this.plan(row);
    }
    if (changes.length > 0) this.wake();
    return result;
  }

  /** A row that was held may go now. */
  offer(key: StoreKey): void {
    const row = this.rows.get(key);
    if (row !== undefined) this.plan(row);
    this.wake();
  }

  /** Every row that waits, read page by page. */
  async *all(): AsyncGenerator<Row> {
    const { waiting, store } = this.use;
    for await (const key of everyKey(waiting === undefined ? this.rows : store.table(waiting))) {
      const row = this.rows.get(waiting !== undefined && Array.isArray(key) ? key.at(-1) : key);
      if (row !== undefined) yield row;
    }
  }

  pending(): PendingDeliveries {
    return this.schedule.pending(this.clock.nowMs());
  }

  /** Whether a row is due or under way, so that waiting a little longer may still deliver it. */
  get isActive(): boolean {
    return this.schedule.isActive(this.clock.nowMs());
  }

  /** Sends what is due now; it does so by itself except where a clock was moved under it. */
  wake(): void {
    this.cancelAlarm?.();
    this.cancelAlarm = null;
    if (!this.isStarted || this.stopping.signal.aborted) return;
    const nowMs = this.clock.nowMs();
    for (let row = this.schedule.take(nowMs); row; row = this.schedule.take(nowMs)) this.send(row);
    const nextMs = this.schedule.nextDueMs();
    if (nextMs !== null) this.cancelAlarm = this.clock.after(nextMs - nowMs, () => this.wake());
  }

  /** Stops; what is under way is broken off and stays in the queue. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.cancelAlarm?.();
    this.cancelAlarm = null;
    await Promise.all(this.underWay);
  }

  private plan(row: Row): void {
    const key = this.use.keyOf(row);
    const progress = this.progress.read(row);
    if (progress === null) {
      this.schedule.remove(key);
      return;
    }
    const { createdAtMs, nextAttemptAtMs: dueAtMs, lastError } = progress;
    const plan = { key, createdAtMs, dueAtMs, hasFailed: lastError !== null };
    this.schedule.put({ ...this.use.routeOf(row), ...plan }, this.clock.nowMs());
  }

  private send(scheduled: ScheduledRow): void {
    const work = this.tryOnce(scheduled.key)
      .then(
        () => this.schedule.landed(scheduled),
        (error) => {
          this.use.logger.error(
            { key: scheduled.key, err: describeError(error) },
            `what became of a ${this.use.name} cannot be noted; it is tried again`,
          );
          this.schedule.landed(scheduled, this.clock.nowMs() + STORE_RETRY_MS);
        },
      )
      .then(() => {
        this.underWay.delete(work);
        this.wake();
      });
    this.underWay.add(work);
  }

  /** Rejects where the store refuses. */
  private async tryOnce(key: StoreKey): Promise<void> {
    const { use } = this;
    const text = this.rows.text(key);
    const row = text === undefined ? null : (JSON.parse(text) as Row);
    if (row === null || this.progress.read(row) === null) return this.schedule.remove(key);
    const said = await use.attempt(row, this.stopping.signal);
    if (this.stopping.signal.aborted && said.kind !== 'delivered') return;
    // What was removed meanwhile stays gone, and what was replaced has not been tried yet.
    const noted = await this.transaction((rows) =>
      this.rows.text(key) === text ? this.note(rows, row, said) : null,
    );
    if (noted === null) return;
    const { row: after, outcome, facts } = noted;
    const [level, words] = SAID[outcome.kind];
    use.logger[level](facts, `a ${use.name} ${words}`);
    try {
      await use.afterwards?.(after, outcome);
    } catch (error) {
      // The row is settled and must not be sent again for this.
      const fault = { ...facts, err: describeError(error) };
      use.logger.error(fault, `what follows an attempt at a ${use.name} failed`);
    }
  }

  private note({ writes, put, remove }: QueueWrites<Row>, before: Row, said: DeliveryOutcome<Detail>) {
    const { retry, settled, keyOf, factsOf } = this.use;
    const progress = this.progress.read(before);
    const attempts = (progress?.attempts ?? 0) + 1;
    const waitMs = said.kind === 'failed' ? retryWaitMs(retry, attempts, said, this.clock.random()) : null;
    const outcome: typeof said =
      said.kind === 'failed' && waitMs === null ? { ...said, kind: 'given_up' } : said;
    const error = outcome.kind === 'delivered' ? null : outcome.error;
    let row = before;
    if (progress && waitMs !== null) {
      const nextAttemptAtMs = this.clock.nowMs() + waitMs;
      row = this.progress.write(writes, row, { ...progress, attempts, nextAttemptAtMs, lastError: error });
    }
    const kept = settled ? settled(writes, row, outcome) : outcome.kind === 'failed' ? row : null;
    if (kept === null) remove(keyOf(row));
    else put(kept);
    const facts = { ...factsOf(row), attempts, reason: error ?? undefined, retry_in_ms: waitMs ?? undefined };
    return { row: kept ?? row, outcome, facts };
  }
}
