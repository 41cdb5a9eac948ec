import { DESK_PATH, type DeskAnswer, type DeskNote } from '../../contracts/handoff.ts';
import { DeliveryQueue, type QueueClock } from '../../platform/delivery-queue.ts';
import { everyKey } from '../../platform/every-key.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import { ENDLESS_RETRIES, type PostTerms, postJson } from '../outbox/post-json.ts';

/** Notes of main's own stand behind those of the slot, whatever it still writes. */
const OWN_NOTES_FROM = 1_000_000;
/** An answer to an enqueue is a view of the call; what is longer is none that we understand. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Refusals that pass by themselves: too slow, too much at once. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429];

/** One handoff on its way to its desk; the progress is that of its next note. The notes lie apart. */
export interface HandoffRow {
  callId: string;
  createdAtMs: number;
  /** The highest number of a slot's note that lies, or has lain, in the outbox. */
  takenSeq: number;
  /** The number of the next note that main adds by itself. */
  nextOwnSeq: number;
  /** The call's spool folder has been taken in whole: its slot writes no more notes. */
  isFolderDone: boolean;
  /** Of a room call that its slot has left to an agent: who the customer is there. Null before and after. */
  room: { name: string; customer: string; origin: string } | null;
  attempts: number;
  /** Wall-clock ms of the next attempt; 0 for at once. */
  nextAttemptAtMs: number;
  lastError: string | null;
}

export interface HandoffOutboxOptions extends PostTerms {
  store: KeyValueStore;
  /** The desk has taken an enqueue and said this to it. */
  onAnswer(callId: string, answer: DeskAnswer): void;
  logger: Logger;
  clock?: QueueClock | undefined;
}

/**
 * The durable outbox of the agent desk, apart from that of the results (R4). The notes of one call
 * go in their order: what became of a caller never overtakes the caller. A note stays until the desk has taken it, and a
 * row as long as a note may still come; nothing is ever dropped. The desk knows a call by its id.
 */
export class HandoffOutbox {
  readonly queue: DeliveryQueue<DeskNote, string>;
  private readonly calls: Table<HandoffRow>;

  constructor(options: HandoffOutboxOptions) {
    const { store, logger, clock } = options;
    const calls = store.table<HandoffRow>('handoff-outbox');
    this.calls = calls;
    this.queue = new DeliveryQueue({
      name: 'note to the agent desk',
      table: 'handoff-outbox-notes',
      keyOf: (note) => [callIdOf(note), note.seq],
      routeOf: (note) => ({ lane: callIdOf(note), position: note.seq, receiver: note.origin }),
      factsOf: (note) => ({ call_id: callIdOf(note), note: note.kind }),
      progress: {
        read: (note) => calls.get(callIdOf(note)) ?? newRow(callIdOf(note)),
        write(writes, note, progress) {
          const row = writes.get(calls, callIdOf(note));
          if (row) writes.put(calls, row.callId, { ...row, ...progress });
          return note;
        },
      },
      bounds: { inFlight: 8, perReceiver: 4 },
      retry: ENDLESS_RETRIES,
      attempt(note, signal) {
        const [url, body] = [noteUrl(note), JSON.stringify(note.body)];
        const how = { to: 'desk', maxAnswerBytes: MAX_ANSWER_BYTES, passingStatuses: PASSING_STATUSES };
        return postJson({ url, body, ...how }, options, signal);
      },
      settled: (writes, note, outcome) => {
        if (outcome.kind === 'failed') return note;
        const row = writes.get(calls, callIdOf(note));
        if (row) this.keep(writes, { ...row, attempts: 0, nextAttemptAtMs: 0, lastError: null }, note.seq);
        return null;
      },
      afterwards(note, outcome) {
        if (note.kind === 'enqueue' && outcome.kind === 'delivered') {
          options.onAnswer(callIdOf(note), readDeskAnswer(outcome.detail));
        }
      },
      store,
      logger,
      clock,
    });
  }

