import { createHash } from 'node:crypto';
import type { CallbackRequest, QcResult } from '../../contracts/call-results.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { textOrNull } from '../../platform/json-shapes.ts';
import { callbackPrompt, localMoment, readCallbackRequest } from './callback-request.ts';

/** The cache namespaces of work after the call (R112). */
export type PostCallNamespace = 'post_call_analysis' | 'qc_analysis' | 'callback_extraction';

/** One question that is asked about a call after it. */
export interface PostCallStage<T> {
  namespace: PostCallNamespace;
  /** Callback extraction is `post_call` with its own processor (R108). */
  metricType: 'post_call' | 'qc';
  /** Of `prompt` the first so many characters are the same in every call; the version names them. */
  prompt: string;
  staticChars: number;
  version: string | null;
  /** What the model has to know beside the transcript. */
  remark: string | null;
  check(answer: Record<string, unknown>): T | string;
}

export interface PostCallStages {
  analysis: PostCallStage<Record<string, unknown>> | null;
  qc: PostCallStage<QcResult> | null;
  callback: PostCallStage<CallbackRequest> | null;
}

/** What the config asks for; `endedAtMs` is the wall time of the hang-up. */
export function postCallStages(config: RuntimeConfig, endedAtMs: number): PostCallStages {
  const versions = config.post_call_cache ?? {};
  return {
    analysis: asked(config.post_call_analysis_prompt, {
      namespace: 'post_call_analysis',
      metricType: 'post_call',
      staticChars: countOf(versions.analysis_static_chars),
      version: textOrNull(versions.analysis_version),
      remark: null,
      check: (answer) => answer,
    }),
    qc: asked(config.qc_prompt, {
      namespace: 'qc_analysis',
      metricType: 'qc',
      staticChars: countOf(versions.qc_static_chars),
      version: textOrNull(versions.qc_version),
      remark: null,
      check: readQc,
    }),
    callback: config.callback_detection_enabled ? callbackStage(config, endedAtMs) : null,
  };
}

function asked<T>(
  prompt: string | null | undefined,
  stage: Omit<PostCallStage<T>, 'prompt'>,
): PostCallStage<T> | null {
  return typeof prompt === 'string' && prompt.trim() !== '' ? { ...stage, prompt } : null;
}

function callbackStage(config: RuntimeConfig, endedAtMs: number): PostCallStage<CallbackRequest> {
  const { instructions, default_delay_minutes: defaultDelayMinutes } = config.callback_detection ?? {};
  const prompt = callbackPrompt(instructions);
  const { timezone = 'UTC' } = config;
  return {
    namespace: 'callback_extraction',
    metricType: 'post_call',
    prompt,
    staticChars: prompt.length,
    version: createHash('sha256').update(prompt).digest('hex').slice(0, 16),
    remark: `The call ended on ${localMoment(endedAtMs, timezone)}.`,
    check: (answer) => readCallbackRequest(answer, { nowMs: endedAtMs, timezone, defaultDelayMinutes }),
  };
}

/** A quality prompt may ask for anything; `score` and `flags` are what the call record shows (docs/results.md). */
function readQc(answer: Record<string, unknown>): QcResult {
  const { score, flags } = answer;
  return {
    score: typeof score === 'number' && Number.isFinite(score) ? score : null,
    flags: Array.isArray(flags) ? flags.filter((flag) => typeof flag === 'string') : [],
    result: answer,
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
