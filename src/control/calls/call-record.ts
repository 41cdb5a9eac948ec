import { CallResults, type DisconnectedBy } from '../../contracts/call-results.ts';

/** control-plane.md 2.8. `active` from the moment a config is served until the results arrive. */
export type CallStatus = 'active' | 'completed' | 'not_connected' | 'failed';

/** What the caller brought and the config route found out, before any word is spoken. */
export interface ActiveCall {
  session_id: string;
  bot_id: string;
  bot_name: string;
  call_type: 'bot';
  stream_id: string;
  caller_id: string;
  from_number: string | null;
  call_direction: 'inbound' | 'outbound';
  timezone: string;
  created_at: string;
  /** Without the reserved flags (interface.md, Reserved control flags). */
  connected_event: Record<string, unknown>;
  sip_context: Record<string, unknown>;
  crm_data: Record<string, unknown>;
  integration_log: Record<string, unknown>[];
  campaign: CampaignLink | null;
  skip_post_push: boolean;
}

export interface CampaignLink {
  campaign_id: string | null;
  campaign_call_id: string | null;
  attempt: number | null;
  run_number: number | null;
}

/** The fields of the results payload as they stand in the record, empty until the results have come. */
type Outcome = {
  [Name in keyof Omit<CallResults, keyof ActiveCall | 'disconnected_by'>]-?: NonNullable<
    CallResults[Name]
  > | null;
};

/** The call record (interface.md, Call record; control-plane.md 2.8): the active call, and later its outcome. */
export interface CallRecord extends ActiveCall, Outcome {
  schema_version: 1;
  status: CallStatus;
  updated_at: string;
  ended_at: string | null;
  disconnected_by: DisconnectedBy | null;
  /** What the results carried beyond the contract, kept apart so that it cannot pass for a field of the record. */
  results_extra: Record<string, unknown>;
  /** Tells a repeated delivery from a different payload for the same session. */
  results_sha256: string | null;
}

/** One line of a list of calls. */
export interface CallSummary {
  session_id: string;
  bot_id: string;
  bot_name: string;
  status: CallStatus;
  call_direction: 'inbound' | 'outbound';
  caller_id: string;
  created_at: string;
  ended_at: string | null;
  disconnected_by: DisconnectedBy | null;
  call_duration_seconds: number | null;
  recording_key: string | null;
}

export function newRecord(call: ActiveCall): CallRecord {
  return {
    ...call,
    schema_version: 1,
    status: 'active',
    updated_at: call.created_at,
    ended_at: null,
    disconnected_by: null,
    call_duration_seconds: null,
    raw_duration_seconds: null,
    billable_duration_seconds: null,
    transcript: null,
    recording_url: null,
    recording_key: null,
    post_call_analysis: null,
    usage_metrics: null,
    events: null,
    was_transferred: null,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: null,
    transfer_failed_reason: null,
    end_detail: null,
    results_extra: {},
    results_sha256: null,
  };
}

/** The record with its results. What the config request knew stays where the results are empty. */
export function completedRecord(
  record: CallRecord,
  results: CallResults,
  sha256: string,
  nowIso: string,
): CallRecord {
  const { session_id: _session, bot_id: _bot, ...fields } = results;
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(CallResults.properties, name));
  const extra = Object.entries(fields).filter(([name]) => !Object.hasOwn(CallResults.properties, name));
  return {
    ...record,
    ...(Object.fromEntries(known) as Partial<CallRecord>),
    status: finalStatus(results),
    stream_id: results.stream_id || record.stream_id,
    caller_id: results.caller_id || record.caller_id,
    from_number: results.from_number ?? record.from_number,
    updated_at: nowIso,
    ended_at: nowIso,
    results_extra: Object.fromEntries(extra),
    results_sha256: sha256,
  };
}

export function summaryOf(record: CallRecord): CallSummary {
  return {
    session_id: record.session_id,
    bot_id: record.bot_id,
    bot_name: record.bot_name,
    status: record.status,
    call_direction: record.call_direction,
    caller_id: record.caller_id,
    created_at: record.created_at,
    ended_at: record.ended_at,
    disconnected_by: record.disconnected_by,
    call_duration_seconds: record.call_duration_seconds,
    recording_key: record.recording_key,
  };
}

/**
 * control-plane.md 2.8. A voicemail counts as connected where the bot left words on it, that is, where the transcript
 * holds a bot entry that could be heard.
 */
export function finalStatus(results: Pick<CallResults, 'disconnected_by' | 'transcript'>): CallStatus {
  switch (results.disconnected_by) {
    case 'error':
      return 'failed';
    case 'no_answer':
    case 'rejected':
    case 'outside_hours':
      return 'not_connected';
    case 'voicemail':
      return results.transcript.some((entry) => entry.speaker === 'bot' && entry.heard !== 'none')
        ? 'completed'
        : 'not_connected';
    default:
      return 'completed';
  }
}
