import { CallResults, type DisconnectedBy } from '../../contracts/call-results.ts';
import { DEFAULT_MAX_CALL_SECONDS } from '../../contracts/limits.ts';
import type { CallRecord, CallRow, CallStatus } from './call-record-schema.ts';

export type { CallRecord, CallRow, CallStatus } from './call-record-schema.ts';

/** What the caller brought and the config route found out, before any word is spoken. */
export interface ActiveCall {
  session_id: string;
  bot_id: string;
  bot_name: string;
  call_type: CallRecord['call_type'];
  stream_id: string;
  caller_id: string;
  from_number: string | null;
  call_direction: 'inbound' | 'outbound';
  timezone: string;
  created_at: string;
  /** Without the reserved flags (R85 to R89). */
  connected_event: Record<string, unknown>;
  sip_context: Record<string, unknown>;
  crm_data: Record<string, unknown>;
  integration_log: Record<string, unknown>[];
  campaign: CampaignLink | null;
  skip_post_push: boolean;
  /** The `lost` sweep waits for this and ten minutes; one hour where nothing is said. */
  max_call_duration_seconds?: number;
  to_number?: string | null;
  transport?: CallRecord['transport'];
  bot_version?: number | null;
  call_id?: string | null;
  room_name?: string | null;
  trunk_id?: string | null;
  fleet_url?: string | null;
}

export interface CampaignLink {
  campaign_id: string | null;
  campaign_call_id: string | null;
  attempt: number | null;
  run_number: number | null;
}

/** An attempt that ended before a session was served (D-20). */
export type RefusedBy = 'outside_hours' | 'rejected' | 'no_answer';

/** The record of a call that starts now. */
export function newRecord(call: ActiveCall): CallRecord {
  const { campaign, ...fields } = call;
  return {
    id: recordId(call.session_id),
    ...EMPTY,
    ...fields,
    max_call_duration_seconds: call.max_call_duration_seconds ?? DEFAULT_MAX_CALL_SECONDS,
    campaign_id: campaign?.campaign_id ?? null,
    campaign_call_id: campaign?.campaign_call_id ?? null,
    attempt: campaign?.attempt ?? null,
    run_number: campaign?.run_number ?? null,
    status: 'active',
    updated_at: call.created_at,
  };
}

/** The record of a call that was turned away before it began. */
export function refusedRecord(call: ActiveCall, by: RefusedBy): CallRecord {
  return {
    ...newRecord(call),
    status: 'not_connected',
    disconnected_by: by,
    ended_at: call.created_at,
    call_duration_seconds: 0,
    billable_duration_seconds: 0,
  };
}

/**
 * Whether the session of this record may be given to another call: the gate turned its call away, or nothing ever came
 * of it. Whether somebody still has that call is not in the record.
 */
export function isWithoutResults(record: CallRecord): boolean {
  return record.results_sha256 === null && record.deleted_at === null && record.call_type !== 'agent';
}

/** The record of a call that takes over the session of an attempt that came to nothing. */
export function reopenedRecord(next: CallRecord, earlier: CallRecord): CallRecord {
  return {
    ...next,
    // No change of the attempt and none of the call may pass for the other.
    version: earlier.version + 1,
    reopened: (earlier.reopened ?? 0) + 1,
  };
}

/** The attempt under an id of its own, once another call has its session. */
export function setAsideRecord(earlier: CallRecord, sessionId: string): CallRecord {
  return {
    ...earlier,
    id: recordId(sessionId),
    session_id: sessionId,
    status: earlier.status === 'active' ? 'lost' : earlier.status,
    version: earlier.version + 1,
  };
}

/** The record with its results. What the config request knew stays where the results are empty. */
export function completedRecord(
  record: CallRecord,
  results: CallResults,
  more: { sha256: string; nowIso: string; autoDisposition: string | null },
): CallRecord {
  const { session_id: _session, bot_id: _bot, ...fields } = results;
  const known = Object.entries(fields).filter(
    ([name, value]) =>
      Object.hasOwn(CallResults.properties, name) && (value !== null || !KEPT_WHERE_NULL.has(name)),
  );
  const extra = Object.entries(fields).filter(([name]) => !Object.hasOwn(CallResults.properties, name));
  const analysis = results.post_call_analysis;
  return {
    ...record,
    ...(Object.fromEntries(known) as Partial<CallRecord>),
    status: finalStatus(results),
    stream_id: results.stream_id || record.stream_id,
    caller_id: results.caller_id || record.caller_id,
    from_number: results.from_number ?? record.from_number,
    disposition:
      record.disposition ?? more.autoDisposition ?? analysed(analysis.disposition, MAX_DISPOSITION_CHARS),
    auto_disposition: more.autoDisposition,
    summary: record.summary ?? analysed(analysis.summary, MAX_SUMMARY_CHARS),
    sentiment: record.sentiment ?? analysed(analysis.sentiment, MAX_DISPOSITION_CHARS),
    late_result: record.status === 'lost',
    updated_at: more.nowIso,
    ended_at: endOf(record, results, more.nowIso),
    version: record.version + 1,
    results_extra: Object.fromEntries(extra),
    results_sha256: more.sha256,
  };
}

