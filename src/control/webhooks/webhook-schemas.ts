import { Type } from 'typebox';
import { EventType } from './delivery.ts';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** What is sent out of the platform: schemas that the routes of webhooks and of the post-call push share. */
export const WebhookUrl = Type.String({
  maxLength: 2_000,
  pattern: '^https?://[^/?#@\\s\\\\]+([/?#][^\\s\\\\]*)?$',
  description: 'https; plain http only to networks in `outbound_allowed_networks`',
});

export const WebhookHeaders = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  Type.String({ maxLength: 2_000, pattern: '^[\\x20-\\x7e]*$' }),
  { maxProperties: 20, description: 'Extra headers; write-only, only their names are shown again' },
);

export const EventTypes = Type.Array(EventType, { minItems: 1, maxItems: 3, uniqueItems: true });
export const BotIds = Nullable(
  Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), {
    minItems: 1,
    maxItems: 200,
    description: 'Only calls of these bots; null for all',
  }),
);

const SecretView = Type.Object({
  created_at: Type.String(),
  retires_at: Nullable(Type.String({ description: 'It signs until then' })),
});

const DisabledView = Nullable(Type.Object({ at: Type.String(), reason: Type.String() }));

export const WebhookView = Type.Object({
  id: Type.String(),
  url: Type.String({ description: 'Values of query parameters are masked' }),
  description: Type.String(),
  types: Type.Array(EventType),
  bot_ids: Nullable(Type.Array(Type.String())),
  header_names: Type.Array(Type.String()),
  secrets: Type.Array(SecretView),
  enabled: Type.Boolean(),
  disabled: DisabledView,
  version: Type.Integer(),
  created_at: Type.String(),
  updated_at: Type.String(),
});

export const SecretShown = Type.String({
  description: 'Signing secret, `whsec_` and base64; shown this once and never again',
});

export const DeliveryView = Type.Object({
  id: Type.String(),
  type: Type.String(),
  session_id: Nullable(Type.String()),
  state: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('dead')]),
  attempts: Type.Integer({ description: 'All attempts ever' }),
  created_at: Type.String(),
  next_attempt_at: Nullable(Type.String()),
  finished_at: Nullable(Type.String()),
  last_status: Nullable(Type.Integer()),
  last_error: Nullable(Type.String()),
});

export const AttemptView = Type.Object({
  delivery_id: Type.String(),
  type: Type.String(),
  session_id: Nullable(Type.String()),
  attempt: Type.Integer(),
  at: Type.String(),
  ms: Type.Number(),
  request: Type.Object({
    method: Type.Literal('POST'),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.String(),
  }),
  response: Nullable(
    Type.Object({
      status: Type.Integer(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.String(),
    }),
  ),
  error: Nullable(Type.String()),
});

export const DeliveriesView = Type.Object({
  deliveries: Type.Array(DeliveryView, { description: 'The newest 50 messages' }),
  attempts: Type.Array(AttemptView, { description: 'The last 50 attempts, newest first' }),
});

export const ReplayBody = Type.Object(
  {
    delivery_id: Type.Optional(Type.String({ pattern: '^msg_[0-9a-f]{32}$' })),
    from: Type.Optional(Type.String({ format: 'date-time' })),
    to: Type.Optional(Type.String({ format: 'date-time' })),
    state: Type.Optional(
      Type.Union([Type.Literal('dead'), Type.Literal('delivered')], {
        description: 'Of a time range: dead letters unless this says otherwise',
      }),
    ),
  },
  { additionalProperties: false },
);

export const ReplayView = Type.Object({
  replayed: Type.Integer(),
  more: Type.Boolean({ description: 'The range held more than 1,000; replay again' }),
});

export const RotateBody = Type.Object(
  {
    overlap_hours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 168,
        description: 'The secret of today signs along for so long (24)',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RotateView = Type.Object({ secret: SecretShown, secrets: Type.Array(SecretView) });

export const AttemptResult = Type.Object({ delivered: Type.Boolean(), attempt: AttemptView });
