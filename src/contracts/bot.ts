import { type Static, Type } from 'typebox';
import {
  AgentDesk,
  AmbientSound,
  ConversationPolicy,
  Pronunciation,
  TransferNumbers,
  TransferTarget,
  VoicemailDetection,
} from './bot/conversation.ts';
import {
  ActiveHours,
  AutoDisposition,
  CallbackDetection,
  KnowledgeUse,
  PromptCache,
  Retention,
  SipHeaderConfig,
  WidgetUse,
} from './bot/operation.ts';
import { BotTool } from './bot/tools.ts';
import { CrmPrefetchConfig, PostCallPush } from './crm.ts';
import { MAX_PRONUNCIATIONS } from './limits.ts';
import { ProviderConfig, ReEngagement, VadConfig } from './runtime-config.ts';

const Template = (maxLength: number, description: string) =>
  Type.String({ maxLength, description: `${description} Template with \`{{namespace.field}}\`` });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Fields that every bot has. */
const needed = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  stt: ProviderConfig,
  llm: ProviderConfig,
  tts: ProviderConfig,
};

/** Fields with a plain default. */
const plain = {
  timezone: Type.String({
    maxLength: 100,
    description: 'IANA name; one that does not exist counts as UTC, with a warning',
  }),
  system_prompt: Template(200_000, 'What the language model is told before the call.'),
  opening_message: Template(4_000, 'The first words of the bot.'),
  vad: VadConfig,
  min_words_interruption: Type.Integer({
    minimum: 0,
    maximum: 20,
    description: 'The caller interrupts the bot from this many words on',
  }),
  re_engagement: ReEngagement,
  max_call_duration_seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  tools: Type.Array(BotTool, { maxItems: 50 }),
};

/** Fields that a bot may lack; absent and null mean the same. */
const extras = {
  conversation_policy: Type.Optional(Nullable(ConversationPolicy)),
  ambient_sound: Type.Optional(Nullable(AmbientSound)),
  pronunciations: Type.Optional(Type.Array(Pronunciation, { maxItems: MAX_PRONUNCIATIONS })),
  transfer_numbers: Type.Optional(TransferNumbers),
  transfer_targets: Type.Optional(Type.Array(TransferTarget, { maxItems: 50 })),
  pre_transfer_message: Type.Optional(Nullable(Template(1_000, 'Spoken before a transfer.'))),
  active_hours: Type.Optional(Nullable(ActiveHours)),
  sip_header_config: Type.Optional(Nullable(SipHeaderConfig)),
  expected_variables: Type.Optional(
    Type.Array(Type.String({ pattern: '^(call|crm)\\.[^{}\\s]{1,100}$' }), {
      maxItems: 500,
      description: 'Where it is given, `validate` names every variable of a template that is not in it',
      examples: [['crm.due_amount', 'call.company']],
    }),
  ),
  crm_prefetch: Type.Optional(Nullable(CrmPrefetchConfig)),
  post_call_push: Type.Optional(Nullable(PostCallPush)),
  post_call_analysis_prompt: Type.Optional(Nullable(Template(50_000, 'Asked once after the call.'))),
  post_call_llm: Type.Optional(
    Nullable(
      Type.Unsafe<ProviderConfig>({
        ...ProviderConfig,
        description: 'Reads the call after it has ended; without one `llm` does',
      }),
    ),
  ),
  qc_prompt: Type.Optional(Nullable(Template(50_000, 'Judges the quality of the call, after it.'))),
  post_call_cache: Type.Optional(Nullable(PromptCache)),
  live_prompt_cache: Type.Optional(Nullable(PromptCache)),
  callback_detection: Type.Optional(Nullable(CallbackDetection)),
  voicemail_detection: Type.Optional(Nullable(VoicemailDetection)),
  voicemail_message: Type.Optional(Nullable(Template(2_000, 'Left on an answering machine.'))),
  auto_dispositions: Type.Optional(Type.Array(AutoDisposition, { maxItems: 100 })),
  knowledge: Type.Optional(Nullable(KnowledgeUse)),
  agent_desk: Type.Optional(Nullable(AgentDesk)),
  widget: Type.Optional(Nullable(WidgetUse)),
  rescue_line: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description:
          'Spoken when a provider fails, from audio that is kept on the host; without one a sentence in the language of the voice',
      }),
    ),
  ),
  filler_lines: Type.Optional(
    Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 10,
        description:
          'Said in turn while the caller waits for an answer that takes long; none with an empty list, without one short lines in the language of the voice',
        examples: [['One moment, please.', 'Let me look that up.']],
      }),
    ),
  ),
  billing_increment_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3_600,
      description: 'Billable time is rounded up to a multiple of it (1)',
    }),
  ),
  retention: Type.Optional(Nullable(Retention)),
};

/** What an editor writes. `PATCH` takes the same fields, each replacing the whole field. */
export const BotContent = Type.Object(
  { ...needed, ...plain, ...extras },
  { title: 'BotContent', additionalProperties: false },
);
export type BotContent = Static<typeof BotContent>;

/** A new bot: the plain fields may be missing. */
export const NewBot = Type.Object(
  { ...needed, ...Type.Partial(Type.Object(plain)).properties, ...extras },
  { additionalProperties: false },
);
export type NewBot = Static<typeof NewBot>;

export const BotId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' });

/** The bot as calls get it and as the store keeps it (R35 to R42). */
export const Bot = Type.Object(
  {
    bot_id: BotId,
    ...needed,
    ...plain,
    ...extras,
    widget_api_key: Type.Optional(
      Nullable(
        Type.String({ description: 'Public by design; without one every widget token request fails' }),
      ),
    ),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { additionalProperties: false },
);
export type Bot = Static<typeof Bot>;

/** `min_words_interruption` and the like where a new bot says nothing. */
export const BOT_DEFAULTS = {
  timezone: 'UTC',
  system_prompt: '',
  opening_message: '',
  vad: {},
  min_words_interruption: 0,
  re_engagement: {},
  max_call_duration_seconds: 3_600,
  tools: [],
} as const satisfies Partial<BotContent>;
