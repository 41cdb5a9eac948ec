/**
 * Lifecycle entries of the results payload (interface.md, Events 2 and 3). The list is open-ended; these are the
 * names that the runtime writes today. `ts` is seconds from call start.
 */
export type CallEventName =
  | 'call_started'
  | 'user_turn'
  | 'empty_turn'
  | 'reply_started'
  | 'reply_ended'
  | 'interrupted'
  | 'tool_call'
  | 'dtmf'
  | 're_engagement'
  | 'provider_failed'
  | 'provider_reconnected'
  | 'provider_retried'
  | 'provider_switched'
  | 'provider_hedged'
  | 'provider_audio_dropped'
  | 'provider_cache'
  | 'history_repaired'
  | 'rescue_spoken'
  | 'post_call_failed'
  | 'turn_model_unavailable'
  | 'recording_stopped'
  | 'audio_gap'
  | 'audio_dropped'
  | 'protocol_noise'
  | 'wrong_sample_rate'
  | 'disconnected'
  | 'slot_died'
  | 'slot_hung'
  | 'transfer_sent'
  | 'transfer_failed';

export type HangupTrigger = 'end_call_tool' | 'closure_phrase' | 'dead_air_timeout' | 'max_duration';

export interface CallEvent {
  event: CallEventName;
  ts: number;
  by?: string;
  trigger?: HangupTrigger;
  function?: string;
  args?: unknown;
  status?: string;
  reason?: string;
  error?: string | Record<string, unknown>;
  note?: string;
  duration_ms?: number;
  [extra: string]: unknown;
}
