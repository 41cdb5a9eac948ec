import type { Bot } from '../../contracts/bot.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { renderTemplate, staticPart, type Variables } from '../../platform/render-template.ts';
import { contentVersion, DEFAULT_CACHE_TTL_SECONDS } from './prompt-parts.ts';

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
export function postCallFields(bot: Bot, variables: Variables): PostCallFields {
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
