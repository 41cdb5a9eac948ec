import type { PostCallOutcome } from '../../contracts/assemble-results.ts';
import type { CacheUse, TranscriptEntry } from '../../contracts/call-results.ts';
import { POST_CALL_LIMIT_MS } from '../../contracts/limits.ts';
import type { ProviderConfig, RuntimeConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LlmRequest } from '../../providers/contract/language-model.ts';
import type { ProviderContext } from '../../providers/contract/provider-context.ts';
import { openPromptCache, type SharedPromptCache } from '../main-link/prompt-cache-client.ts';
import type { CallLog } from '../record/call-log.ts';
import { tokenCounts } from '../record/token-counts.ts';
import { type AskedModel, askForJson } from './ask-for-json.ts';
import { type PostCallStage, postCallStages } from './post-call-stages.ts';

/** Of a longer conversation the middle is left out: how it began and how it ended says the most. */
const MAX_TRANSCRIPT_CHARS = 200_000;
/** An aborted request of a vendor's library gets so long to let go. */
const LET_GO_MS = 1_000;
const DEFAULT_TTL_SECONDS = 3_600;

export interface PostCallParts {
  config: RuntimeConfig;
  transcript: readonly TranscriptEntry[];
  /** How the call ended, in words for the model: "the customer hung up". */
  ending: { disconnectedBy: string; durationSeconds: number };
  log: CallLog;
  logger: Logger;
  context: ProviderContext;
  limitMs?: number;
}

/**
 * Analysis, quality check and callback extraction: what the bot's prompts make of a call that is over, side by side and
 * within `POST_CALL_LIMIT_MS` together (D-31). Never rejects: a part that fails is an event, and the result
 * goes out without it. A call in which nothing was said is asked nothing about.
 */
