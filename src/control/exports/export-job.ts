import { type Static, Type } from 'typebox';
import { CallFilterBody } from '../calls/call-query.ts';
import type { CallFilter } from '../calls/call-search.ts';
import type { Position } from '../calls/position-streams.ts';

export const ExportFormat = Type.Union([Type.Literal('csv'), Type.Literal('jsonl')]);
export type ExportFormat = Static<typeof ExportFormat>;

export const ExportState = Type.Union([
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
