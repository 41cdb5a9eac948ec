import type { Bot } from '../../contracts/bot.ts';
import type { RuntimeConfig, VoicemailSettings } from '../../contracts/runtime-config.ts';
import { isFixed, renderTemplate, type Variables } from '../../platform/render-template.ts';
import { policyPrompt } from './policy-prompt.ts';
import { postCallFields } from './post-call.ts';
import { promptParts } from './prompt-parts.ts';
import { type ProviderKeys, withProviderKey } from './provider-keys.ts';
import { renderJson } from './render-json.ts';
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
    re_engagement: renderJson(bot.re_engagement, variables) as RuntimeConfig['re_engagement'],
    ambient_sound: bot.ambient_sound ?? null,
    pronunciations: bot.pronunciations ?? [],
    stt: withProviderKey(bot.stt, configInputs.keys),
    llm: withProviderKey(bot.llm, configInputs.keys),
    tts: withProviderKey(bot.tts, configInputs.keys),
    outbound_allowed_networks: [...configInputs.outboundNetworks],
    tools: servedTools(bot, { knowledge: configInputs.knowledgeUsable, secrets: configInputs.secrets }),
    transfer_numbers: renderJson(bot.transfer_numbers ?? {}, variables),
    transfer_targets: renderJson(bot.transfer_targets ?? [], variables),
    pre_transfer_message: textOrNull(bot.pre_transfer_message),
    ...postCallFields(bot, variables),
    post_call_llm: bot.post_call_llm ? withProviderKey(bot.post_call_llm, configInputs.keys) : null,
    live_prompt_cache_state: livePromptCacheState(bot, configInputs),
    sip_context: { ...call.sipContext },
    call_context: { ...variables.call },
    crm_context: { ...variables.crm },
    knowledge: knowledge(bot, configInputs.knowledgeUsable),
    callback_detection_enabled: configInputs.callbackDetection,
    callback_detection: configInputs.callbackDetection ? (bot.callback_detection ?? {}) : null,
    minio: configInputs.objectStorage,
    agent_desk_enabled: bot.agent_desk?.enabled ?? false,
    agent_desk_context:
      bot.agent_desk?.enabled && bot.agent_desk.context !== undefined
        ? renderJson(bot.agent_desk.context, variables)
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
      conversation_policy: renderJson(bot.conversation_policy, variables) as Record<string, unknown>,
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

function livePromptCacheState(bot: Bot, configInputs: ConfigInputs) {
  if (!bot.live_prompt_cache?.enabled || bot.conversation_policy) return null;
  return configInputs.livePromptCache ?? { cache_name: null, expires_at: null };
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
