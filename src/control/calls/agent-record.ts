import { createHash } from 'node:crypto';
import { DEFAULT_MAX_CALL_SECONDS } from '../../contracts/limits.ts';
import { type ActiveCall, type CallRecord, newRecord } from './call-record.ts';

/** What of a call at the agent desk is written down, all at once or as it becomes known. */
export interface AgentCall {
  /** The desk's `call_id`: one record per parent call, however often it is written (R45). */
  parent_call_id: string;
  created_at: string;
  bot_id: string;
  bot_name: string;
  caller_id: string;
  call_direction: ActiveCall['call_direction'];
  timezone: string;
  /** Empty values say nothing: they never blank what an earlier write has set (D-49). */
  known: Partial<Pick<CallRecord, AgentField>>;
}

type AgentField =
  | 'disconnected_by'
  | 'disposition'
  | 'agent'
  | 'answered_at'
  | 'ended_at'
  | 'queue_wait_seconds'
  | 'talk_seconds'
  | 'wrap_up_seconds'
  | 'call_duration_seconds'
  | 'transcript'
  | 'events'
  | 'recording_key'
  | 'recording_url'
  | 'summary'
  | 'sentiment'
  | 'tags'
  | 'transfer_reason'
  | 'end_detail'
  | 'callback'
  | 'campaign_id'
  | 'room_name'
  | 'call_id';

/** No session of another call begins so. */
export const DESK_SESSION_PREFIX = 'agent:';

/** The session that the record of a desk call stands under, always the same for one parent call. */
export function agentSessionId(parentCallId: string): string {
  const plain = /^[A-Za-z0-9._:@-]{1,150}$/.test(parentCallId);
  return `${DESK_SESSION_PREFIX}${plain ? parentCallId : createHash('sha256').update(parentCallId).digest('hex')}`;
}

/** The record of a desk call: a new one, or the standing one with what has become known since. */
export function agentRecord(standing: CallRecord | undefined, call: AgentCall, nowIso: string): CallRecord {
  const base = standing ?? newAgentRecord(call);
  const known = Object.fromEntries(Object.entries(call.known).filter(([, value]) => !isBlank(value)));
  const merged: CallRecord = { ...base, ...known, updated_at: nowIso };
  return {
    ...merged,
    status:
      merged.disconnected_by === null
        ? base.status
        : merged.disconnected_by === 'error'
          ? 'failed'
          : 'completed',
    version: standing ? standing.version + 1 : 1,
  };
}

function newAgentRecord(call: AgentCall): CallRecord {
  const { parent_call_id, known: _known, ...fields } = call;
  return {
    ...newRecord({
      ...fields,
      session_id: agentSessionId(parent_call_id),
      call_type: 'agent',
      stream_id: '',
      from_number: null,
      connected_event: {},
      sip_context: {},
      crm_data: {},
      integration_log: [],
      campaign: null,
      // The push tells of the bot's call; the desk's record is the platform's own.
      skip_post_push: true,
      max_call_duration_seconds: DEFAULT_MAX_CALL_SECONDS,
    }),
    parent_call_id,
  };
}

function isBlank(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}
