import { type Static, Type } from 'typebox';

/**
 * The config response, control plane to slot (R55 to R76): a flat object. The inner shapes that the interface leaves
 * open (D-26) are declared here with the sentence that the API docs show. Slots import the types only.
 */
export interface ProviderConfig {
  provider: string;
  model?: string;
  language?: string;
  api_key?: string;
  /** Take over in this order when the provider fails; the same shape, without fallbacks of their own. */
  fallbacks?: ProviderConfig[];
  /** What else the provider understands; its client checks it. */
  [setting: string]: unknown;
}

export const ProviderConfig = Type.Unsafe<ProviderConfig>(
  Type.Object(
    {
      provider: Type.String({ description: 'Which client serves this step' }),
      model: Type.Optional(Type.String()),
      language: Type.Optional(Type.String({ description: 'BCP 47' })),
      api_key: Type.Optional(
        Type.String({ description: 'Injected by the control plane from system settings' }),
      ),
      fallbacks: Type.Optional(
        Type.Array(Type.Object({ provider: Type.String() }, { additionalProperties: true }), {
          maxItems: 3,
          description: 'Take over in this order when the provider fails; the same shape',
        }),
      ),
    },
    {
      additionalProperties: true,
      description: 'A provider and its settings; the client of the provider checks what is not named here',
      examples: [{ provider: 'espeak', language: 'en', fallbacks: [{ provider: 'scripted' }] }],
    },
  ),
);

export const VadConfig = Type.Object(
  {
    start_probability: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Enter speech at or above (0.6)' }),
    ),
    stop_probability: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Leave speech below (0.45)' }),
    ),
    start_ms: Type.Optional(
      Type.Number({ minimum: 32, maximum: 2000, description: 'Speech this long opens a segment (160)' }),
    ),
    stop_ms: Type.Optional(
      Type.Number({ minimum: 32, maximum: 5000, description: 'Silence this long closes it (224)' }),
    ),
    turn_threshold: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Turn model: complete above (0.5)' }),
    ),
    turn_forced_end_ms: Type.Optional(
      Type.Number({
        minimum: 200,
        maximum: 10000,
        description: 'Silence that ends a turn the model calls incomplete (1600)',
      }),
    ),
    turn_silence_ms: Type.Optional(
      Type.Number({ minimum: 200, maximum: 10000, description: 'The silence rule, without the model (700)' }),
    ),
    turn_pre_roll_ms: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 2000,
        description: 'Audio before the first speech that the turn model and the engine hear too (500)',
      }),
    ),
    turn_model: Type.Optional(Type.Union([Type.Literal('smart_turn'), Type.Literal('off')])),
    turn_detection: Type.Optional(
      Type.Union([Type.Literal('local'), Type.Literal('stt')], {
        description:
          'Who says that a turn is over: this host, or the speech-to-text engine where it detects turns (`stt` with such an engine, else `local`). Interruptions are always noticed locally',
      }),
    ),
    interruption_ms: Type.Optional(
      Type.Number({
        minimum: 64,
        maximum: 5000,
        description: 'Speech over the bot this long pauses it (250)',
      }),
    ),
    commit_ms: Type.Optional(
      Type.Number({
        minimum: 64,
        maximum: 10000,
        description:
          'Speech over the bot this long takes the floor, where one word may interrupt or the engine tells no words on the way (600)',
      }),
    ),
    resume_ms: Type.Optional(
      Type.Number({
        minimum: 200,
        maximum: 5000,
        description: 'A paused bot goes on when nothing was understood for so long (1200)',
      }),
    ),
    backchannels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
        maxItems: 200,
        description: 'Said over the bot, these never interrupt it; in place of the list of the language',
      }),
    ),
    stop_phrases: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
        maxItems: 200,
        description: 'Said over the bot, these always interrupt it; in place of the list of the language',
      }),
    ),
    question_aware: Type.Optional(
      Type.Boolean({
        description:
          'Waits less for the answer to a yes-or-no question, longer for numbers, addresses and spelling (true)',
      }),
    ),
    answer_rules: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pattern: Type.String({ minLength: 1, maxLength: 300 }),
            silence_ms: Type.Number({ minimum: 100, maximum: 10000 }),
            forced_end_ms: Type.Optional(Type.Number({ minimum: 200, maximum: 10000 })),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 50,
          description:
            'Waits after a line of the bot that fits a regular expression; before the built-in rules of `question_aware`',
        },
      ),
    ),
    learned_pauses: Type.Optional(
      Type.Boolean({
        description: 'Fits the silence rule to how long this caller pauses, from 200 to 900 ms (true)',
      }),
    ),
    protect_opening: Type.Optional(
      Type.Boolean({
        description: 'The opening line cannot be interrupted, as a disclosure must not (false)',
      }),
    ),
  },
  { additionalProperties: true, description: 'Voice-activity and turn-end tuning; every key optional' },
);
export type VadConfig = Static<typeof VadConfig>;

