import type { Bot } from '../../contracts/bot.ts';
import type { RuntimeConfig, VoicemailSettings } from '../../contracts/runtime-config.ts';
import { isFixed, renderTemplate, staticPart, type Variables } from '../../platform/render-template.ts';
import { flatContext } from './flat-context.ts';
import { contentVersion, DEFAULT_CACHE_TTL_SECONDS, policyPrompt, promptParts } from './prompt-parts.ts';
import { type ProviderKeys, withProviderKey } from './provider-keys.ts';
import { servedTools } from './served-tools.ts';

/** What the config takes from beyond the bot and the call. */
export interface ConfigInputs {
  /** Keys of the system settings, and who may get them. */
  keys: ProviderKeys;
  /** Values of `{{secret.NAME}}` in the headers of tools. */
  secrets: Readonly<Record<string, string>>;
  /** Where recordings go; null where they stay on the host. */
  objectStorage: Record<string, unknown> | null;
  /** System and bot have knowledge enabled, and every named base exists. */
  knowledgeUsable: boolean;
  /** Setting `outbound_allowed_networks`, for the requests of tools. */
  outboundNetworks: readonly string[];
  callbackDetection: boolean;
  livePromptCache: { cache_name: string; expires_at: string } | null;
}

/** The config response (R55 to R76) with every field present. */
export function buildConfig(call: {
  bot: Bot;
  sessionId: string;
  webhookUrl: string;
  variables: Variables;
  sipContext: Readonly<Record<string, unknown>>;
  timezone: string;
  configInputs: ConfigInputs;
}): RuntimeConfig {
  const { bot, variables, configInputs } = call;
  const text = (template: string) => renderTemplate(template, variables);
  const textOrNull = (template: string | null | undefined) => (template ? text(template) : null);
  return {
    session_id: call.sessionId,
    bot_id: bot.bot_id,
    webhook_url: call.webhookUrl,
    ...promptFields(bot, variables, configInputs.knowledgeUsable),
    opening_message: text(bot.opening_message),
    opening_message_fixed: isFixed(bot.opening_message),
    rescue_line: bot.rescue_line ?? null,
    filler_lines: bot.filler_lines ?? null,
    vad: bot.vad,
    min_words_interruption: bot.min_words_interruption,
    re_engagement: renderTexts(bot.re_engagement, variables) as RuntimeConfig['re_engagement'],
    ambient_sound: bot.ambient_sound ?? null,
    pronunciations: bot.pronunciations ?? [],
    stt: withProviderKey(bot.stt, configInputs.keys),
    llm: withProviderKey(bot.llm, configInputs.keys),
    tts: withProviderKey(bot.tts, configInputs.keys),
    outbound_allowed_networks: [...configInputs.outboundNetworks],
    tools: servedTools(bot, { knowledge: configInputs.knowledgeUsable, secrets: configInputs.secrets }),
    transfer_numbers: renderTexts(bot.transfer_numbers ?? {}, variables),
    transfer_targets: renderTexts(bot.transfer_targets ?? [], variables),
    pre_transfer_message: textOrNull(bot.pre_transfer_message),
    ...postCallFields(bot, variables),
    post_call_llm: bot.post_call_llm ? withProviderKey(bot.post_call_llm, configInputs.keys) : null,
    live_prompt_cache_state: livePromptCacheState(bot, configInputs),
    sip_context: { ...call.sipContext },
    call_context: flatContext(variables.call ?? {}),
    crm_context: flatContext(variables.crm ?? {}),
    knowledge: knowledge(bot, configInputs.knowledgeUsable),
    callback_detection_enabled: configInputs.callbackDetection,
    callback_detection: configInputs.callbackDetection ? (bot.callback_detection ?? {}) : null,
    minio: configInputs.objectStorage,
    agent_desk_enabled: bot.agent_desk?.enabled ?? false,
    agent_desk_context:
      bot.agent_desk?.enabled && bot.agent_desk.context !== undefined
        ? renderTexts(bot.agent_desk.context, variables)
        : null,
    record_agent_leg: bot.agent_desk?.record_agent_leg ?? false,
    auto_dispositions: bot.auto_dispositions ?? [],
    voicemail_message: textOrNull(bot.voicemail_message),
    voicemail_detection: voicemailSettings(bot, variables),
    max_call_duration_seconds: bot.max_call_duration_seconds,
    billing_increment_seconds: bot.billing_increment_seconds ?? 1,
    timezone: call.timezone,
  };
}

