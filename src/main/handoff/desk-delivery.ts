import type { DeskAnswer, DeskNote } from '../../contracts/handoff.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { DELIVERY_TIMEOUT_MS, type DeliveryTerms } from '../outbox/deliver-once.ts';
import { type DeliveryClock, SYSTEM_CLOCK } from '../outbox/delivery-loop.ts';
import { BACKOFF_MAX_MS, waitAfterFailure } from '../outbox/retry-schedule.ts';
import type { HandoffOutbox, HandoffRow } from './handoff-outbox.ts';
import { type PostOutcome, postNote } from './post-note.ts';

/** Posts under way at once; the others wait for a place. */
const MAX_IN_FLIGHT = 8;
/** Of these to one desk: one that hangs for its whole time-out must not hold up the others. */
const MAX_PER_DESK = 4;
/** A row whose receipt or attempt cannot be noted (full disk) waits this long. */
const STORE_RETRY_MS = 5_000;

export interface DeskDeliveryOptions {
  outbox: HandoffOutbox;
  coreSecret: string;
  ownOrigins: readonly string[];
  /** The desk has taken an enqueue and said this to it. */
  onAnswer(callId: string, answer: DeskAnswer): void;
  logger: Logger;
  clock?: DeliveryClock;
  timeoutMs?: number;
}

/**
 * Brings notes to the desk, those of one call in their order and one at a time: what became of a caller never overtakes
 * the caller. A note that is not taken is tried again without end, at once at first and then with a growing wait; one
 * that is refused waits longer. A crash between the desk's answer and its receipt repeats the post (at least once); the
 * desk knows a call by its id.
 */
export class DeskDelivery {
  private readonly options: DeskDeliveryOptions;
  private readonly terms: DeliveryTerms;
  private readonly clock: DeliveryClock;
  /** Calls that have a note to bring, and when. */
  private readonly due = new Map<string, number>();
  private readonly inFlight = new Map<string, { desk: string; work: Promise<void> }>();
  /** Calls that were offered while a post of theirs was under way: they are looked at once more. */
  private readonly offeredMeanwhile = new Set<string>();
  private readonly stopping = new AbortController();
  private cancelWake: (() => void) | null = null;

  constructor(options: DeskDeliveryOptions) {
    this.options = options;
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.terms = {
      coreSecret: options.coreSecret,
      ownOrigins: options.ownOrigins,
      timeoutMs: options.timeoutMs ?? DELIVERY_TIMEOUT_MS,
    };
  }

  /** A call has notes in the outbox, or new ones. Where an attempt is planned already, that plan stands. */
  offer(row: HandoffRow): void {
    if (this.stopping.signal.aborted || this.due.has(row.callId)) return;
    if (this.inFlight.has(row.callId)) {
      this.offeredMeanwhile.add(row.callId);
      return;
    }
    // A wall clock that was set back must not turn a short wait into a long one.
    this.due.set(row.callId, Math.min(row.nextAttemptAtMs, this.clock.nowMs() + BACKOFF_MAX_MS));
    this.pump();
  }

  /** Handoffs of which the desk has not taken everything yet. */
  get pending(): number {
    return this.due.size + this.inFlight.size;
  }

  /** Whether a post is due or under way, so that waiting a little longer may still bring it. */
  get active(): boolean {
    const nowMs = this.clock.nowMs();
    return this.inFlight.size > 0 || [...this.due.values()].some((atMs) => atMs <= nowMs);
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
    for (const [callId, atMs] of this.due) {
      if (atMs > nowMs) nextMs = Math.min(nextMs, atMs);
      // All places are taken; the end of a post pumps again.
      else if (this.inFlight.size >= MAX_IN_FLIGHT) return;
      else this.start(callId);
    }

    if (nextMs !== Number.POSITIVE_INFINITY) {
      this.cancelWake = this.clock.after(nextMs - nowMs, () => this.pump());
    }
  }

  private start(callId: string): void {
    const desk = this.options.outbox.next(callId)?.origin ?? '';
    const underWay = [...this.inFlight.values()].filter((post) => post.desk === desk).length;
    // The end of one of them pumps again.
    if (underWay >= MAX_PER_DESK) return;
    this.due.delete(callId);
    const work = this.attempt(callId).then((againAtMs) => {
      this.inFlight.delete(callId);
      const isOffered = this.offeredMeanwhile.delete(callId);
      const dueAtMs = againAtMs ?? (isOffered ? this.clock.nowMs() : null);
      if (dueAtMs !== null && !this.stopping.signal.aborted) this.due.set(callId, dueAtMs);
      this.pump();
    });
    this.inFlight.set(callId, { desk, work });
  }

  /** Brings the next note of a call; resolves to when to go on, null when there is nothing left. Never rejects. */
  private async attempt(callId: string): Promise<number | null> {
    const { outbox, logger } = this.options;
    try {
      const note = outbox.next(callId);
      if (!note) {
        await this.settle(callId);
        return null;
      }
      const outcome = await postNote(note, this.terms, this.stopping.signal);
      if (outcome.kind === 'taken') {
        await this.taken(callId, note, outcome.answer);
        return this.clock.nowMs();
      }
      return this.stopping.signal.aborted ? null : await this.noteFailure(callId, note, outcome);
    } catch (error) {
      logger.error(
        { call_id: callId, err: describeError(error) },
        'the outbox of the desk cannot be written; the note is tried again',
      );
      return this.clock.nowMs() + STORE_RETRY_MS;
    }
  }

  private async taken(callId: string, note: DeskNote, answer: DeskAnswer | null): Promise<void> {
    await this.options.outbox.delivered({ callId, seq: note.seq });
    this.options.logger.info({ call_id: callId, note: note.kind }, 'the desk has taken a note');
    if (answer) this.options.onAnswer(callId, answer);
  }

  private async noteFailure(
    callId: string,
    note: DeskNote,
    outcome: Extract<PostOutcome, { kind: 'failed' }>,
  ): Promise<number> {
    const attempts = (this.options.outbox.row(callId)?.attempts ?? 0) + 1;
    const waitMs = waitAfterFailure(attempts, outcome.transient, this.clock.random());
    const nextAttemptAtMs = this.clock.nowMs() + waitMs;
    this.options.logger.warn(
      { call_id: callId, note: note.kind, attempts, reason: outcome.error, retry_in_ms: waitMs },
      'the desk did not take a note; it stays in the outbox',
    );
    await this.options.outbox.failed(callId, { attempts, nextAttemptAtMs, lastError: outcome.error });
    return nextAttemptAtMs;
  }

  /** All is brought; the row goes once nobody can add to it any more. */
  private async settle(callId: string): Promise<void> {
    const row = this.options.outbox.row(callId);
    if (row?.isFolderDone && row.room === null) await this.options.outbox.forget(callId);
  }
}
