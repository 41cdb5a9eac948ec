/**
 * Lifecycle entries of the results payload (R167 to R172): every name that the runtime writes, with
 * the keys that may stand beside `event` and `ts`. docs/results.md says what each means; `test/contracts` holds the
 * two together, and the events of a call against this list.
 */
export const CALL_EVENTS = {
  // The call and its end.
  dialling: [],
  answered: ['ring_ms', 'at'],
  not_answered: ['sip_code', 'sip_status', 'reason', 'ring_ms'],
  call_started: [],
  duration_warning: ['seconds_left'],
  disconnected: [
    'by',
    'trigger',
    'reason',
    'duration_seconds',
    'raw_duration_seconds',
    'billable_duration_seconds',
    'error',
  ],
  slot_died: [],
  slot_hung: [],
  post_call_failed: ['stage', 'error'],

  // Turns of the caller.
  user_turn: [
    'text',
    'ended_at',
    'decided_by',
    'probability',
    'reason',
    'endpoint_ms',
    'transcribe_ms',
    'confidence',
    'note',
  ],
  empty_turn: ['note'],
  turn_withdrawn: ['text', 'reply'],
  low_confidence: ['confidence', 'action'],
  pause_learned: ['silence_ms', 'reason'],
  speculation: ['status', 'reply', 'prompt_tokens', 'completion_tokens', 'reason'],
  timer_expired: ['timer', 'count'],

  // The bot speaks, and is spoken over.
  reply_started: ['reply', 'kind', 'response_ms', 'endpoint_ms', 'transcribe_ms', 'think_and_speak_ms'],
  overlap: ['text', 'meaning', 'reply'],
  echo: ['text', 'delay_ms', 'loss_db'],
  bot_held: ['reply', 'onset_ms', 'heard_ms'],
  bot_resumed: ['reply', 'duration_ms', 'reason'],
  interrupted: ['reply', 'heard', 'unheard', 'dropped_ms', 'reason', 'onset_ms'],
  filler: ['line', 'reason'],
  re_engagement: ['line'],
  rescue_spoken: ['line', 'reason'],
  closing: ['trigger', 'phrase'],
  closing_cancelled: ['trigger', 'reason'],
  text_filtered: ['counts', 'reply'],

  // Tools and transfer.
  tool_call: ['function', 'tool', 'args', 'status', 'error', 'note'],
  tool_result: ['function', 'tool', 'args', 'status', 'duration_ms', 'error', 'note'],
  transfer_requested: ['transfer_number', 'transfer_headers', 'transfer_target', 'transfer_method', 'reason'],
  transfer_sent: [
    'transfer_number',
    'transfer_headers',
    'transfer_target',
    'transfer_method',
    'reason',
    'sip_code',
    'sip_status',
    'note',
  ],
  transfer_failed: [
    'transfer_number',
    'transfer_headers',
    'transfer_target',
    'transfer_method',
    'reason',
    'sip_code',
    'sip_status',
    'error',
    'note',
  ],

  // The way to a person at the agent desk.
  handoff_requested: ['reason', 'room'],
  handoff_failed: ['error'],
  handoff_queued: ['position', 'agents_available', 'timeout_seconds'],
  hold_line: ['line'],
  agent_joined: ['identity', 'duration_ms'],
  agent_left: ['identity'],

  // Who answered, digits and tones.
  screening: ['verdict', 'evidence', 'is_provisional', 'is_retraction', 'duration_ms'],
  voicemail_detected: ['by', 'evidence', 'duration_ms'],
  beep: ['hz', 'duration_ms'],
  message_left: ['status', 'reason', 'duration_ms'],
  dtmf: ['digit', 'source', 'duration_ms'],
  digits_collected: ['digits', 'status', 'ended_by', 'duration_ms'],
  dtmf_sent: ['digits'],

  // Providers.
  provider_failed: [
    'provider',
    'family',
    'class',
    'status',
    'vendor_code',
    'request_id',
    'error',
    'reply',
    'stage',
    'attempt',
    'in_answer',
    'given_ms',
  ],
  provider_reconnected: ['provider', 'family', 'after', 'attempt', 'after_ms', 'replayed_ms'],
  provider_retried: ['provider', 'family', 'class', 'after_ms'],
  provider_switched: ['provider', 'family', 'from', 'reason'],
  provider_hedged: ['provider', 'family', 'late'],
  provider_audio_dropped: ['provider', 'family', 'ms', 'dropped_ms'],
  provider_request: ['provider', 'family', 'wait_ms', 'request_id'],
  provider_cache: ['provider', 'family', 'action', 'cache_name', 'tokens', 'error'],
  history_repaired: ['provider', 'family', 'repairs'],

  // The line and what was measured on it.
  audio_gap: ['note'],
  protocol_noise: ['counts'],
  room_connection: ['status', 'duration_ms', 'reason'],
  hung_up: ['status', 'attempts', 'duration_ms'],
  wrong_sample_rate: ['announced_hz', 'measured_hz', 'used_hz'],
  recording_stopped: ['error'],
  waterfall: [
    'turn',
    'reply',
    'gap_ms',
    'first_sound_ms',
    'carrier_ms',
    'turn_wait_ms',
    'stt_ms',
    'llm_ms',
    'clause_ms',
    'tool_ms',
    'tts_ms',
    'pacing_ms',
    'playout_ms',
    'filler_ms',
    'overlap_ms',
    'early_ms',
    'recorded_gap_ms',
  ],
  line_quality: ['score', 'parts', 'facts'],
} as const satisfies Record<string, readonly string[]>;

export type CallEventName = keyof typeof CALL_EVENTS;

/** What ended a call, as `trigger` of its event says (R168). */
export type HangupTrigger = 'end_call_tool' | 'closure_phrase' | 'dead_air_timeout' | 'max_duration';

export interface CallEvent {
  event: CallEventName;
  /** Seconds from call start. */
  ts: number;
  by?: string;
  trigger?: HangupTrigger;
  /** A built-in tool's name, `custom` for any other. */
  function?: string;
  args?: unknown;
  status?: string;
  transfer_number?: string;
  transfer_headers?: Record<string, string>;
  reason?: string;
  sip_code?: number;
  sip_status?: string;
  error?: string | Record<string, unknown>;
  duration_ms?: number;
  duration_seconds?: number;
  raw_duration_seconds?: number;
  billable_duration_seconds?: number;
  note?: string;
  [extra: string]: unknown;
}
