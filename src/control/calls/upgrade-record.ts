import { type ActiveCall, type CallRecord, newRecord } from './call-record.ts';

/** A record of store version 1, as far as it differs: campaign nested, none of the later fields. */
export interface RecordV1 extends Omit<ActiveCall, 'max_call_duration_seconds'> {
  schema_version: 1;
  status: CallRecord['status'];
  disconnected_by: CallRecord['disconnected_by'];
  post_call_analysis: Record<string, unknown> | null;
}

/** Whether the migration still has to bring this record to the present shape. */
export function isRecordV1(record: unknown): record is RecordV1 {
  return (record as { schema_version?: unknown } | null)?.schema_version === 1;
}

/** The record in the present shape. What version 1 did not know is empty, except what its analysis says already. */
export function upgradeRecordV1(old: RecordV1): CallRecord {
  const { schema_version: _version, campaign, ...known } = old;
  const analysis = old.post_call_analysis ?? {};
  return {
    // Written over the empty record, so that every later field is there.
    ...newRecord({ ...known, campaign }),
    ...known,
    schema_version: 2,
    disposition: textOrNull(analysis.disposition),
    summary: textOrNull(analysis.summary),
    sentiment: textOrNull(analysis.sentiment),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 10_000) : null;
}
