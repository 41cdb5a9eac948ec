import type { Logger } from '../../platform/logger.ts';
import {
  DELIVERY_TIMEOUT_MS,
  type DeliveryOutcome,
  type DeliveryTerms,
  deliverOnce,
} from './deliver-once.ts';
import type { OutboxRow, ResultsOutbox } from './results-outbox.ts';
import { BACKOFF_MAX_MS, waitAfterFailure } from './retry-schedule.ts';

/** Deliveries under way at once; the others wait for a place. */
const MAX_IN_FLIGHT = 16;
/** Of these to one receiver: one that hangs for its whole time-out must not hold up the results of the others. */
export const MAX_PER_RECEIVER = 4;
/** A row whose receipt or attempt cannot be noted (full disk) waits this long. */
const STORE_RETRY_MS = 5_000;

/** Time as the loop sees it; tests bring their own. */
export interface DeliveryClock {
  nowMs(): number;
  random(): number;
  /** Calls `action` after `ms`; returns what cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const SYSTEM_CLOCK: DeliveryClock = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export interface DeliveryOptions {
  outbox: ResultsOutbox;
  coreSecret: string;
  ownOrigins: readonly string[];
  logger: Logger;
  clock?: DeliveryClock;
  timeoutMs?: number;
}

/**
 * Delivers the rows of the outbox: at once, with immediate retries, then in the background without end (R152). Rows
 * come in by {@link DeliveryLoop.offer} only, after their spool folder is gone. A crash between the receiver's 2xx
 * and the removal of the row repeats the delivery: at least once.
 */
export class DeliveryLoop {
  private readonly options: DeliveryOptions;
  private readonly terms: DeliveryTerms;
  private readonly clock: DeliveryClock;
  private readonly waiting = new Map<string, OutboxRow>();
  private readonly inFlight = new Map<string, { receiver: string; work: Promise<void> }>();
  private readonly stopping = new AbortController();
  private cancelWake: (() => void) | null = null;

  constructor(options: DeliveryOptions) {
    this.options = options;
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.terms = {
      coreSecret: options.coreSecret,
      ownOrigins: options.ownOrigins,
      timeoutMs: options.timeoutMs ?? DELIVERY_TIMEOUT_MS,
    };
  }

  /** Takes a row that lies in the outbox. A row that is known already is left as it is. */
  offer(row: OutboxRow): void {
    if (this.waiting.has(row.callId) || this.inFlight.has(row.callId) || this.stopping.signal.aborted) return;
    // A wall clock that was set back must not turn a short wait into a long one.
    const latest = this.clock.nowMs() + BACKOFF_MAX_MS;
    this.waiting.set(row.callId, { ...row, nextAttemptAtMs: Math.min(row.nextAttemptAtMs, latest) });
    this.pump();
  }

  /** Rows that no receiver has acknowledged yet, and the age of the oldest in seconds. */
  pending(): { count: number; oldestSeconds: number; refused: number } {
    let oldestMs = this.clock.nowMs();
    let refused = 0;
    for (const row of this.waiting.values()) {
      oldestMs = Math.min(oldestMs, row.createdAtMs);
      if (row.lastError !== null) refused += 1;
    }
    return {
      count: this.waiting.size + this.inFlight.size,
      oldestSeconds: Math.max(0, Math.round((this.clock.nowMs() - oldestMs) / 1000)),
      refused,
    };
  }

  /** Whether a row is due or under way, so that waiting a little longer may still deliver it. */
  get active(): boolean {
    if (this.inFlight.size > 0) return true;
    const soon = this.clock.nowMs();
    for (const row of this.waiting.values()) if (row.nextAttemptAtMs <= soon) return true;
    return false;
  }

  /** Stops; what is under way is broken off and stays in the outbox. */
  async stop(): Promise<void> {
    this.cancelWake?.();
    this.cancelWake = null;
    this.stopping.abort();
    await Promise.all([...this.inFlight.values()].map(({ work }) => work));
  }

  private pump(): void {
    this.cancelWake?.();
    this.cancelWake = null;
    if (this.stopping.signal.aborted) return;
    const nowMs = this.clock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const row of this.waiting.values()) {
      if (row.nextAttemptAtMs > nowMs) {
        nextMs = Math.min(nextMs, row.nextAttemptAtMs);
      } else if (this.inFlight.size >= MAX_IN_FLIGHT) {
        // All places are taken; the end of a delivery pumps again.
        return;
      } else if (this.underWayTo(receiverOf(row)) < MAX_PER_RECEIVER) {
        this.start(row);
      }
    }
    if (nextMs !== Number.POSITIVE_INFINITY) {
      this.cancelWake = this.clock.after(nextMs - nowMs, () => this.pump());
    }
  }

  private start(row: OutboxRow): void {
    this.waiting.delete(row.callId);
    const work = this.attempt(row).finally(() => {
      this.inFlight.delete(row.callId);
      this.pump();
    });
    this.inFlight.set(row.callId, { receiver: receiverOf(row), work });
  }

  private underWayTo(receiver: string): number {
    let count = 0;
    for (const delivery of this.inFlight.values()) if (delivery.receiver === receiver) count++;
    return count;
  }

  private async attempt(row: OutboxRow): Promise<void> {
    const { outbox, logger } = this.options;
    const facts = { call_id: row.callId, session_id: row.sessionId };
    try {
      const body = outbox.body(row.callId);
      if (body === undefined) {
        await outbox.remove(row.callId);
        return;
      }
      const outcome = await deliverOnce(row.webhookUrl, body, this.terms, this.stopping.signal);
      if (this.stopping.signal.aborted && outcome !== 'delivered') return;
      if (outcome === 'delivered') {
        await outbox.remove(row.callId);
        logger.info({ ...facts, attempts: row.attempts + 1 }, 'result delivered');
        return;
      }
      await this.noteFailure(row, outcome);
    } catch (error) {
      logger.error({ ...facts, err: error }, 'the outbox cannot be written; the result is tried again');
      this.waiting.set(row.callId, { ...row, nextAttemptAtMs: this.clock.nowMs() + STORE_RETRY_MS });
    }
  }

  private async noteFailure(row: OutboxRow, outcome: Exclude<DeliveryOutcome, 'delivered'>): Promise<void> {
    const attempts = row.attempts + 1;
    const waitMs = waitAfterFailure(attempts, outcome.transient, this.clock.random());
    const next: OutboxRow = {
      ...row,
      attempts,
      lastError: outcome.error,
      nextAttemptAtMs: this.clock.nowMs() + waitMs,
    };
    this.options.logger.warn(
      {
        call_id: row.callId,
        session_id: row.sessionId,
        attempts,
        reason: outcome.error,
        retry_in_ms: waitMs,
      },
      'a result was not delivered; it stays in the outbox',
    );
    await this.options.outbox.update(next);
    this.waiting.set(row.callId, next);
  }
}

/** Receivers are told apart by origin. */
function receiverOf(row: OutboxRow): string {
  return URL.canParse(row.webhookUrl) ? new URL(row.webhookUrl).origin : row.webhookUrl;
}
