import type { CallDurations } from './call-durations.ts';
import type { CallEvent } from './call-events.ts';
import type {
  CallbackRequest,
  CallResults,
  DisconnectedBy,
  QcResult,
  TranscriptEntry,
  UsageMetric,
} from './call-results.ts';
import type { JournalCall } from './spool.ts';

/** Everything that a results payload is made of, whether a slot ended well or main salvaged its journal. */
export interface CallOutcome {
  call: JournalCall;
  disconnectedBy: DisconnectedBy;
  /** So far. Those that its `disconnected` event tells stand before them: what follows makes no call longer. */
  lengths: CallDurations;
  transcript: TranscriptEntry[];
  events: CallEvent[];
  usage: UsageMetric[];
  /** False where no audio was kept. */
  recorded: boolean;
  endDetail: Record<string, unknown>;
  /** What was made of the call after it; absent where nothing was asked, or nothing came of it. */
  postCall?: PostCallOutcome;
}

export interface PostCallOutcome {
  analysis: Record<string, unknown> | null;
  qc: QcResult | null;
  callback: CallbackRequest | null;
}

/**
 * The results payload with every field of the interface (R91 to R116). The slot and main's salvage both
 * build theirs here, so a crashed call's result has the shape of any other.
 */
export function assembleResults(outcome: CallOutcome): CallResults {
  const { call } = outcome;
  const lengths = lengthsOf(outcome);
  return {
    session_id: call.sessionId,
    bot_id: call.botId,
    stream_id: call.streamId,
    caller_id: call.callerId,
    from_number: call.fromNumber,
    call_duration_seconds: round(lengths.duration_seconds),
    call_direction: call.direction,
    disconnected_by: outcome.disconnectedBy,
    // An entry whose words were never heard is no part of what was said.
    transcript: outcome.transcript.filter(({ text }) => text !== ''),
    recording_url: outcome.recorded ? call.recordingUrl : null,
    recording_key: outcome.recorded ? call.recordingKey : null,
    post_call_analysis: outcome.postCall?.analysis ?? {},
    usage_metrics: outcome.usage,
    events: outcome.events,
    ...transferFields(outcome.events),
    raw_duration_seconds: round(lengths.raw_duration_seconds),
    billable_duration_seconds: lengths.billable_duration_seconds,
    transport: call.transport,
    ...roomFields(call, outcome.events),
    end_detail: outcome.endDetail,
    ...(outcome.postCall?.qc ? { qc: outcome.postCall.qc } : {}),
    ...(outcome.postCall?.callback ? { callback: outcome.postCall.callback } : {}),
  };
}

/** What a call through a room has beside a socket call, under the names of the call record (D-48). */
function roomFields(call: JournalCall, events: readonly CallEvent[]) {
  if (call.roomName === undefined) return {};
  const answered = events.find((entry) => entry.event === 'answered');
  return {
    call_id: call.callId ?? null,
    room_name: call.roomName,
    ...(call.toNumber ? { to_number: call.toNumber } : {}),
    ...(call.trunkId === undefined ? {} : { trunk_id: call.trunkId }),
    ringing_at: call.ringingAt ?? null,
    answered_at: textOrNull(answered?.at),
  };
}

/**
 * `was_transferred` is true only when `transfer_sent` fired and no later `transfer_failed` undid it (R114 to R116).
 */
export function transferFields(events: readonly CallEvent[]) {
  const last = events.findLast(
    (entry) => entry.event === 'transfer_sent' || entry.event === 'transfer_failed',
  );
  const sent = events.findLast((entry) => entry.event === 'transfer_sent');
  // A failure stays told beside a later try that succeeded.
  const failed = events.findLast((entry) => entry.event === 'transfer_failed');
  // Where to and why is told for a transfer that came to nothing too; the reason of a failure is another one.
  const asked = events.findLast((entry) => entry.event === 'transfer_requested') ?? sent;
  return {
    was_transferred: last?.event === 'transfer_sent',
    transfer_destination: textOrNull(asked?.transfer_number),
    transfer_target: textOrNull(asked?.transfer_target),
    transfer_reason: textOrNull(asked?.reason),
    transfer_method: textOrNull(asked?.transfer_method),
    transfer_at: sent?.ts ?? null,
    transfer_failed_reason: failed ? (textOrNull(failed.reason) ?? 'unknown') : null,
  };
}

/** How long the call was, and since when. */
export function lengthsOf({ lengths, events }: Pick<CallOutcome, 'lengths' | 'events'>): CallDurations {
  const told = events.findLast((entry) => entry.event === 'disconnected');
  return {
    duration_seconds: told?.ts ?? lengths.duration_seconds,
    raw_duration_seconds: told?.raw_duration_seconds ?? lengths.raw_duration_seconds,
    billable_duration_seconds: told?.billable_duration_seconds ?? lengths.billable_duration_seconds,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
