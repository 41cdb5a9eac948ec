import { type Static, Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import { CallFilterBody } from '../calls/call-query.ts';
import type { CallFilter } from '../calls/call-search.ts';
import type { Position } from '../calls/position-streams.ts';

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

export const ExportFormat = Type.Union([Type.Literal('csv'), Type.Literal('jsonl')]);
export type ExportFormat = Static<typeof ExportFormat>;

const ExportState = Type.Union([
  Type.Literal('queued'),
  Type.Literal('running'),
  Type.Literal('ready'),
  Type.Literal('failed'),
]);

/** What an export shows of itself. */
export const ExportView = Type.Object({
  export_id: Type.String(),
  state: ExportState,
  format: ExportFormat,
  filters: CallFilterBody,
  numbers_masked: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  expires_at: Type.String({ format: 'date-time' }),
  progress: Type.Object({
    rows: Type.Integer({ description: 'Calls written so far' }),
    total: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Calls that fitted at the start; null where there were too many to count',
    }),
    bytes: Type.Integer(),
  }),
  error: Type.Union([Type.String(), Type.Null()]),
  links: Type.Object({ download: Type.Union([Type.String(), Type.Null()]) }),
});
export type ExportView = Static<typeof ExportView>;

/** An export as it is stored: with it the work goes on after a restart where the file was last known to be whole. */
export interface ExportJob {
  export_id: string;
  state: Static<typeof ExportState>;
  format: ExportFormat;
  filters: Static<typeof CallFilterBody>;
  /** `filters`, narrowed to what the one who asked may see. */
  filter: CallFilter;
  numbers_masked: boolean;
  /** `user:usr_1`, `api_key:key_1` or `core`: only they and administrators get the file. */
  owner: string;
  created_at: string;
  finished_at: string | null;
  expires_at: string;
  rows: number;
  total: number | null;
  /** Bytes of the file that belong to `rows`; what a crash left behind them is cut off. */
  bytes: number;
  position: Position | null;
  error: string | null;
}