  /**
   * Takes notes of a slot, each once however often it is brought, and resolves with the row; null where the call has
   * never had a note. `change` is written along with them.
   */
  take(
    callId: string,
    notes: readonly DeskNote[],
    change: Partial<Pick<HandoffRow, 'isFolderDone' | 'room'>> = {},
    ownNote: ((seq: number) => DeskNote) | null = null,
  ): Promise<HandoffRow | null> {
    return this.queue.transaction(({ writes, put }) => {
      const known = writes.get(this.calls, callId);
      if (!known && notes.length === 0) return null;
      const row: HandoffRow = { ...(known ?? newRow(callId)), ...change };
      for (const note of [...notes].sort((a, b) => a.seq - b.seq)) {
        if (note.seq <= row.takenSeq || note.seq >= OWN_NOTES_FROM) continue;
        put(note);
        row.takenSeq = note.seq;
      }
      if (ownNote) put(ownNote(row.nextOwnSeq++));
      this.keep(writes, row);
      return row;
    });
  }

  /** Changes a row, and adds a note that main writes by itself behind all others; null where there is no such row. */
  change(
    callId: string,
    changeOf: (row: HandoffRow) => Partial<HandoffRow>,
    noteOf: (row: HandoffRow) => DeskNote | null = () => null,
  ): Promise<HandoffRow | null> {
    return this.queue.transaction(({ writes, put }) => {
      const row = writes.get(this.calls, callId);
      if (!row) return null;
      const own = noteOf(row);
      if (own) put(own);
      const next = { ...row, ...changeOf(row), nextOwnSeq: row.nextOwnSeq + (own ? 1 : 0) };
      this.keep(writes, next);
      return next;
    });
  }

  row(callId: string): HandoffRow | undefined {
    return this.calls.get(callId);
  }

  /** Every handoff that is not forgotten, read page by page. */
  async *handoffs(): AsyncGenerator<HandoffRow> {
    for await (const callId of everyKey(this.calls)) {
      const row = this.calls.get(callId);
      if (row) yield row;
    }
  }

  /** Writes the row, or forgets it once all is brought and nobody can add to it; `taken` is a note that goes right now. */
  private keep(writes: Transaction, row: HandoffRow, taken = -1): void {
    const lastOnes = [row.takenSeq, row.nextOwnSeq - 1];
    // Notes go in order: where the last ones are gone, all are.
    const isOwed = lastOnes.some(
      (seq) => seq !== taken && writes.get(this.queue.rows, [row.callId, seq]) !== undefined,
    );
    if (row.isFolderDone && row.room === null && !isOwed) writes.remove(this.calls, row.callId);
    else writes.put(this.calls, row.callId, row);
  }
}

function callIdOf(note: DeskNote): string {
  return note.kind === 'enqueue' ? note.body.call_id : note.callId;
}

function noteUrl(note: DeskNote): string {
  const desk = `${note.origin.replace(/\/+$/, '')}${DESK_PATH}`;
  if (note.kind === 'enqueue') return `${desk}/enqueue`;
  const call = `${desk}/calls/${encodeURIComponent(note.callId)}`;
  return note.kind === 'customer_disconnected' ? `${call}/customer-disconnected` : `${call}/events`;
}

function newRow(callId: string): HandoffRow {
  return {
    callId,
    createdAtMs: Date.now(),
    takenSeq: 0,
    nextOwnSeq: OWN_NOTES_FROM,
    isFolderDone: false,
    room: null,
    attempts: 0,
    nextAttemptAtMs: 0,
    lastError: null,
  };
}

/** Whatever of it is understood; a desk of another make may say nothing. */
function readDeskAnswer(body: string): DeskAnswer {
  let said: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) said = value as Record<string, unknown>;
  } catch {
    // An answer that is no JSON has taken the note all the same.
  }
  const number = (name: string): number | null => {
    const value = said[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
  };
  return {
    position: number('position'),
    agentsAvailable: number('agents_available'),
    estimatedWaitSeconds: number('estimated_wait_seconds'),
    timeoutSeconds: number('timeout_seconds'),
  };
}
