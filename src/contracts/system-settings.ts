import { type Static, type TSchema, Type } from 'typebox';
import { SETTING_SECRET_NAMES, type SettingValueName } from './setting-names.ts';

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Days = (what: string) =>
  Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 3_650,
      description: `${what} go after so many days, where the bot says nothing else; null keeps them`,
    }),
  );
const MediaUrl = (description: string) =>
  Nullable(Type.String({ maxLength: 500, pattern: '^(wss?|https?)://[^\\s@]+$', description }));

/** Telephone numbers and extensions as a trunk takes them; E.164 is recommended (R156). */
export const PHONE_NUMBER_PATTERN = '^\\+?[0-9*#]{2,32}$';

/**
 * The business settings of the installation (D-13). Flat, so that a name here, in the environment and in the
 * interface is the same name. What a later part of the product obeys is kept and served until then.
 */
const properties = {
  livekit_url: MediaUrl('Media server as this host reaches it'),
  livekit_public_url: MediaUrl('Media server as browsers reach it; null means `livekit_url`'),
  sip_outbound_trunk_id: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Trunk of the media server for outbound calls; without one they answer 503 `no_trunk`',
    }),
  ),
  sip_default_from: Nullable(
    Type.String({
      pattern: PHONE_NUMBER_PATTERN,
      description: 'Number of the outbound trunk, the caller ID where a call names none',
    }),
  ),
  s3_endpoint: Nullable(
    Type.String({
      maxLength: 500,
      pattern: '^https?://[^\\s@]+$',
      description: 'Object storage for recordings; without one they stay in DATA_DIR',
    }),
  ),
  s3_bucket: Nullable(Type.String({ minLength: 3, maxLength: 63, pattern: '^[a-z0-9][a-z0-9.-]*[a-z0-9]$' })),
  s3_region: Type.String({ minLength: 1, maxLength: 100 }),
  agent_desk_waiting_timeout_seconds: Type.Integer({
    minimum: 5,
    maximum: 86_400,
    description: 'A call waits so long for an agent before it is ended',
  }),
  agent_desk_policy_poll_seconds: Type.Integer({
    minimum: 1,
    maximum: 300,
    description: 'How often the waiting calls are looked at',
  }),
  knowledge_enabled: Type.Boolean({
    description: 'Whether bots may search in knowledge bases at all; each bot says so for itself, too',
  }),
  display_timezone: Type.String({
    maxLength: 100,
    description: 'IANA name; reports and metrics cut their days in it',
  }),
  retention_record_days: Days('Call records'),
  retention_transcript_days: Days('Transcripts'),
  retention_recording_days: Days('Recordings'),
  outbound_allowed_networks: Type.Array(Type.String({ maxLength: 50 }), {
    maxItems: 64,
    description:
      'Private networks, as CIDR, that CRM requests, webhooks and tools may reach; loopback and metadata never',
  }),
  provider_origins: Type.Array(Type.String({ maxLength: 300 }), {
    maxItems: 64,
    description:
      'Origins of own or regional provider servers, such as `https://stt.example.com`, that keys of these settings may be sent to; the vendors’ own hosts need no entry',
  }),
} satisfies Record<SettingValueName, TSchema>;

export const SystemValues = Type.Object(properties, { additionalProperties: false });
export type SystemValues = Static<typeof SystemValues>;

/** What holds until somebody says otherwise (R174 for the two of the agent desk). */
export const DEFAULT_VALUES: Readonly<SystemValues> = Object.freeze({
  livekit_url: null,
  livekit_public_url: null,
  sip_outbound_trunk_id: null,
  sip_default_from: null,
  s3_endpoint: null,
  s3_bucket: null,
  s3_region: 'us-east-1',
  agent_desk_waiting_timeout_seconds: 120,
  agent_desk_policy_poll_seconds: 5,
  knowledge_enabled: true,
  display_timezone: 'UTC',
  retention_record_days: null,
  retention_transcript_days: null,
  retention_recording_days: null,
  outbound_allowed_networks: [],
  provider_origins: [],
});

const newSecret = (minLength: number) =>
  Nullable(
    Type.String({
      minLength,
      maxLength: 4_096,
      pattern: '^[\\x21-\\x7e]+$',
      writeOnly: true,
      description: 'Never shown again; null takes it away',
    }),
  );
const MIN_SECRET_CHARS = 8;
/** A media server that was started for a trial, `livekit-server --dev`, has the pair devkey and secret. */
const MIN_MEDIA_SECRET_CHARS = 6;

function secretSchema(name: string) {
  return Type.Optional(newSecret(name.startsWith('livekit_') ? MIN_MEDIA_SECRET_CHARS : MIN_SECRET_CHARS));
}

/** Body of `PATCH /api/v1/settings`. */
export const SettingsChange = Type.Object(
  {
    values: Type.Optional(Type.Partial(SystemValues, { additionalProperties: false })),
    secrets: Type.Optional(
      Type.Object(
        Object.fromEntries(SETTING_SECRET_NAMES.map((name) => [name, secretSchema(name)])) as Record<
          (typeof SETTING_SECRET_NAMES)[number],
          ReturnType<typeof secretSchema>
        >,
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, title: 'SettingsChange' },
);
export type SettingsChange = Static<typeof SettingsChange>;

const SecretState = Type.Object({
  set: Type.Boolean(),
  tail: Nullable(Type.String({ description: 'Its last characters; null where it is too short to show any' })),
  updated_at: Nullable(Type.String()),
});
export type SecretState = Static<typeof SecretState>;

/** Answer of `GET /api/v1/settings`. */
export const SettingsView = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    updated_at: Type.String(),
    values: SystemValues,
    secrets: Type.Object(
      Object.fromEntries(SETTING_SECRET_NAMES.map((name) => [name, SecretState])) as Record<
        (typeof SETTING_SECRET_NAMES)[number],
        typeof SecretState
      >,
    ),
  },
  { title: 'Settings' },
);
export type SettingsView = Static<typeof SettingsView>;
