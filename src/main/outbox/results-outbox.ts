import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { everyRow } from './every-row.ts';

/** One result on its way to a receiver. The payload lies apart, so that noting an attempt does not rewrite it. */
export interface OutboxRow {
  callId: string;
  sessionId: string;
  webhookUrl: string;
  createdAtMs: number;
  attempts: number;
  /** Wall-clock ms of the next attempt. */
  nextAttemptAtMs: number;
  lastError: string | null;
}

/**
 * The durable results outbox (R3): a row per call, kept until a receiver has acknowledged it. Every
 * promise resolves when the change is on disk. Nothing is ever dropped (D-46).
 */
export class ResultsOutbox {
  private readonly store: KeyValueStore;
  private readonly rows: Table<OutboxRow>;
  private readonly bodies: Table<string>;

  constructor(store: KeyValueStore) {
    this.store = store;
    this.rows = store.table<OutboxRow>('results-outbox');
    this.bodies = store.table<string>('results-outbox-bodies');
  }

  /** Adds the row unless the call has one already; returns the row that stands. */
  add(row: OutboxRow, body: string): Promise<{ row: OutboxRow; added: boolean }> {
    return this.store.transaction((writes) => {
      const standing = writes.get(this.rows, row.callId);
      if (standing) return { row: standing, added: false };
      writes.put(this.rows, row.callId, row);
      writes.put(this.bodies, row.callId, body);
      return { row, added: true };
    });
  }

  /** The payload as JSON text; undefined when the row is gone. */
  body(callId: string): string | undefined {
    return this.bodies.get(callId);
  }

  /** Notes a failed attempt. */
  update(row: OutboxRow): Promise<void> {
    return this.rows.put(row.callId, row);
  }

  /** The receiver has acknowledged. */
  remove(callId: string): Promise<void> {
    return this.store.transaction((writes) => {
      writes.remove(this.rows, callId);
      writes.remove(this.bodies, callId);
    });
  }

  /** Every row, oldest key first, read page by page so that the event loop gets its turns. */
  all(): AsyncGenerator<OutboxRow> {
    return everyRow(this.rows);
  }
}
