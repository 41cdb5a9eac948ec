import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type DeskNote, type EnqueueBody, HANDOFF_FILE } from '../../contracts/handoff.ts';
import { RESULTS_PATH } from '../../contracts/http-names.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { isoNow } from '../../platform/clock.ts';
import { syncFolder } from '../../platform/durable-files.ts';
import { tellMain } from '../main-link/slot-channel.ts';

/** Where the notes of a call lie and whom they are for. */
export interface DeskNotesTarget {
  callId: string;
  /** The spool folder of the call. */
  folder: string;
  /** Where the results of the call go; its desk is on the same control plane. */
  webhookUrl: string;
}

/**
 * What a call has to tell the agent desk, durably and in order: a note is on disk before main is told of it, so that
 * it reaches the desk whoever dies next (RT-37).
 */
export class DeskNotes {
  private readonly place: DeskNotesTarget;
  private readonly origin: string;
  private file: FileHandle | undefined;
  private seq = 0;
  private writes: Promise<void> = Promise.resolve();

  constructor(place: DeskNotesTarget) {
    this.place = place;
    this.origin = deskBase(place.webhookUrl);
  }

  /** The caller waits for a person. Rejects where the disk refuses: then nobody would ever know. */
  enqueue(body: EnqueueBody): Promise<void> {
    return this.add((note) => ({ ...note, kind: 'enqueue', body }));
  }

  /** The caller is gone, or is about to be. */
  customerDisconnected(reason: string): Promise<void> {
    const { callId } = this.place;
    const body = { reason: reason.slice(0, MAX_REASON_CHARS), at: isoNow() };
    return this.add((note) => ({ ...note, kind: 'customer_disconnected', callId, body }));
  }

  /** A lifecycle event of the call, for the desk (R130). */
  event(event: string, data?: Record<string, unknown>): Promise<void> {
    const { callId } = this.place;
    const body = { event, at: isoNow(), ...(data ? { data } : {}) };
    return this.add((note) => ({ ...note, kind: 'event', callId, body }));
  }

  /** After the last note. */
  async close(): Promise<void> {
    await this.writes;
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
  }

  private add(make: (note: Pick<DeskNote, 'v' | 'seq' | 'origin'>) => DeskNote): Promise<void> {
    const written = this.writes.then(async () => {
      const note = make({ v: SPOOL_VERSION, seq: this.seq + 1, origin: this.origin });
      await this.append(`${JSON.stringify(note)}\n`);
      this.seq += 1;
      tellMain({ type: 'desk_notes', callId: this.place.callId });
    });
    this.writes = written.catch(() => undefined);
    return written;
  }

  private async append(line: string): Promise<void> {
    if (!this.file) {
      this.file = await open(join(this.place.folder, HANDOFF_FILE), 'a', 0o600);
      await syncFolder(this.place.folder);
    }
    try {
      await this.file.appendFile(line);
      await this.file.datasync();
    } catch (error) {
      // A torn line may stand there; a line break keeps the next note readable.
      await this.file.appendFile('\n').catch(() => undefined);
      throw error;
    }
  }
}

const MAX_REASON_CHARS = 200;

/** The base under which the desk's routes lie: where results go, without the path of the results. */
export function deskBase(webhookUrl: string): string {
  if (!URL.canParse(webhookUrl)) return webhookUrl;
  const { origin, pathname } = new URL(webhookUrl);
  return pathname.endsWith(RESULTS_PATH) ? `${origin}${pathname.slice(0, -RESULTS_PATH.length)}` : origin;
}
