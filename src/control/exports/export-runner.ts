import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import { syncFolder } from '../../platform/durable-files.ts';
import type { Logger } from '../../platform/logger.ts';
import { type CallRow, CallRow as CallRowSchema } from '../calls/call-record-schema.ts';
import type { CallPage } from '../calls/call-search.ts';
import type { CallRecordStore } from '../calls/call-store.ts';
import { maskNumbers } from '../calls/mask-record.ts';
import type { ExportJob, ExportStore } from './export-store.ts';

export interface ExportRunnerParts {
  calls: CallRecordStore;
  exports: ExportStore;
  /** Created where it is missing. */
  folder: string;
  logger: Logger;
  nowIso: () => string;
  /** Instead of {@link CHECKPOINT_MS}. */
  checkpointMs?: number;
}

/** Rows of one page; a page is a small fraction of a millisecond's work per row. */
const PAGE_ROWS = 50;
/** The process does other work after so much writing in one go: calls are served by the same loop. */
const SLICE_MS = 2;
/** After each page the export rests, so that it takes no more than its share of the processor. */
const REST_MS = 1;
/** A job is written down so often, with its file synced: a restart repeats at most this much work. */
const CHECKPOINT_MS = 2_000;
/** A larger export fails and says so. */
const MAX_EXPORT_BYTES = 4 * 1_073_741_824;
const EXPIRY_EVERY_MS = 600_000;

/** Writes the exports that wait, one after the other, and removes the old ones. */
export class ExportRunner {
  private readonly parts: ExportRunnerParts;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  private expiry: NodeJS.Timeout | null = null;

  constructor(parts: ExportRunnerParts) {
    this.parts = parts;
  }

  /** Goes on with what a former process left, and looks for expired files. */
  async start(): Promise<void> {
    await mkdir(this.parts.folder, { recursive: true, mode: 0o700 });
    await this.expire();
    this.expiry = setInterval(() => void this.expire().catch(this.logFailure), EXPIRY_EVERY_MS).unref();
    this.wake();
  }

  /** There is a new job. */
  wake(): void {
    if (this.stopped) return;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = this.work()
      .catch(this.logFailure)
      .finally(() => {
        this.running = null;
        if (!this.again) return;
        this.again = false;
        this.wake();
      });
  }

