import { type Static, Type } from 'typebox';
import { BOT_ID_PATTERN } from './http-names.ts';
import { MAX_CONNECTED_BYTES } from './limits.ts';
import { PHONE_NUMBER_PATTERN } from './system-settings.ts';

export const DIALOUT_PATH = '/rtc/dialout';

/**
 * Body of `POST {fleet_url}/rtc/dialout` (R160). Other fields are refused: a caller who sends `variables` here
 * would otherwise get a call without its data.
 */
export const DialoutRequest = Type.Object(
  {
    bot_id: Type.String({ pattern: BOT_ID_PATTERN.source, description: 'Passed to the config endpoint' }),
    to_number: Type.String({ pattern: PHONE_NUMBER_PATTERN, description: 'Number to dial; E.164 is best' }),
    from_number: Type.Optional(
      Type.Union([Type.String({ pattern: PHONE_NUMBER_PATTERN }), Type.Null()], {
        description: 'Caller ID; the default trunk number where it is left out or null',
      }),
    ),
    connected_event: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: `Becomes \`{{call.field}}\` in prompts; at most ${MAX_CONNECTED_BYTES} bytes of JSON`,
      }),
    ),
    config_url: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: 'Another config endpoint, https or on loopback; falls back to CONFIG_URL',
      }),
    ),
  },
  { title: 'DialoutRequest', additionalProperties: false },
);
export type DialoutRequest = Static<typeof DialoutRequest>;

/** Its answer 200; the call runs in the background. */
export const DialoutAccepted = Type.Object(
  {
    status: Type.Literal('accepted'),
    call_id: Type.String({ minLength: 1, maxLength: 200 }),
    room_name: Type.String({ minLength: 1, maxLength: 500 }),
  },
  { title: 'DialoutAccepted', additionalProperties: true },
);
export type DialoutAccepted = Static<typeof DialoutAccepted>;