export function rowOf(record: CallRecord): CallRow {
  return {
    id: record.id,
    session_id: record.session_id,
    call_type: record.call_type,
    bot_id: record.bot_id,
    bot_name: record.bot_name,
    bot_version: record.bot_version,
    transport: record.transport,
    status: record.status,
    call_direction: record.call_direction,
    caller_id: record.caller_id,
    from_number: record.from_number,
    to_number: record.to_number,
    created_at: record.created_at,
    ended_at: record.ended_at,
    disconnected_by: record.disconnected_by,
    disposition: record.disposition,
    call_duration_seconds: record.call_duration_seconds,
    billable_duration_seconds: record.billable_duration_seconds,
    was_transferred: record.was_transferred,
    late_result: record.late_result,
    tags: record.tags,
    sentiment: record.sentiment,
    agent: record.agent,
    campaign_id: record.campaign_id,
    recording_key: record.recording_key,
    version: record.version,
  };
}

/**
 * The status of a record that has its results (D-48). A voicemail counts as connected where the bot left words on it,
 * that is, where the transcript holds a bot entry that could be heard, and a telephone that either side gave up while it
 * rang does not.
 */
export function finalStatus(results: {
  disconnected_by: DisconnectedBy;
  transcript: readonly { speaker: string; heard?: string }[];
  transport?: string | null;
  answered_at?: string | null;
}): CallStatus {
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
    case 'bot':
    case 'customer':
      return results.transport === 'rtc_sip' && !results.answered_at ? 'not_connected' : 'completed';
    default:
      return 'completed';
  }
}

export function recordId(sessionId: string): string {
  return `call_${sessionId}`;
}

/** What the config request knew already; results without them take nothing away (D-49). */
const KEPT_WHERE_NULL: ReadonlySet<string> = new Set([
  'call_id',
  'room_name',
  'trunk_id',
  'ringing_at',
  'answered_at',
]);

const MAX_DISPOSITION_CHARS = 200;
const MAX_SUMMARY_CHARS = 10_000;

/** The analysis is free JSON from a model: only a text counts, and only so much of it. */
function analysed(value: unknown, maxChars: number): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxChars) : null;
}

/** Results may have waited in an outbox, so the call's own length says when it ended, where the results name it. */
function endOf(record: CallRecord, results: CallResults, nowIso: string): string {
  if (results.raw_duration_seconds === undefined) return nowIso;
  const endMs = Date.parse(record.created_at) + results.raw_duration_seconds * 1_000;
  return endMs < Date.parse(nowIso) ? new Date(endMs).toISOString() : nowIso;
}

const EMPTY = {
  call_id: null,
  room_name: null,
  parent_call_id: null,
  transport: null,
  bot_version: null,
  fleet_url: null,
  worker_id: null,
  to_number: null,
  trunk_id: null,
  ringing_at: null,
  answered_at: null,
  started_at: null,
  ended_at: null,
  call_duration_seconds: null,
  raw_duration_seconds: null,
  billable_duration_seconds: null,
  queue_wait_seconds: null,
  talk_seconds: null,
  wrap_up_seconds: null,
  disconnected_by: null,
  disposition: null,
  auto_disposition: null,
  late_result: false,
  end_detail: null,
  was_transferred: null,
  transfer_destination: null,
  transfer_target: null,
  transfer_reason: null,
  transfer_method: null,
  transfer_at: null,
  transfer_failed_reason: null,
  agent: null,
  tags: [] as string[],
  qc: null,
  sentiment: null,
  summary: null,
  callback: null,
  consent: null,
  transcript: null,
  events: null,
  post_call_analysis: null,
  usage_metrics: null,
  latency: null,
  recording_url: null,
  recording_key: null,
  recording: null,
  knowledge_hits: [] as Record<string, unknown>[],
  results_extra: {} as Record<string, unknown>,
  schema_version: 2 as const,
  version: 1,
  deleted_at: null,
  pii_scrubbed_at: null,
  results_sha256: null,
} satisfies Partial<CallRecord>;
