import { type Static, type TSchema, Type } from 'typebox';
import { CallResults, DisconnectedBy } from '../../contracts/call-results.ts';

/** The call record (D-48) as a schema: the type, the response and the documentation come from here. */
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Text = Type.String();
const OptionalText = Nullable(Type.String());
const Seconds = Nullable(Type.Number({ minimum: 0 }));
const Time = Type.String({ format: 'date-time' });
const OptionalTime = Nullable(Time);
const OptionalCount = Nullable(Type.Integer());
const Fields = Type.Record(Type.String(), Type.Unknown());
const { properties: results } = CallResults;

/** `active` from the moment a config is served until the results arrive, or until `lost` (lost-calls.ts). */
export const CallStatus = Type.Union([
  Type.Literal('active'),
  Type.Literal('completed'),
  Type.Literal('not_connected'),
  Type.Literal('failed'),
  Type.Literal('lost'),
]);
export type CallStatus = Static<typeof CallStatus>;

export const RecordDirection = Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]);

export const CallType = Type.Union([
  Type.Literal('bot'),
  Type.Literal('agent'),
  Type.Literal('widget'),
  Type.Literal('test'),
]);

export const Transport = Type.Union([
  Type.Literal('rtc_sip'),
  Type.Literal('rtc_widget'),
  Type.Literal('websocket'),
  Type.Literal('partner'),
]);

/** The places where a person or the platform itself ends a call beside the results payload (D-48). */
export const EndedBy = Type.Union([
  ...DisconnectedBy.anyOf,
  Type.Literal('agent'),
  Type.Literal('supervisor'),
]);

export const DispositionText = Type.String({ minLength: 1, maxLength: 200 });
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 20,
  uniqueItems: true,
});

const identity = {
  id: Type.String({ description: '`call_` and the session' }),
  session_id: Text,
  stream_id: Text,
  call_id: OptionalText,
  room_name: OptionalText,
  call_type: CallType,
  parent_call_id: OptionalText,
  transport: Nullable(Transport),
  bot_id: Text,
  bot_name: Text,
  bot_version: OptionalCount,
  fleet_url: OptionalText,
  worker_id: OptionalText,
};

const partiesAndTime = {
  call_direction: RecordDirection,
  caller_id: Text,
  from_number: OptionalText,
  to_number: OptionalText,
  trunk_id: OptionalText,
  created_at: Time,
  ringing_at: OptionalTime,
  answered_at: OptionalTime,
  started_at: OptionalTime,
  ended_at: OptionalTime,
  call_duration_seconds: Seconds,
  raw_duration_seconds: Seconds,
  billable_duration_seconds: Seconds,
  queue_wait_seconds: Seconds,
  talk_seconds: Seconds,
  wrap_up_seconds: Seconds,
  max_call_duration_seconds: Type.Number({ description: 'What the bot allowed when the config was served' }),
  timezone: Text,
};

const outcome = {
  status: CallStatus,
  disconnected_by: Nullable(EndedBy),
  disposition: OptionalText,
  auto_disposition: OptionalText,
  late_result: Type.Boolean({ description: 'The results came after the call had been given up as `lost`' }),
  end_detail: Nullable(Fields),
  was_transferred: Nullable(Type.Boolean()),
  transfer_destination: OptionalText,
  transfer_target: OptionalText,
  transfer_reason: OptionalText,
  transfer_method: OptionalText,
  transfer_at: Nullable(Type.Number()),
  transfer_failed_reason: OptionalText,
  agent: Nullable(Type.Object({ id: Text, name: Text })),
  tags: Tags,
  qc: Nullable(Fields),
  sentiment: OptionalText,
  summary: OptionalText,
  callback: Nullable(Fields),
  consent: Nullable(Fields),
};

const content = {
  connected_event: Fields,
  sip_context: Fields,
  crm_data: Fields,
  integration_log: Type.Array(Fields),
  transcript: Nullable(results.transcript),
  events: Nullable(results.events),
  post_call_analysis: Nullable(Fields),
  usage_metrics: Nullable(results.usage_metrics),
  latency: Nullable(Fields),
  recording_url: OptionalText,
  recording_key: OptionalText,
  recording: Nullable(Fields),
  knowledge_hits: Type.Array(Fields),
  results_extra: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the results carried beyond the contract',
  }),
};

const campaign = {
  campaign_id: OptionalText,
  campaign_call_id: OptionalText,
  attempt: OptionalCount,
  run_number: OptionalCount,
};

const housekeeping = {
  schema_version: Type.Literal(2),
  version: Type.Integer({ description: 'Counts the changes; the ETag' }),
  reopened: Type.Optional(
    Type.Integer({
      description: 'How many attempts under this session had come to nothing before this call',
    }),
  ),
  updated_at: Time,
  deleted_at: OptionalTime,
  pii_scrubbed_at: OptionalTime,
  skip_post_push: Type.Boolean(),
  results_sha256: Type.Union([Type.String(), Type.Null()], {
    description: 'Tells a repeated delivery from a different payload',
  }),
};

export const CallRecord = Type.Object({
  ...identity,
  ...partiesAndTime,
  ...outcome,
  ...content,
  ...campaign,
  ...housekeeping,
});
export type CallRecord = Static<typeof CallRecord>;

/** One line of the list of calls: what a table of calls shows, no content. */
export const CallRow = Type.Object({
  id: identity.id,
  session_id: identity.session_id,
  call_type: identity.call_type,
  bot_id: identity.bot_id,
  bot_name: identity.bot_name,
  bot_version: identity.bot_version,
  transport: identity.transport,
  status: outcome.status,
  call_direction: partiesAndTime.call_direction,
  caller_id: partiesAndTime.caller_id,
  from_number: partiesAndTime.from_number,
  to_number: partiesAndTime.to_number,
  created_at: partiesAndTime.created_at,
  ended_at: partiesAndTime.ended_at,
  disconnected_by: outcome.disconnected_by,
  disposition: outcome.disposition,
  call_duration_seconds: partiesAndTime.call_duration_seconds,
  billable_duration_seconds: partiesAndTime.billable_duration_seconds,
  was_transferred: outcome.was_transferred,
  late_result: outcome.late_result,
  tags: outcome.tags,
  sentiment: outcome.sentiment,
  agent: outcome.agent,
  campaign_id: campaign.campaign_id,
  recording_key: content.recording_key,
  version: housekeeping.version,
});
export type CallRow = Static<typeof CallRow>;
