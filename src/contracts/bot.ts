import { type Static, Type } from 'typebox';
import { ProviderConfig, ReEngagement, VadConfig } from './runtime-config.ts';

/** The bot record as far as a call needs it (interface.md, Bot). */
export const Bot = Type.Object(
  {
    bot_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    name: Type.String(),
    timezone: Type.String(),
    system_prompt: Type.String(),
    opening_message: Type.String(),
    stt: ProviderConfig,
    llm: ProviderConfig,
    tts: ProviderConfig,
    vad: VadConfig,
    min_words_interruption: Type.Integer({ minimum: 0 }),
    re_engagement: ReEngagement,
    max_call_duration_seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
    tools: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { additionalProperties: false },
);
export type Bot = Static<typeof Bot>;
