import { type Static, Type } from 'typebox';
import { BOT_ID_PATTERN } from '../../contracts/http-names.ts';
import { PHONE_NUMBER_PATTERN } from '../../contracts/system-settings.ts';
import { CallStatus } from '../calls/call-record-schema.ts';

/** The four fields of a call that a key holder orders (R156). */
export const OutboundRequest = Type.Object(
  {
    bot_id: Type.String({ pattern: BOT_ID_PATTERN.source, description: 'Bot to run' }),
    to_number: Type.String({
      pattern: PHONE_NUMBER_PATTERN,
      description: 'Number of the customer; E.164 (+911140000000) is best',
    }),
    from_number: Type.Optional(
      Type.Union([Type.String({ pattern: PHONE_NUMBER_PATTERN }), Type.Null()], {
        description: 'Caller ID; the number of the outbound trunk where it is left out or null',
      }),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'What the bot knows of the customer, `{{crm.field}}` in its prompt and opening message. Names that begin with `_`, `sip_candidate_headers`, and those that the platform sets itself (`caller_id`, `call_id`, `callback_at`, …) are refused',
      }),
    ),
  },
  { title: 'OutboundCallRequest', additionalProperties: false },
);
export type OutboundRequest = Static<typeof OutboundRequest>;

export const OUTBOUND_EXAMPLE: OutboundRequest = {
  bot_id: 'demo',
  to_number: '+911140001234',
  variables: { customer_name: 'Asha', due_amount: 1200 },
};

const Links = Type.Object({
  record: Type.String({ description: 'Path of the call record; it exists once the call is connected' }),
});

export const OutboundAccepted = Type.Object(
  {
    status: Type.Literal('accepted'),
    call_id: Type.String({ description: 'For `GET /api/v1/calls/{call_id}`' }),
    session_id: Type.String({ description: 'Of the call record and of the results' }),
    room_name: Type.String(),
    bot_id: Type.String(),
    to_number: Type.String(),
    from_number: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    links: Links,
  },
  { title: 'OutboundCallAccepted' },
);
export type OutboundAccepted = Static<typeof OutboundAccepted>;

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Without numbers: they stand in the record, where they can be erased. */
export const OutboundState = Type.Object(
  {
    call_id: Type.String(),
    session_id: Type.String(),
    room_name: Type.String(),
    bot_id: Type.String(),
    status: Type.Union([Type.Literal('accepted'), ...CallStatus.anyOf], {
      description: '`accepted` until the call has a record',
    }),
    disconnected_by: Nullable(Type.String()),
    call_duration_seconds: Nullable(Type.Number()),
    created_at: Type.String({ format: 'date-time' }),
    ended_at: Nullable(Type.String()),
    links: Links,
  },
  { title: 'OutboundCallState' },
);
export type OutboundState = Static<typeof OutboundState>;