/** Policy bots use a policy prompt builder, direct-prompt bots static plus dynamic parts (R57, R58). */
function promptFields(
  bot: Bot,
  variables: Variables,
  knowledge: boolean,
): Pick<RuntimeConfig, 'system_prompt' | 'conversation_policy'> &
  Partial<Pick<RuntimeConfig, 'prompt_parts'>> {
  if (bot.conversation_policy) {
    return {
      system_prompt: renderTemplate(policyPrompt(bot.conversation_policy, bot.system_prompt), variables),
      conversation_policy: renderTexts(bot.conversation_policy, variables) as Record<string, unknown>,
    };
  }
  const parts = promptParts(bot, variables, knowledge);
  return {
    system_prompt: parts.static_system_prompt + parts.dynamic_runtime_prompt,
    prompt_parts: parts,
    conversation_policy: null,
  };
}

function voicemailSettings(bot: Bot, variables: Variables): VoicemailSettings | null {
  const detection = bot.voicemail_detection;
  if (!detection?.enabled) return null;
  const { description: _forTheModel, screening_answer: answer, ...settings } = detection;
  return {
    ...settings,
    ...(answer === undefined ? {} : { screening_answer: renderTemplate(answer, variables) }),
  };
}

/** Both members are always there; null where there is no entry (R66). */
function livePromptCacheState(
  bot: Bot,
  configInputs: ConfigInputs,
): RuntimeConfig['live_prompt_cache_state'] {
  const none = { cache_name: null, expires_at: null };
  if (!bot.live_prompt_cache?.enabled || bot.conversation_policy) return none;
  return configInputs.livePromptCache ?? none;
}

const DEFAULT_TOP_K = 4;
const DEFAULT_MIN_SCORE = 0.2;

function knowledge(bot: Bot, usable: boolean): Record<string, unknown> {
  if (!usable) return { enabled: false };
  return {
    enabled: true,
    knowledge_base_ids: bot.knowledge?.knowledge_base_ids ?? [],
    top_k: bot.knowledge?.top_k ?? DEFAULT_TOP_K,
    min_score: bot.knowledge?.min_score ?? DEFAULT_MIN_SCORE,
  };
}

type PostCallFields = Pick<
  RuntimeConfig,
  | 'post_call_analysis_prompt'
  | 'qc_prompt'
  | 'post_call_cache_enabled'
  | 'post_call_cache_version'
  | 'post_call_cache'
>;

/**
 * What the slot asks the language model after the call. The versions name what a provider may cache: the beginning of
 * each prompt up to its first variable, and the model that reads it. The combined version changes with either.
 */
function postCallFields(bot: Bot, variables: Variables): PostCallFields {
  const analysis = bot.post_call_analysis_prompt ?? null;
  const qc = bot.qc_prompt ?? null;
  const prompts = {
    post_call_analysis_prompt: analysis === null ? null : renderTemplate(analysis, variables),
    qc_prompt: qc === null ? null : renderTemplate(qc, variables),
  };
  if (!bot.post_call_cache?.enabled || (analysis === null && qc === null)) {
    return {
      ...prompts,
      post_call_cache_enabled: false,
      post_call_cache_version: null,
      post_call_cache: null,
    };
  }
  const llm = bot.post_call_llm ?? bot.llm;
  const model = `${llm.provider}/${llm.model ?? ''}`;
  const versionOf = (prompt: string | null) =>
    prompt === null ? null : contentVersion(model, staticPart(prompt));
  const analysisVersion = versionOf(analysis);
  const qcVersion = versionOf(qc);
  return {
    ...prompts,
    post_call_cache_enabled: true,
    post_call_cache_version: contentVersion(analysisVersion ?? '', qcVersion ?? ''),
    post_call_cache: {
      analysis_version: analysisVersion,
      qc_version: qcVersion,
      analysis_static_chars: analysis === null ? 0 : staticPart(analysis).length,
      qc_static_chars: qc === null ? 0 : staticPart(qc).length,
      ttl_seconds: bot.post_call_cache.ttl_seconds ?? DEFAULT_CACHE_TTL_SECONDS,
      retention: bot.post_call_cache.retention ?? null,
    },
  };
}

/** Deeper than this a value stays as it is; nothing that people write by hand comes near. */
const MAX_DEPTH = 16;

/** A JSON value with each text in it rendered; the keys stay. */
function renderTexts(value: unknown, variables: Variables, depth = 0): unknown {
  if (typeof value === 'string') return renderTemplate(value, variables);
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => renderTexts(item, variables, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, renderTexts(inner, variables, depth + 1)]),
  );
}
