import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RESULTS_MAX_BYTES } from '../../contracts/limits.ts';
import { RECORDING_FILE, RESULT_FILE } from '../../contracts/spool.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import { syncFolder } from '../../platform/durable-files.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LinkSigner } from '../../platform/recording-link.ts';
import type { OutboxRow, ResultsOutbox } from './results-outbox.ts';
import type { SalvageCause } from './salvage.ts';
import { readSpoolFolder, type SpoolReading } from './spool-reader.ts';
import { storeRecording } from './store-recording.ts';

/** Folders that are taken in at once; the rest waits its turn. */
const INTAKES_AT_ONCE = 2;

export interface SpoolIntakeOptions {
  spoolFolder: string;
  recordingsFolder: string;
  outbox: ResultsOutbox;
  /** What signs links to the recordings of this host; without it such calls have no `recording_url`. */
  links?: () => LinkSigner;
  /** Takes what the folder holds for the agent desk, before it goes. A rejection leaves the folder for another try. */
  takeNotes?(callId: string, folder: string, how: { isDead: boolean }): Promise<void>;
  /** The row is on disk and the folder is gone: delivery may start. */
  onTaken(row: OutboxRow): void;
  logger: Logger;
}

/**
 * Takes finished calls from the spool into the outbox. The order makes a crash harmless at every point: salvage where
 * there is no result, recording to its place, row to disk, folder away, and only then delivery. Each step finds out for
 * itself whether an earlier run has done it.
 */
export class SpoolIntake {
  private readonly options: SpoolIntakeOptions;
  private readonly queue: { callId: string; cause: SalvageCause }[] = [];
  private readonly working = new Set<string>();
  private readonly foreign = new Set<string>();
  private readonly failed = new Map<string, string>();
  private settledWaiters: (() => void)[] = [];
  private stopped = false;

  constructor(options: SpoolIntakeOptions) {
    this.options = options;
  }

  /** Folders of another spool version, left alone. */
  get foreignFolders(): number {
    return this.foreign.size;
  }

  /** Folders that could not be taken in; they are tried again by the next {@link take}. */
  get failedFolders(): number {
    return this.failed.size;
  }

  /** Whether the folder is being taken in, or must be left alone. */
  isKnown(callId: string): boolean {
    return this.working.has(callId) || this.foreign.has(callId) || this.isQueued(callId);
  }

  /** Queues the folder of a call that has ended, whichever way. Repeats are harmless. */
  take(callId: string, cause: SalvageCause): void {
    if (this.stopped || this.isKnown(callId)) return;
    this.queue.push({ callId, cause });
    this.pump();
  }

  /** Marks a folder that another version of the product wrote. */
  leaveForeign(callId: string, detail: string): void {
    if (this.foreign.has(callId)) return;
    this.foreign.add(callId);
    this.options.logger.error({ call_id: callId, detail }, 'a spool folder of another version is left alone');
  }

  /** Resolves when nothing is queued or under way. */
  async settled(): Promise<void> {
    if (this.working.size === 0 && this.queue.length === 0) return;
    await new Promise<void>((resolve) => {
      this.settledWaiters.push(resolve);
    });
  }

  /** Takes nothing more; what is under way finishes. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.queue.length = 0;
    await this.settled();
  }

  private isQueued(callId: string): boolean {
    return this.queue.some((item) => item.callId === callId);
  }

  private pump(): void {
    while (this.working.size < INTAKES_AT_ONCE) {
      const item = this.queue.shift();
      if (!item) break;
      this.working.add(item.callId);
      void this.takeIn(item.callId, item.cause).then((row) => {
        this.working.delete(item.callId);
        if (row) this.options.onTaken(row);
        this.pump();
      });
    }
    if (this.working.size > 0 || this.queue.length > 0) return;
    for (const resolve of this.settledWaiters.splice(0)) resolve();
  }

  private async takeIn(callId: string, cause: SalvageCause): Promise<OutboxRow | null> {
    const { logger } = this.options;
    try {
      const row = await takeFolder(callId, cause, this.options);
      this.failed.delete(callId);
      return row;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unknown_version') {
        this.leaveForeign(callId, error.message);
        return null;
      }
      const reason = describeError(error);
      // The sweep repeats a failing intake every few seconds; its log line stands once per reason.
      if (this.failed.get(callId) !== reason) {
        this.failed.set(callId, reason);
        logger.error(
          { call_id: callId, err: reason },
          'a finished call could not be taken in; it is tried again',
        );
      }
      return null;
    }
  }
}

/** All steps for one folder. Null where no session existed or the folder is gone already. */
export async function takeFolder(
  callId: string,
  cause: SalvageCause,
  options: Pick<
    SpoolIntakeOptions,
    'spoolFolder' | 'recordingsFolder' | 'outbox' | 'links' | 'takeNotes' | 'logger'
  >,
): Promise<OutboxRow | null> {
  const folder = join(options.spoolFolder, callId);
  const facts = { call_id: callId };
  if (!(await isFolder(folder))) return null;
  const reading = await readSpoolFolder(folder, cause, options.links?.() ?? null);
  if (!reading) {
    await removeFolder(folder);
    options.logger.info(facts, 'a call ended before its session existed; nothing is owed to anyone');
    return null;
  }
  if (reading.salvaged) {
    options.logger.warn(
      { ...facts, session_id: reading.sessionId, cause },
      'a call was salvaged from its journal',
    );
  }
  await options.takeNotes?.(callId, folder, { isDead: reading.salvaged });
  await placeRecording(folder, reading, options);
  if (reading.body.length > RESULTS_MAX_BYTES) {
    options.logger.warn({ ...facts, bytes: reading.body.length }, 'a result is larger than receivers accept');
  }
  const nowMs = Date.now();
  const { row } = await options.outbox.add(
    {
      callId,
      sessionId: reading.sessionId,
      webhookUrl: reading.webhookUrl,
      createdAtMs: nowMs,
      attempts: 0,
      nextAttemptAtMs: nowMs,
      lastError: null,
    },
    reading.body,
  );
  await removeFolder(folder);
  return row;
}

async function placeRecording(
  folder: string,
  reading: SpoolReading,
  options: Pick<SpoolIntakeOptions, 'recordingsFolder' | 'logger'>,
): Promise<void> {
  if (reading.recordingKey === null) return;
  const facts = { session_id: reading.sessionId };
  try {
    const source = join(folder, RECORDING_FILE);
    if (await storeRecording(source, options.recordingsFolder, reading.recordingKey)) return;
    options.logger.error(facts, 'the recording that a result names does not exist');
  } catch (error) {
    // A key that leads astray must not hold the result back for ever; anything else is worth another try.
    if (!(error instanceof AppError)) throw error;
    options.logger.error({ ...facts, err: error.message }, 'a recording was not kept');
  }
}

/** The result goes last: as long as anything is left, the folder still says what it is. */
export async function removeFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== RESULT_FILE) await rm(join(folder, name), { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true });
  await syncFolder(dirname(folder));
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
