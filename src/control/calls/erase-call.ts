import { type Static, Type } from 'typebox';
import type { CallRecord } from './call-record-schema.ts';

/** What stays of a deletion: that it happened, when, by whom and what it reached. Nothing personal of the caller. */
export const DeletionReceipt = Type.Object({
  receipt_id: Type.String(),
  session_id: Type.String(),
  deleted_at: Type.String({ format: 'date-time' }),
  deleted_by: Type.Object({ type: Type.String(), id: Type.Union([Type.String(), Type.Null()]) }),
  erased_fields: Type.Array(Type.String()),
  recording: Type.Union(
    [
      Type.Literal('none'),
      Type.Literal('removed'),
      Type.Literal('already_gone'),
      Type.Literal('kept_for_another_call'),
    ],
    { description: 'What became of the recording file' },
  ),
  exports_gone_by: Type.String({
    format: 'date-time',
    description: 'Export files made before the deletion may hold the call until then',
  }),
});
export type DeletionReceipt = Static<typeof DeletionReceipt>;

/** The record without anything personal; what figures and links need stays. */
export function erasedRecord(record: CallRecord, deletedAt: string): CallRecord {
  return {
    ...record,
    ...ERASED,
    status: record.status,
    version: record.version + 1,
    updated_at: deletedAt,
    deleted_at: deletedAt,
    pii_scrubbed_at: deletedAt,
  };
}

/** A campaign's row leads to its contact, an agent's talk is his own data: both links go with the caller's. */
const ERASED = {
  stream_id: '',
  caller_id: '',
  from_number: null,
  to_number: null,
  room_name: null,
  call_id: null,
  parent_call_id: null,
  campaign_call_id: null,
  connected_event: {},
  sip_context: {},
  crm_data: {},
  integration_log: [],
  transcript: null,
  events: null,
  post_call_analysis: null,
  end_detail: null,
  transfer_destination: null,
  transfer_target: null,
  transfer_reason: null,
  transfer_failed_reason: null,
  agent: null,
  tags: [],
  disposition: null,
  qc: null,
  sentiment: null,
  summary: null,
  callback: null,
  consent: null,
  recording_url: null,
  recording_key: null,
  recording: null,
  knowledge_hits: [],
  results_extra: {},
  // The digest of a short call could be guessed from its words.
  results_sha256: null,
} satisfies Partial<CallRecord>;

export const ERASED_FIELDS: readonly string[] = Object.keys(ERASED);