export async function postCallWork(parts: PostCallParts): Promise<PostCallOutcome> {
  const nothing: PostCallOutcome = { analysis: null, qc: null, callback: null };
  if (parts.transcript.length === 0) return nothing;
  const stages = postCallStages(parts.config, Date.now());
  const limitMs = parts.limitMs ?? POST_CALL_LIMIT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new Error(`no answer within ${limitMs / 1000} s`)),
    Math.max(0, limitMs - LET_GO_MS),
  );
  const run = async <T>(stage: PostCallStage<T> | null): Promise<T | null> => {
    if (stage === null) return null;
    const settled = await within(ask(stage, parts, deadline.signal), limitMs, null);
    if (settled === null) failed(parts, stage, 'it did not let go in time');
    return settled?.value ?? null;
  };
  try {
    const [analysis, qc, callback] = await Promise.all([
      run(stages.analysis),
      run(stages.qc),
      run(stages.callback),
    ]);
    return { analysis, qc, callback };
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves to the value, or to null where the stage failed and said so; never rejects. */
async function ask<T>(
  stage: PostCallStage<T>,
  parts: PostCallParts,
  signal: AbortSignal,
): Promise<{ value: T | null }> {
  const { config } = parts;
  const { fallbacks = [], ...first } = config.post_call_llm ?? config.llm;
  const primary = first as ProviderConfig;
  const systemParts = partsOf(stage, config);
  const cache = systemParts ? cacheOf(stage, systemParts, primary) : undefined;
  try {
    const value = await askForJson({
      models: [primary, ...fallbacks],
      context: { ...parts.context, ...(cache ? { promptCache: cache } : {}) },
      request: {
        system: stage.prompt,
        ...(systemParts ? { systemParts } : {}),
        user: question(stage, parts),
      },
      check: stage.check,
      onAnswer: (asked) => meter(stage, asked, cache ? { made: cache.made() } : null, parts.log),
      signal,
    });
    return { value };
  } catch (error) {
    failed(parts, stage, describeError(error));
    return { value: null };
  } finally {
    cache?.close();
  }
}

function failed(parts: PostCallParts, stage: PostCallStage<unknown>, error: string): void {
  parts.log.event('post_call_failed', { stage: stage.namespace, error });
  parts.logger.warn({ stage: stage.namespace, err: error }, 'work after the call failed');
}

function question(stage: PostCallStage<unknown>, parts: PostCallParts): string {
  const { disconnectedBy, durationSeconds } = parts.ending;
  return [
    'Transcript of the call, with seconds from its start:',
    transcriptText(parts.transcript),
    `The call lasted ${Math.round(durationSeconds)} s and was ended by: ${disconnectedBy}.`,
    ...(stage.remark === null ? [] : [stage.remark]),
    'Answer with one JSON object and nothing else.',
  ].join('\n');
}

function transcriptText(entries: readonly TranscriptEntry[]): string {
  const text = entries
    .map(({ speaker, text, timestamp }) => `[${timestamp.toFixed(1)}] ${speaker}: ${text}`)
    .join('\n');
  if (text.length <= MAX_TRANSCRIPT_CHARS) return text;
  const half = MAX_TRANSCRIPT_CHARS / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
}

/** Where the bot caches its prompts after the call: the stage's own version says what an entry holds. */
function partsOf(stage: PostCallStage<unknown>, config: RuntimeConfig): LlmRequest['systemParts'] {
  if (!config.post_call_cache_enabled || stage.version === null || stage.staticChars === 0) return undefined;
  const { ttl_seconds: ttlSeconds, retention } = config.post_call_cache ?? {};
  return {
    staticText: stage.prompt.slice(0, stage.staticChars),
    dynamicText: stage.prompt.slice(stage.staticChars),
    version: stage.version,
    cacheKey: `${config.bot_id}:${stage.namespace}:${stage.version}`,
    retention: typeof retention === 'string' ? retention : null,
    ttlSeconds: typeof ttlSeconds === 'number' ? ttlSeconds : DEFAULT_TTL_SECONDS,
  };
}

function cacheOf(
  stage: PostCallStage<unknown>,
  parts: NonNullable<LlmRequest['systemParts']>,
  llm: ProviderConfig,
): StageCache {
  const shared = openPromptCache({
    version: parts.version,
    staticText: `${stage.namespace}\n${parts.staticText}`,
    tools: [],
    llm,
    ttlSeconds: parts.ttlSeconds ?? DEFAULT_TTL_SECONDS,
    known: null,
    // The control plane keeps the entry of the live prompt alone.
    plane: null,
  });
  let made = false;
  return {
    ...shared,
    created(entry) {
      made = true;
      shared.created(entry);
    },
    made: () => made,
  };
}

interface StageCache extends SharedPromptCache {
  /** Whether this stage has made the entry that it uses. */
  made(): boolean;
}

function meter(
  stage: PostCallStage<unknown>,
  asked: AskedModel,
  cache: { made: boolean } | null,
  log: CallLog,
): void {
  log.metric({
    type: stage.metricType,
    processor: stage.namespace,
    model: asked.model,
    ...tokenCounts(asked.usage),
    // An answer that was cut before its vendor spoke of the cache knows nothing of it.
    cache: cache && (asked.cache || !asked.isCut) ? cacheUse(stage, asked, cache.made) : null,
  });
}

/** After the call the status says whether the entry was made or used again (R112). */
function cacheUse(stage: PostCallStage<unknown>, asked: AskedModel, made: boolean): CacheUse {
  const { cache, usage } = asked;
  const isHit = cache?.status === 'hit';
  // Vendors without entries of their own write and read in one answer: what was read makes it a reuse.
  const isCreation = made || (!isHit && (usage?.cacheCreationTokens ?? 0) > 0);
  return {
    enabled: cache?.enabled ?? false,
    status: isCreation ? 'create' : isHit ? 'reuse' : 'miss',
    namespace: stage.namespace,
    version: stage.version ?? '',
    reason: cache ? cache.reason : 'not_supported',
  };
}
