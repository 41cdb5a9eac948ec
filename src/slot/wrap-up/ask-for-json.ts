import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import { sleepMs } from '../../platform/clock.ts';
import type {
  ChatMessage,
  LanguageModel,
  LlmCacheUse,
  LlmRequest,
  LlmUsage,
} from '../../providers/contract/language-model.ts';
import type { ProviderContext } from '../../providers/contract/provider-context.ts';
import { failureClass } from '../../providers/contract/provider-error.ts';
import { openLlm } from '../../providers/open-providers.ts';

/** One answer of a model as the usage metrics tell it. */
export interface AskedModel {
  provider: string;
  model: string | null;
  usage: LlmUsage | null;
  cache: LlmCacheUse | null;
  /** It broke off: what the vendor would have told at the end is missing. */
  isCut: boolean;
}

export interface JsonQuestion<T> {
  /** Tried in this order; the first that answers is asked alone. */
  models: readonly ProviderConfig[];
  context: ProviderContext;
  request: Pick<LlmRequest, 'system' | 'systemParts'> & { user: string };
  /** The value in its final form, or a sentence that says what is wrong with it. */
  check: (value: Record<string, unknown>) => T | string;
  /** Called once for each answer, good or bad: each costs. */
  onAnswer: (asked: AskedModel) => void;
  signal: AbortSignal;
}

/** An answer beyond this is no analysis. */
const MAX_ANSWER_CHARS = 200_000;
const MAX_OUTPUT_TOKENS = 8_192;
/** A provider that fails for the moment is tried once more, after this or after what it asks for. */
const RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 15_000;

/**
 * Asks a model for one JSON object. An answer that is none, or does not pass `check`, is given back to the model once
 * with the reason; then it is a failure. Throws AppError or the signal's reason.
 */
export async function askForJson<T>(question: JsonQuestion<T>): Promise<T> {
  let failure: unknown;
  for (const config of question.models) {
    try {
      return await askOne(config, question);
    } catch (error) {
      question.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure ?? new AppError('bad_provider_config', 'no language model is set up for work after the call');
}

async function askOne<T>(config: ProviderConfig, question: JsonQuestion<T>): Promise<T> {
  const llm = await openLlm(config, question.context);
  try {
    const { system, systemParts } = question.request;
    // Nobody waits on a line here, so the vendor's cache entry may be made before it is asked.
    if (systemParts) await llm.warm?.({ system, systemParts, tools: [] });
    const messages: ChatMessage[] = [{ role: 'user', text: question.request.user }];
    const first = await answerOf(llm, messages, question);
    const read = readObject(first, question.check);
    if ('value' in read) return read.value;
    messages.push(
      { role: 'assistant', text: first || '(nothing)' },
      {
        role: 'user',
        text: `That cannot be used: ${read.mistake}. Answer again with one JSON object and nothing else.`,
      },
    );
    const second = readObject(await answerOf(llm, messages, question), question.check);
    if ('value' in second) return second.value;
    throw new AppError('provider_failed', `the answer of ${llm.name} cannot be used: ${second.mistake}`);
  } finally {
    await llm.close();
  }
}

/** The whole answer as text, with one more try where the failure may pass. */
async function answerOf<T>(
  llm: LanguageModel,
  messages: readonly ChatMessage[],
  question: JsonQuestion<T>,
): Promise<string> {
  try {
    return await oneAnswer(llm, messages, question);
  } catch (error) {
    question.signal.throwIfAborted();
    const kind = failureClass(error);
    if (kind !== 'transient' && kind !== 'rate_limit') throw error;
    await sleepMs(waitOfRefusalMs(error), question.signal);
    return await oneAnswer(llm, messages, question);
  }
}

async function oneAnswer<T>(
  llm: LanguageModel,
  messages: readonly ChatMessage[],
  question: JsonQuestion<T>,
): Promise<string> {
  const { system, systemParts } = question.request;
  const asked: AskedModel = { provider: llm.name, model: llm.model, usage: null, cache: null, isCut: true };
  let text = '';
  try {
    const deltas = llm.answer(
      {
        system,
        ...(systemParts ? { systemParts } : {}),
        messages,
        tools: [],
        json: true,
        maxOutputTokens: MAX_OUTPUT_TOKENS,
      },
      question.signal,
    );
    for await (const delta of deltas) {
      if (delta.type === 'text') text += delta.text;
      if (delta.type === 'usage') asked.usage = delta.usage;
      if (delta.type === 'cache') asked.cache = delta.cache;
      if (delta.type === 'served_by') Object.assign(asked, { provider: delta.provider, model: delta.model });
      if (delta.type === 'finish' && delta.reason === 'refused') {
        throw new AppError('provider_failed', `${llm.name} refused to answer`, {
          details: { class: 'content' },
        });
      }
      if (text.length > MAX_ANSWER_CHARS) {
        throw new AppError('provider_failed', `the answer of ${llm.name} does not end`, {
          details: { class: 'content' },
        });
      }
    }
    asked.isCut = false;
    return text;
  } finally {
    if (text !== '' || asked.usage !== null) question.onAnswer(asked);
  }
}

function waitOfRefusalMs(error: unknown): number {
  const asked = error instanceof AppError ? error.details.retryAfterMs : undefined;
  return typeof asked === 'number' ? Math.min(Math.max(asked, 0), MAX_RETRY_AFTER_MS) : RETRY_AFTER_MS;
}

/** Models like to wrap JSON in a code fence or a sentence, whatever they are told. */
export function readObject<T>(
  answer: string,
  check: (value: Record<string, unknown>) => T | string,
): { value: T } | { mistake: string } {
  const begin = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  if (begin === -1 || end < begin) return { mistake: 'there is no JSON object in it' };
  let value: unknown;
  try {
    value = JSON.parse(answer.slice(begin, end + 1));
  } catch (error) {
    return { mistake: `it is no JSON (${describeError(error).slice(0, 200)})` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { mistake: 'it is no JSON object' };
  }
  const checked = check(value as Record<string, unknown>);
  return typeof checked === 'string' ? { mistake: checked } : { value: checked };
}
