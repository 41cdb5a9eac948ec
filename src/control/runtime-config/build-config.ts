import { createHash } from 'node:crypto';
import type { Bot } from '../../contracts/bot.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { renderTemplate, staticPart, type Variables } from './render-template.ts';

/**
 * The config response (interface.md, Config response) with every field present: what the bot does not have yet is
 * served as switched off.
 */
export function buildConfig(call: {
  bot: Bot;
  sessionId: string;
  webhookUrl: string;
  variables: Variables;
  timezone: string;
}): RuntimeConfig {
  const { bot, variables } = call;
  const promptParts = splitPrompt(bot.system_prompt, variables);
  return {
    session_id: call.sessionId,
    bot_id: bot.bot_id,
    webhook_url: call.webhookUrl,
    system_prompt: promptParts.static_system_prompt + promptParts.dynamic_runtime_prompt,
    prompt_parts: promptParts,
    opening_message: renderTemplate(bot.opening_message, variables),
    vad: bot.vad,
    min_words_interruption: bot.min_words_interruption,
    re_engagement: bot.re_engagement,
    ambient_sound: null,
    stt: bot.stt,
    llm: bot.llm,
    tts: bot.tts,
    tools: bot.tools,
    conversation_policy: null,
    transfer_numbers: {},
    transfer_targets: [],
    pre_transfer_message: null,
    post_call_analysis_prompt: null,
    qc_prompt: null,
    post_call_cache_enabled: false,
    post_call_cache_version: null,
    post_call_cache: null,
    live_prompt_cache_state: null,
    sip_context: {},
    call_context: { ...variables.call },
    crm_context: { ...variables.crm },
    knowledge: { enabled: false },
    callback_detection_enabled: false,
    minio: null,
    agent_desk_enabled: false,
    agent_desk_context: null,
    auto_dispositions: [],
    voicemail_message: null,
    max_call_duration_seconds: bot.max_call_duration_seconds,
    timezone: call.timezone,
  };
}

/**
 * The part of the prompt that is the same for every call of the bot, apart from the rest, so that a provider can cache
 * it. The version names the content of the static part.
 */
function splitPrompt(template: string, variables: Variables) {
  const fixed = staticPart(template);
  return {
    mode: 'direct',
    cache_enabled: false,
    static_system_prompt: fixed,
    dynamic_runtime_prompt: renderTemplate(template.slice(fixed.length), variables),
    static_version: createHash('sha256').update(fixed).digest('hex').slice(0, 16),
    cache_key: null,
    cache_retention: null,
  };
}
