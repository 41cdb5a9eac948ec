import { stringify } from 'csv-stringify/sync';
import { type CallRow, CallRow as CallRowSchema } from '../calls/call-record-schema.ts';
import { maskNumbers } from '../calls/mask-record.ts';

/** The columns of a CSV export: the rows of the list, agent and tags spelled out. */
const COLUMNS: readonly string[] = Object.keys(CallRowSchema.properties).flatMap((name) =>
  name === 'agent' ? ['agent_id', 'agent_name'] : [name],
);

/** RFC 4180, with the line of names. UTF-8 without a mark at its start. */
export function csvHeader(): string {
  return stringify([COLUMNS]);
}

/**
 * Lines of a CSV file. A text that a spreadsheet would run as a formula gets an apostrophe before it (OWASP, CSV
 * injection): numbers of callers begin with a plus sign, so they carry one.
 */
export function csvLines(rows: readonly CallRow[], masked: boolean): string {
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