export const ReEngagement = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'False: nothing is said to a silent caller (true)' })),
    after_seconds: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 600,
        description: 'Caller silence before each line, and before the end (8)',
      }),
    ),
    prompts: Type.Optional(
      Type.Array(Type.String({ maxLength: 500 }), {
        maxItems: 10,
        description: 'Spoken one after another; then the call ends (two lines in the language of the voice)',
      }),
    ),
    end_after_seconds: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 3_600,
        description:
          'Where `enabled` is false: caller silence that ends the call (as long as the lines and their pauses would take)',
      }),
    ),
  },
  {
    additionalProperties: true,
    description: 'What the bot does when the caller is silent after the bot has spoken',
    examples: [{ enabled: true, after_seconds: 8, prompts: ['Are you still there?', 'Goodbye.'] }],
  },
);

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const FlatMap = Type.Record(Type.String(), Type.Unknown());
const Context = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Flat: texts, numbers, booleans and null. What was nested has dotted names beside its JSON',
});

/** A direct prompt in its two halves; `system_prompt` is one after the other. Absent for bots with a policy. */
export const PromptParts = Type.Object(
  {
    mode: Type.Literal('direct'),
    cache_enabled: Type.Boolean(),
    static_system_prompt: Type.String({ description: 'The same in every call of the bot' }),
    dynamic_runtime_prompt: Type.String({ description: 'Of this call only' }),
    static_version: Type.String({ description: 'Changes with the static half, the tools and the model' }),
    cache_key: Nullable(Type.String({ description: 'Hint for providers that cache by key' })),
    cache_retention: Nullable(Type.String()),
    cache_ttl_seconds: Nullable(Type.Integer()),
  },
  { additionalProperties: true },
);
export type PromptParts = Static<typeof PromptParts>;

/** How a slot recognises who has answered; absent and null alike mean that nothing is looked for. */
export const VoicemailSettings = Type.Object(
  {
    enabled: Type.Boolean(),
    phrases: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    screening_phrases: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    screening_answer: Type.Optional(Type.String()),
  },
  {
    title: 'VoicemailSettings',
    additionalProperties: true,
    description: 'Voicemail detection of the bot, its templates filled',
    examples: [{ enabled: true }],
  },
);
export type VoicemailSettings = Static<typeof VoicemailSettings>;

export const RuntimeConfig = Type.Object(
  {
    session_id: Type.String({ minLength: 1, maxLength: 200 }),
    bot_id: Type.String(),
    webhook_url: Type.String(),
    system_prompt: Type.String(),
    prompt_parts: Type.Optional(Nullable(PromptParts)),
    opening_message: Type.String(),
    opening_message_fixed: Type.Optional(
      Type.Boolean({
        description: 'False where it holds values of this call, so that its audio is not kept (true)',
      }),
    ),
    rescue_line: Type.Optional(Nullable(Type.String())),
    filler_lines: Type.Optional(Nullable(Type.Array(Type.String(), { maxItems: 10 }))),
    vad: VadConfig,
    min_words_interruption: Type.Integer({ minimum: 0 }),
    re_engagement: Type.Object(
      { ...ReEngagement.properties, prompts: Type.Optional(Type.Array(Type.String(), { maxItems: 10 })) },
      { additionalProperties: true, description: 'As in the bot, its templates filled' },
    ),
    ambient_sound: Nullable(FlatMap),
    pronunciations: Type.Optional(
      Type.Array(
        Type.Object({ word: Type.String(), spoken: Type.String() }, { additionalProperties: true }),
        {
          description: 'How the voice says words; the longest fitting word counts',
        },
      ),
    ),
    stt: ProviderConfig,
    llm: ProviderConfig,
    tts: ProviderConfig,
    tools: Type.Array(FlatMap),
    outbound_allowed_networks: Type.Optional(
      Type.Array(Type.String({ maxLength: 50 }), {
        maxItems: 64,
        description: 'Networks (CIDR) that tools may call although they are private, or by plain http (none)',
      }),
    ),
    conversation_policy: Nullable(FlatMap),
    transfer_numbers: Type.Unknown(),
    transfer_targets: Type.Unknown(),
    pre_transfer_message: Nullable(Type.String()),
    post_call_llm: Type.Optional(Nullable(ProviderConfig)),
    post_call_analysis_prompt: Nullable(Type.String()),
    qc_prompt: Nullable(Type.String()),
    post_call_cache_enabled: Type.Boolean(),
    post_call_cache_version: Nullable(Type.String()),
    post_call_cache: Nullable(FlatMap),
    live_prompt_cache_state: Type.Object(
      { cache_name: Nullable(Type.String()), expires_at: Nullable(Type.String()) },
      { additionalProperties: true, description: 'Both null where the provider holds no entry' },
    ),
    sip_context: Context,
    call_context: Context,
    crm_context: Context,
    knowledge: FlatMap,
    callback_detection_enabled: Type.Boolean(),
    callback_detection: Type.Optional(Nullable(FlatMap)),
    minio: Nullable(FlatMap),
    agent_desk_enabled: Type.Boolean(),
    agent_desk_context: Nullable(Type.Unknown()),
    record_agent_leg: Type.Optional(Type.Boolean()),
    auto_dispositions: Type.Unknown(),
    voicemail_message: Nullable(Type.String()),
    voicemail_detection: Type.Optional(Nullable(VoicemailSettings)),
    max_call_duration_seconds: Type.Number(),
    billing_increment_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
    timezone: Type.String(),
  },
  { title: 'RuntimeConfig', additionalProperties: true },
);
export type RuntimeConfig = Static<typeof RuntimeConfig>;
