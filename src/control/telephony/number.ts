import { type Static, type TSchema, Type } from 'typebox';
import { BotId } from '../../contracts/bot.ts';
import { BOT_ID_PATTERN } from '../../contracts/http-names.ts';
import { PHONE_NUMBER_PATTERN } from '../../contracts/system-settings.ts';

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An installation for one machine; the media server gets all of them in one trunk. */
export const MAX_NUMBERS = 10_000;

const fields = {
  number: Type.String({
    pattern: PHONE_NUMBER_PATTERN,
    description: 'Number that is called; with and without a leading plus sign it is the same one',
  }),
  label: Type.String({ maxLength: 100, description: 'For people' }),
  enabled: Type.Boolean({ description: 'Calls to a disabled number are refused' }),
  bot_id: BotId,
  fallback_bot_id: Nullable(
    Type.String({
      pattern: BOT_ID_PATTERN.source,
      description: 'Answers where `bot_id` is gone or outside its active hours',
    }),
  ),
  trunk_id: Nullable(
    Type.String({
      pattern: '^trk_[0-9a-f]{24}$',
      description:
        'Trunk that its calls come in by; null for a trunk that was made by hand in the media server',
    }),
  ),
};

/** Body of `POST /api/v1/numbers`. */
export const NewNumber = Type.Object(
  {
    number: fields.number,
    bot_id: fields.bot_id,
    label: Type.Optional(fields.label),
    enabled: Type.Optional(fields.enabled),
    fallback_bot_id: Type.Optional(fields.fallback_bot_id),
    trunk_id: Type.Optional(fields.trunk_id),
  },
  { title: 'NewNumber', additionalProperties: false },
);
export type NewNumber = Static<typeof NewNumber>;

/** Body of `PATCH /api/v1/numbers/{number_id}`: what is absent stays, and the number itself always does. */
export const NumberChange = Type.Object(
  {
    label: Type.Optional(fields.label),
    enabled: Type.Optional(fields.enabled),
    bot_id: Type.Optional(fields.bot_id),
    fallback_bot_id: Type.Optional(fields.fallback_bot_id),
    trunk_id: Type.Optional(fields.trunk_id),
  },
  { title: 'NumberChange', additionalProperties: false },
);
export type NumberChange = Static<typeof NumberChange>;

export const PhoneNumber = Type.Object(
  {
    id: Type.String(),
    ...fields,
    version: Type.Integer({ minimum: 1 }),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'PhoneNumber' },
);
export type PhoneNumber = Static<typeof PhoneNumber>;