  /** Stops at the next page; the job goes on with the next process. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.expiry) clearInterval(this.expiry);
    await this.running;
  }

  fileOf(job: ExportJob): string {
    return join(this.parts.folder, `${job.export_id}.${job.format}`);
  }

  private async work(): Promise<void> {
    while (!this.stopped) {
      const waiting = await this.parts.exports.list();
      const job = waiting.find(({ state }) => state === 'running' || state === 'queued');
      if (!job) return;
      try {
        await this.write(job);
      } catch (error) {
        this.parts.logger.error({ export_id: job.export_id, err: describeError(error) }, 'export failed');
        const failed = {
          state: 'failed' as const,
          error: sentenceOf(error),
          finished_at: this.parts.nowIso(),
        };
        await this.parts.exports.put({ ...job, ...failed });
        await rm(this.fileOf(job), { force: true });
      }
    }
  }

  private async write(start: ExportJob): Promise<void> {
    const { calls, exports, folder, nowIso } = this.parts;
    let job = start;
    if (job.state === 'queued') {
      const { total, capped } = await calls.count(job.filter);
      job = { ...job, state: 'running', total: capped ? null : total };
      await exports.put(job);
    }
    const file = await open(this.fileOf(job), 'a', 0o600);
    try {
      if ((await file.stat()).size < job.bytes) {
        throw new Error('the file of this export was lost before it was whole; export again');
      }
      await file.truncate(job.bytes);
      let savedAtMs = monotonicMs();
      if (job.bytes === 0 && job.format === 'csv') job = await append(file, job, csvHeader(), 0);
      while (true) {
        if (this.stopped) return;
        const page = await calls.list({
          ...job.filter,
          limit: PAGE_ROWS,
          ...(job.position ? { after: job.position } : {}),
        });
        const text = await this.textOf(job, page);
        job = { ...(await append(file, job, text, page.rows.length)), position: page.next };
        if (job.bytes > MAX_EXPORT_BYTES) throw new Error('the export grew over 4 GB; narrow its filters');
        if (page.next === null) break;
        await sleepMs(REST_MS);
        if (monotonicMs() - savedAtMs < (this.parts.checkpointMs ?? CHECKPOINT_MS)) continue;
        await file.datasync();
        await exports.put(job);
        savedAtMs = monotonicMs();
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(folder);
    await exports.put({ ...job, state: 'ready', position: null, finished_at: nowIso() });
  }

  private async textOf(job: ExportJob, page: CallPage): Promise<string> {
    if (job.format === 'csv') return csvLines(page.rows, job.numbers_masked);
    let text = '';
    let sliceEnd = monotonicMs() + SLICE_MS;
    for (const row of page.rows) {
      // One that was deleted since the page was read stands there with nothing personal in it.
      text += await this.jsonLine(row.session_id, job.numbers_masked);
      if (monotonicMs() < sliceEnd) continue;
      await nextTurn();
      sliceEnd = monotonicMs() + SLICE_MS;
    }
    return text;
  }

  private async jsonLine(sessionId: string, masked: boolean): Promise<string> {
    const { calls } = this.parts;
    const json = masked
      ? JSON.stringify(maskNumbers(await calls.get(sessionId)))
      : await calls.getJson(sessionId);
    return `${json}\n`;
  }

  private async expire(): Promise<void> {
    const now = this.parts.nowIso();
    const kept = new Set<string>();
    for (const job of await this.parts.exports.list()) {
      const done = job.state === 'ready' || job.state === 'failed';
      if (!done || job.expires_at > now) {
        kept.add(`${job.export_id}.${job.format}`);
        continue;
      }
      // The file goes first, so that a crash leaves a job that leads to no file and not the other way round.
      await rm(this.fileOf(job), { force: true });
      await this.parts.exports.remove(job.export_id);
    }
    for (const name of await readdir(this.parts.folder)) {
      if (/^exp_[\w-]+\.(csv|jsonl)$/.test(name) && !kept.has(name)) {
        await rm(join(this.parts.folder, name), { force: true });
      }
    }
  }

  private readonly logFailure = (error: unknown): void => {
    this.parts.logger.error({ err: describeError(error) }, 'exports could not be worked on');
  };
}

async function append(file: FileHandle, job: ExportJob, text: string, rows: number): Promise<ExportJob> {
  const bytes = Buffer.from(text);
  await file.writeFile(bytes);
  return { ...job, rows: job.rows + rows, bytes: job.bytes + bytes.length };
}

function sentenceOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC') return 'the disk of DATA_DIR is full; free some space and export again';
  return describeError(error).slice(0, 300);
}

/** The columns of a CSV export: the rows of the list, agent and tags spelled out. */
const COLUMNS: readonly string[] = Object.keys(CallRowSchema.properties).flatMap((name) =>
  name === 'agent' ? ['agent_id', 'agent_name'] : [name],
);

/** RFC 4180, with the line of names. UTF-8 without a mark at its start. */
function csvHeader(): string {
  return stringify([COLUMNS]);
}

/**
 * Lines of a CSV file. A text that a spreadsheet would run as a formula gets an apostrophe before it (OWASP, CSV
 * injection): numbers of callers begin with a plus sign, so they carry one.
 */
function csvLines(rows: readonly CallRow[], masked: boolean): string {
  const lines = (masked ? maskNumbers(rows) : rows).map((row) => COLUMNS.map((column) => cell(row, column)));
  return stringify(lines, { escape_formulas: true });
}

function cell(row: CallRow, column: string): string {
  if (column === 'agent_id') return row.agent?.id ?? '';
  if (column === 'agent_name') return row.agent?.name ?? '';
  const value = row[column as keyof CallRow];
  if (Array.isArray(value)) return value.join('; ');
  return value === null ? '' : String(value);
}
