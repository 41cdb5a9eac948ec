import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { ExportJob } from './export-job.ts';

/** The exports that were asked for. Each promise resolves when what it says is durable. */
export interface ExportStore {
  /** Throws `at_capacity` while {@link MAX_WAITING} wait. */
  add(job: ExportJob): Promise<void>;
  get(exportId: string): Promise<ExportJob | null>;
  put(job: ExportJob): Promise<void>;
  remove(exportId: string): Promise<void>;
  /** Oldest first. */
  list(): Promise<ExportJob[]>;
}

/** Exports that wait for their turn; more are refused. */
export const MAX_WAITING = 20;
/** Exports that are kept, ready ones too. */
const MAX_EXPORTS = 200;

export function createExportStore(store: KeyValueStore): ExportStore {
  const jobs: Table<ExportJob> = store.table<ExportJob>('exports');
  const all = () =>
    jobs
      .range({ limit: MAX_EXPORTS })
      .map((entry) => entry.value)
      .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  return {
    add: (job) =>
      store.transaction((writes) => {
        const known = all();
        const waiting = known.filter(({ state }) => state === 'queued' || state === 'running').length;
        if (waiting >= MAX_WAITING || known.length >= MAX_EXPORTS) {
          throw new AppError('at_capacity', 'too many exports wait or are kept; try again in some minutes', {
            details: { retryAfterSeconds: 300 },
          });
        }
        writes.put(jobs, job.export_id, job);
      }),
    get: async (exportId) => jobs.get(exportId) ?? null,
    put: (job) => jobs.put(job.export_id, job),
    remove: async (exportId) => {
      await jobs.remove(exportId);
    },
    list: async () => all(),
  };
}
