/**
 * Names of the system settings that are values. The environment variable of the same name in upper case seeds one on
 * the first start (D-13). Their types: `system-settings.ts`.
 */
export const SETTING_VALUE_NAMES = [
  'livekit_url',
  'livekit_public_url',
  'sip_outbound_trunk_id',
  'sip_default_from',
  's3_endpoint',
  's3_bucket',
  's3_region',
  'agent_desk_waiting_timeout_seconds',
  'agent_desk_policy_poll_seconds',
  'knowledge_enabled',
  'display_timezone',
  'retention_record_days',
  'retention_transcript_days',
  'retention_recording_days',
  'outbound_allowed_networks',
  'provider_origins',
] as const;
export type SettingValueName = (typeof SETTING_VALUE_NAMES)[number];

/**
 * Accounts of providers: each has the secret `<account>_api_key`. Every one of them is named by a vendor of
 * `src/providers/vendors`, which says who may be sent the key.
 */
export const KEYED_PROVIDERS = [
  'anthropic',
  'cartesia',
  'deepgram',
  'elevenlabs',
  'gemini',
  'google',
  'openai',
  'sarvam',
  'soniox',
] as const;
export type KeyedProvider = (typeof KEYED_PROVIDERS)[number];

/** System settings that are written and never shown again; seeded like the values. */
export const SETTING_SECRET_NAMES = [
  'livekit_api_key',
  'livekit_api_secret',
  's3_access_key_id',
  's3_secret_access_key',
  ...KEYED_PROVIDERS.map((account) => `${account}_api_key` as const),
] as const;
export type SettingSecretName = (typeof SETTING_SECRET_NAMES)[number];
