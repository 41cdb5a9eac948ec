import { type Static, Type } from 'typebox';

/**
 * The call results payload (R91 to R116): what a slot leaves, what main delivers, what the
 * control plane accepts. Slots import the types only; the schema library stays out of their processes.
 */
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const DisconnectedBy = Type.Union([
  Type.Literal('bot'),
  Type.Literal('customer'),
  Type.Literal('voicemail'),
  Type.Literal('RNR'),
  Type.Literal('outside_hours'),
  Type.Literal('no_answer'),
  Type.Literal('rejected'),
  Type.Literal('timeout'),
  Type.Literal('transfer_to_agent'),
  Type.Literal('no_agent'),
  Type.Literal('error'),
]);
export type DisconnectedBy = Static<typeof DisconnectedBy>;

export const TranscriptEntry = Type.Object(
  {
    speaker: Type.String({ description: '`customer` or `bot`' }),
    text: Type.String({ description: 'For the bot: what the caller could hear' }),
    timestamp: Type.Number({ description: 'Seconds from call start' }),
    overlap: Type.Optional(
      Type.Boolean({ description: 'Said over the bot without taking the floor; nobody answers it' }),
    ),
    generated: Type.Optional(Type.String({ description: 'What the bot meant to say, where it was cut' })),
    heard: Type.Optional(
      Type.Union(
        [Type.Literal('mark'), Type.Literal('words'), Type.Literal('estimate'), Type.Literal('none')],
        {
          description: 'What proves that the caller heard it',
        },
      ),
    ),
  },
  { additionalProperties: true },
);
export type TranscriptEntry = Static<typeof TranscriptEntry>;

export const CacheUse = Type.Object({
  enabled: Type.Boolean(),
  status: Type.String(),
  namespace: Type.String(),
  version: Type.String(),
  reason: Nullable(Type.String()),
});
export type CacheUse = Static<typeof CacheUse>;

export const UsageMetric = Type.Object({
  type: Type.Union([
    Type.Literal('llm'),
    Type.Literal('tts'),
    Type.Literal('ttfb'),
    Type.Literal('post_call'),
    Type.Literal('qc'),
  ]),
  processor: Nullable(Type.String()),
  model: Nullable(Type.String()),
  prompt_tokens: Nullable(Type.Integer()),
  completion_tokens: Nullable(Type.Integer()),
  total_tokens: Nullable(Type.Integer()),
  cache_read_input_tokens: Nullable(Type.Integer()),
  cache_creation_input_tokens: Nullable(Type.Integer()),
  cache: Nullable(CacheUse),
  characters: Nullable(Type.Integer()),
  ttfb_ms: Nullable(Type.Number()),
  discarded: Type.Optional(
    Type.Boolean({
      description:
        'Of `llm`: asked in vain. The caller said other words (`llm.speculate`), another model answered first, or nobody waited any longer',
    }),
  ),
});
export type UsageMetric = Static<typeof UsageMetric>;

export const ResultEvent = Type.Unsafe<{ event: string; ts: number; [extra: string]: unknown }>(
  Type.Object({ event: Type.String(), ts: Type.Number() }, { additionalProperties: true }),
);

/** What the bot's quality prompt made of a call. Ours beside the fields of the interface. */
export const QcResult = Type.Object(
  {
    score: Nullable(Type.Number({ description: '`score` of the model’s answer, where it is a number' })),
    flags: Type.Array(Type.String(), { description: '`flags` of the answer, where it is a list of texts' }),
    result: Type.Record(Type.String(), Type.Unknown(), { description: 'The whole answer' }),
  },
  { additionalProperties: true },
);
export type QcResult = Static<typeof QcResult>;

/** Whether the caller wants to be called back, and when. Ours beside the fields of the interface. */
export const CallbackRequest = Type.Object(
  {
    requested: Type.Boolean(),
    at: Nullable(Type.String({ description: 'ISO 8601 UTC; null where nothing was requested' })),
    timezone: Type.String({ description: 'In which the caller spoke of the time' }),
    job_id: Nullable(Type.String()),
    reason: Nullable(Type.String()),
  },
  { additionalProperties: true },
);
export type CallbackRequest = Static<typeof CallbackRequest>;

export const CallResults = Type.Object(
  {
    session_id: Type.String({ minLength: 1, maxLength: 200 }),
    stream_id: Type.String(),
    caller_id: Type.String(),
    from_number: Nullable(Type.String()),
    call_duration_seconds: Type.Number(),
    call_direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
    disconnected_by: DisconnectedBy,
    transcript: Type.Array(TranscriptEntry),
    recording_url: Nullable(Type.String()),
    recording_key: Nullable(Type.String()),
    post_call_analysis: Type.Record(Type.String(), Type.Unknown()),
    usage_metrics: Type.Array(UsageMetric),
    events: Type.Array(ResultEvent),
    was_transferred: Type.Boolean(),
    transfer_destination: Nullable(Type.String()),
    transfer_target: Nullable(Type.String()),
    transfer_reason: Nullable(Type.String()),
    transfer_method: Nullable(Type.String()),
    transfer_at: Nullable(Type.Number()),
    transfer_failed_reason: Nullable(Type.String()),
    raw_duration_seconds: Type.Optional(Type.Number()),
    billable_duration_seconds: Type.Optional(Type.Number()),
    end_detail: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    call_id: Type.Optional(Nullable(Type.String({ description: 'As the ingress named the call' }))),
    room_name: Type.Optional(Nullable(Type.String())),
    transport: Type.Optional(
      Type.Union([
        Type.Literal('websocket'),
        Type.Literal('partner'),
        Type.Literal('rtc_sip'),
        Type.Literal('rtc_widget'),
      ]),
    ),
    to_number: Type.Optional(Nullable(Type.String({ description: 'Number that was called' }))),
    trunk_id: Type.Optional(Nullable(Type.String())),
    ringing_at: Type.Optional(Nullable(Type.String({ description: 'ISO 8601 UTC' }))),
    answered_at: Type.Optional(
      Nullable(Type.String({ description: 'ISO 8601 UTC; null where nobody answered' })),
    ),
    bot_id: Type.Optional(Type.String()),
    qc: Type.Optional(Nullable(QcResult)),
    callback: Type.Optional(Nullable(CallbackRequest)),
  },
  { title: 'CallResults', additionalProperties: true },
);
export type CallResults = Static<typeof CallResults>;
