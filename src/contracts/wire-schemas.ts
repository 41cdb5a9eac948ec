import { Type } from 'typebox';

/**
 * The messages of `/ws/{bot_id}` (wire.ts) as schemas, for the API document: an outsider writes a dialler from them. A
 * test holds them to the types. Slots do not import this file; they check what they read by hand.
 */
const base64Audio = Type.String({
  description: 'Base64 of LINEAR16 audio, 8 kHz, mono, little-endian',
});

export const ConnectedMessageSchema = Type.Object(
  {
    event: Type.Literal('connected'),
    stream_id: Type.Optional(Type.String({ description: "The dialler's own id of the call" })),
    caller_id: Type.Optional(Type.String()),
    from_number: Type.Optional(Type.String()),
    call_direction: Type.Optional(Type.Union([Type.Literal('inbound'), Type.Literal('outbound')])),
    media: Type.Optional(
      Type.Object({
        encoding: Type.Optional(Type.Literal('linear16')),
        sample_rate: Type.Optional(Type.Literal(8000)),
        framing: Type.Optional(
          Type.Union([Type.Literal('json'), Type.Literal('binary')], {
            description: 'With `binary`, audio travels both ways as binary frames of raw samples',
          }),
        ),
      }),
    ),
  },
  {
    title: 'ConnectedMessage',
    description: 'The first message of a dialler, within 5 s. Every further field becomes `{{call.field}}`.',
    additionalProperties: true,
  },
);

const CounterSchema = Type.Union([Type.Number(), Type.String()]);

export const DiallerMessageSchema = Type.Union(
  [
    ConnectedMessageSchema,
    Type.Object(
      {
        event: Type.Literal('media'),
        media: Type.Object({
          payload: base64Audio,
          chunk: Type.Optional(CounterSchema),
          timestamp: Type.Optional(CounterSchema),
        }),
      },
      { description: 'Audio of the caller' },
    ),
    Type.Object({ event: Type.Literal('dtmf'), dtmf: Type.Object({ digit: Type.String() }) }),
    Type.Object(
      { event: Type.Literal('mark'), mark: Type.Object({ name: Type.String() }) },
      { description: 'The audio before the mark of this name has been played' },
    ),
    Type.Object(
      {
        event: Type.Literal('transfer_result'),
        status: Type.Union([Type.Literal('ok'), Type.Literal('failed')]),
        reason: Type.Optional(Type.String()),
        sip_code: Type.Optional(Type.Number()),
        sip_status: Type.Optional(Type.String()),
      },
      { description: 'How a transfer went that the bot had asked for' },
    ),
    Type.Object(
      { event: Type.Literal('stop'), reason: Type.Optional(Type.String()) },
      { description: 'The caller has hung up' },
    ),
  ],
  { title: 'DiallerMessage', description: 'What a dialler sends, as JSON text frames' },
);

export const SlotMessageSchema = Type.Union(
  [
    Type.Object(
      { event: Type.Literal('ready'), session_id: Type.String() },
      { description: 'The call has its config; audio may flow' },
    ),
    Type.Object(
      { event: Type.Literal('media'), media: Type.Object({ payload: base64Audio }) },
      { description: '20 ms of the bot, sent as they are due' },
    ),
    Type.Object(
      { event: Type.Literal('clear') },
      { description: 'The bot was interrupted: drop what has not been played' },
    ),
    Type.Object(
      { event: Type.Literal('mark'), mark: Type.Object({ name: Type.String() }) },
      { description: 'Send it back when the audio before it has been played' },
    ),
    Type.Object({
      event: Type.Literal('transfer'),
      transfer: Type.Object({
        destination: Type.String(),
        target: Type.Optional(Type.String()),
        reason: Type.Optional(Type.String()),
        headers: Type.Record(Type.String(), Type.String()),
      }),
    }),
    Type.Object(
      { event: Type.Literal('hangup'), reason: Type.String() },
      { description: 'The bot ends the call; the socket closes after it' },
    ),
  ],
  { title: 'SlotMessage', description: 'What the bot sends, as JSON text frames' },
);

/** `GET /health/fleet` (fleet.ts). Callers may depend on `fleet_available` alone. */
export const FleetHealthSchema = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('draining')]),
    fleet_available: Type.Integer({ description: 'Free call slots; the only field to depend on' }),
    fleet_total: Type.Integer(),
    fleet_busy: Type.Integer(),
    fleet_reserved: Type.Integer({ description: 'Kept for calls that a dialler is about to make' }),
    fleet_draining: Type.Integer(),
    accepting: Type.Boolean(),
    version: Type.String(),
    started_at: Type.String(),
    server_time: Type.String(),
    reasons: Type.Array(Type.String(), { description: 'Why `status` is not `ok`, one sentence each' }),
  },
  {
    title: 'FleetHealth',
    description:
      'Holders of the core secret and the host itself see `workers`, `outbox`, `media`, `refused_calls`, `models` and `providers` too',
    additionalProperties: true,
  },
);
