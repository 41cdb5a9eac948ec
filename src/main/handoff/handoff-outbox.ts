import type { DeskNote } from '../../contracts/handoff.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { everyRow } from '../outbox/every-row.ts';

/** Notes of main's own stand behind those of the slot, whatever it still writes. */
const OWN_NOTES_FROM = 1_000_000;
/** One handoff on its way to its desk. The notes lie apart, so that an attempt does not rewrite them. */
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

/**
 * The durable outbox of the agent desk, apart from that of the results (R4). A note stays until
 * the desk has taken it; nothing is ever dropped. Every promise resolves when the change is on disk.
 */
export class HandoffOutbox {
  private readonly store: KeyValueStore;
  private readonly rows: Table<HandoffRow>;
  private readonly notes: Table<DeskNote>;

  constructor(store: KeyValueStore) {
    this.store = store;
    this.rows = store.table<HandoffRow>('handoff-outbox');
    this.notes = store.table<DeskNote>('handoff-outbox-notes');
  }

  /**
   * Takes notes of a slot, each once however often it is brought, and returns the row; null where the call has never had
   * a note. `change` is written along with them.
   */
  take(
    callId: string,
    notes: readonly DeskNote[],
    change: Partial<Pick<HandoffRow, 'isFolderDone' | 'room'>> = {},
    ownNote: ((seq: number) => DeskNote) | null = null,
  ): Promise<HandoffRow | null> {
    return this.store.transaction((writes) => {
      const known = writes.get(this.rows, callId);
      if (!known && notes.length === 0) return null;
      const row: HandoffRow = { ...(known ?? newRow(callId)), ...change };
      for (const note of [...notes].sort((a, b) => a.seq - b.seq)) {
        if (note.seq <= row.takenSeq || note.seq >= OWN_NOTES_FROM) continue;
        writes.put(this.notes, [callId, note.seq], note);
        row.takenSeq = note.seq;
      }
      if (ownNote) {
        writes.put(this.notes, [callId, row.nextOwnSeq], ownNote(row.nextOwnSeq));
        row.nextOwnSeq += 1;
      }
      writes.put(this.rows, callId, row);
      return row;
    });
  }

  /** Adds a note that main writes by itself, behind all others, and changes the row along with it. */
  addOwn(
    callId: string,
    note: (seq: number) => DeskNote | null,
    change: (row: HandoffRow) => Partial<HandoffRow> = () => ({}),
  ): Promise<HandoffRow | null> {
    return this.store.transaction((writes) => {
      const row = writes.get(this.rows, callId);
      if (!row) return null;
      const own = note(row.nextOwnSeq);
      const next = { ...row, ...change(row), nextOwnSeq: row.nextOwnSeq + (own ? 1 : 0) };
      if (own) writes.put(this.notes, [callId, own.seq], own);
      writes.put(this.rows, callId, next);
      return next;
    });
  }

  row(callId: string): HandoffRow | undefined {
    return this.rows.get(callId);
  }

  /** The next note that the desk has not taken, in order; undefined when it has taken all. */
  next(callId: string): DeskNote | undefined {
    return this.notes.range({ start: [callId], end: [callId, Number.MAX_SAFE_INTEGER], limit: 1 })[0]?.value;
  }

  /** The desk has taken this note: the next one may go at once. `change` is written along with it. */
  delivered(note: { callId: string; seq: number }, change: Partial<HandoffRow> = {}): Promise<void> {
    return this.store.transaction((writes) => {
      writes.remove(this.notes, [note.callId, note.seq]);
      const row = writes.get(this.rows, note.callId);
      if (row) writes.put(this.rows, note.callId, { ...row, attempts: 0, lastError: null, ...change });
    });
  }

  /** Notes a failed attempt; the row as it stands otherwise is kept. */
  failed(
    callId: string,
    failure: Pick<HandoffRow, 'attempts' | 'nextAttemptAtMs' | 'lastError'>,
  ): Promise<void> {
    return this.store.transaction((writes) => {
      const row = writes.get(this.rows, callId);
      if (row) writes.put(this.rows, callId, { ...row, ...failure });
    });
  }

  /** Forgets a handoff of which nothing is owed any more. */
  async forget(callId: string): Promise<void> {
    await this.rows.remove(callId);
  }

  /** Every row, read page by page so that the event loop gets its turns. */
  all(): AsyncGenerator<HandoffRow> {
    return everyRow(this.rows);
  }
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
