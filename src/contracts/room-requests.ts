import { type Static, Type } from 'typebox';
import { BOT_ID_PATTERN } from './http-names.ts';

/** Bodies of the fleet ingress's room routes (docs/room-calls.md). */
export const DISPATCH_PATH = '/rtc/dispatch';
export const WIDGET_PATH = '/rtc/widget';
export const ATTACH_PATH = '/attach';
export const RESERVATIONS_PATH = '/reservations';
/** Ends a live or ringing call of this host: `POST /calls/{call_id}/hangup`. */
export const CALLS_PATH = '/calls/';

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const BotId = Type.String({ pattern: BOT_ID_PATTERN.source });
const PhoneNumber = Type.String({ maxLength: 64 });
const ConnectedEvent = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Becomes `{{call.field}}` in prompts',
});
const ConfigUrl = Type.String({ maxLength: 2_000 });

/** An inbound SIP call that stands in a room and rings. The media server's signed webhook comes to the same path. */
export const DispatchRequest = Type.Object(
  {
    did: Type.String({ minLength: 1, maxLength: 64, description: 'Number that was called' }),
    caller: Type.Optional(PhoneNumber),
    room_name: Name('Room of the call'),
    participant_identity: Name('Who of the room is the caller'),
    trunk_id: Type.Optional(Type.String({ maxLength: 200 })),
    call_id: Type.Optional(
      Type.String({ maxLength: 200, description: 'The media server’s own id of the call' }),
    ),
    sip_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    received_at: Type.Optional(Type.String()),
    bot_id: Type.Optional(BotId),
    config_url: Type.Optional(ConfigUrl),
  },
  { title: 'DispatchRequest', additionalProperties: false },
);
export type DispatchRequest = Static<typeof DispatchRequest>;

/** A visitor of a website who is about to join the room. */
export const WidgetDispatchRequest = Type.Object(
  {
    bot_id: BotId,
    room_name: Name('Room that the visitor gets a token for'),
    participant_identity: Name('Identity of the visitor'),
    visitor: Type.Optional(
      Type.Object(
        {
          page_url: Type.Optional(Type.String({ maxLength: 2_000 })),
          referrer: Type.Optional(Type.String({ maxLength: 2_000 })),
          locale: Type.Optional(Type.String({ maxLength: 100 })),
          user_agent_family: Type.Optional(Type.String({ maxLength: 100 })),
        },
        { additionalProperties: false },
      ),
    ),
    connected_event: Type.Optional(ConnectedEvent),
    config_url: Type.Optional(ConfigUrl),
  },
  { title: 'WidgetDispatchRequest', additionalProperties: false },
);
export type WidgetDispatchRequest = Static<typeof WidgetDispatchRequest>;

/** An answered and screened campaign call; its slot was reserved before it was dialled. */
export const AttachRequest = Type.Object(
  {
    room_name: Name('Room in which the customer is'),
    bot_id: BotId,
    session_id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A repeat with the same one is no second call',
    }),
    to_number: PhoneNumber,
    from_number: Type.Optional(Type.Union([PhoneNumber, Type.Null()])),
    customer_identity: Name('Who of the room is the customer'),
    campaign_id: Type.Optional(Type.String({ maxLength: 200 })),
    campaign_call_id: Type.Optional(Type.String({ maxLength: 200 })),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
    run_number: Type.Optional(Type.Integer({ minimum: 0 })),
    connected_event: Type.Optional(ConnectedEvent),
    answered_at: Type.Optional(Type.String({ description: 'ISO 8601; the SIP 200' })),
    screening: Type.Optional(
      Type.Object(
        {
          result: Type.String({ maxLength: 100 }),
          confidence: Type.Optional(Type.Number()),
          elapsed_ms: Type.Optional(Type.Number()),
          transcript: Type.Optional(Type.String({ maxLength: 10_000 })),
        },
        { additionalProperties: true },
      ),
    ),
    sip: Type.Optional(
      Type.Object(
        {
          call_id: Type.Optional(Type.String({ maxLength: 200 })),
          trunk_id: Type.Optional(Type.String({ maxLength: 200 })),
        },
        { additionalProperties: true },
      ),
    ),
    lease_id: Type.Optional(
      Type.String({ maxLength: 200, description: 'Reservation of `POST /reservations`' }),
    ),
    config_url: Type.Optional(ConfigUrl),
  },
  { title: 'AttachRequest', additionalProperties: false },
);
export type AttachRequest = Static<typeof AttachRequest>;

/** `POST /reservations`: a slot is kept for a call that is about to be dialled (D-16). */
export const ReservationRequest = Type.Object(
  { campaign_id: Type.Optional(Type.String({ maxLength: 200 })), bot_id: Type.Optional(BotId) },
  { title: 'ReservationRequest', additionalProperties: false },
);
export type ReservationRequest = Static<typeof ReservationRequest>;

export const Reservation = Type.Object(
  { reservation_id: Type.String(), expires_at: Type.String({ description: 'ISO 8601 UTC' }) },
  { title: 'Reservation', additionalProperties: true },
);
export type Reservation = Static<typeof Reservation>;

/** `POST /calls/{call_id}/hangup`. */
export const HangupRequest = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 200 })) },
  { title: 'HangupRequest', additionalProperties: false },
);

/** Answer 200 of dispatch, widget and attach. */
export const RoomCallAccepted = Type.Object(
  {
    status: Type.Literal('accepted'),
    call_id: Type.String({ minLength: 1, maxLength: 200 }),
    room_name: Type.String({ minLength: 1, maxLength: 500 }),
    bot_id: Type.Optional(Type.String()),
    worker_id: Type.Optional(Type.String()),
  },
  { title: 'RoomCallAccepted', additionalProperties: true },
);
export type RoomCallAccepted = Static<typeof RoomCallAccepted>;
