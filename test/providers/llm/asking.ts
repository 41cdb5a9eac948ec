import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import type {
  ChatMessage,
  LanguageModel,
  LlmCacheUse,
  LlmDelta,
  LlmFinish,
  LlmRequest,
  LlmUsage,
  ToolCall,
} from '../../../src/providers/contract/language-model.ts';
import {
  type PromptCacheEntry,
  type PromptCachePort,
  type ProviderContext,
  type ProviderTrouble,
  plainContext,
} from '../../../src/providers/contract/provider-context.ts';
import type { ProviderFailure } from '../../../src/providers/contract/provider-error.ts';
import { openLlm } from '../../../src/providers/open-providers.ts';

/** One answer as a turn of a call sees it, or how it failed. */
export interface Answer {
  text: string;
  calls: ToolCall[];
  usage: LlmUsage | null;
  cache: LlmCacheUse | null;
  finish: LlmFinish | null;
  deltas: LlmDelta[];
  error: unknown;
  /** The details of a provider's error. */
  failure: ProviderFailure | null;
}

export const NEVER = new AbortController().signal;

/** Asks and takes the answer to its end; what is thrown is kept. */
export async function ask(
  llm: LanguageModel,
  request: Partial<LlmRequest> | string,
  signal: AbortSignal = NEVER,
): Promise<Answer> {
  const answer: Answer = {
    text: '',
    calls: [],
    usage: null,
    cache: null,
    finish: null,
    deltas: [],
    error: null,
    failure: null,
  };
  try {
    for await (const delta of llm.answer(asRequest(request), signal)) {
      answer.deltas.push(delta);
      if (delta.type === 'text') answer.text += delta.text;
      if (delta.type === 'tool_call') answer.calls.push(delta.call);
      if (delta.type === 'usage') answer.usage = delta.usage;
      if (delta.type === 'cache') answer.cache = delta.cache;
      if (delta.type === 'finish') answer.finish = delta.reason;
    }
  } catch (error) {
    answer.error = error;
    if (error instanceof AppError) answer.failure = error.details as unknown as ProviderFailure;
  }
  return answer;
}

export function asRequest(request: Partial<LlmRequest> | string): LlmRequest {
  const given =
    typeof request === 'string' ? { messages: [{ role: 'user' as const, text: request }] } : request;
  return { system: 'You answer the phone.', messages: [], tools: [], ...given };
}

export function user(text: string): ChatMessage {
  return { role: 'user', text };
}

/** The next turn of a conversation in which `answer` called tools that gave `results`, in order. */
export function afterTools(
  before: readonly ChatMessage[],
  answer: Answer,
  results: unknown[],
): ChatMessage[] {
  return [
    ...before,
    { role: 'assistant', text: answer.text, toolCalls: answer.calls },
    ...answer.calls.map((call, index) => ({
      role: 'tool' as const,
      callId: call.id,
      name: call.name,
      result: results[index],
    })),
  ];
}

export const BALANCE_TOOL = {
  type: 'function',
  function: {
    name: 'get_balance',
    description: 'Tells the balance of an account.',
    parameters: { type: 'object', properties: { account: { type: 'string' } }, required: ['account'] },
  },
};

export const ORDER_TOOL = {
  type: 'function',
  function: {
    name: 'get_order',
    description: 'Tells where an order is.',
    parameters: { type: 'object', properties: { order: { type: 'string' } } },
  },
};

/** A call's context whose reports can be read, with a cache port where one is given. */
export function listening(
  options: Partial<ProviderContext> = {},
): ProviderContext & { troubles: ProviderTrouble[] } {
  const troubles: ProviderTrouble[] = [];
  return { ...plainContext, ...options, report: (trouble) => troubles.push(trouble), troubles };
}

/** Opens a client that is closed when the test ends. */
export async function open(
  t: { teardown(action: () => unknown): void },
  config: ProviderConfig,
  context: ProviderContext = plainContext,
): Promise<LanguageModel> {
  const llm = await openLlm(config, context);
  t.teardown(() => llm.close());
  return llm;
}

/** What main knows of a cache entry, for slots of one process. */
export class HostCache {
  entry: PromptCacheEntry | null = null;
  readonly created: PromptCacheEntry[] = [];
  readonly extended: PromptCacheEntry[] = [];
  readonly lost: string[] = [];
  readonly failures: string[] = [];
  claims = 0;
  private claimed = false;

  port(options: { version?: string; ttlSeconds?: number } = {}): PromptCachePort {
    return {
      version: options.version ?? 'v1',
      ttlSeconds: options.ttlSeconds ?? 3_600,
      current: () => this.entry,
      claim: async () => {
        this.claims++;
        if (this.entry) return this.entry;
        if (this.claimed) return 'skip';
        this.claimed = true;
        return 'create';
      },
      created: (entry) => {
        this.claimed = false;
        this.entry = entry;
        this.created.push(entry);
      },
      extended: (entry) => {
        this.entry = entry;
        this.extended.push(entry);
      },
      lost: (name) => {
        this.lost.push(name);
        if (this.entry?.name === name) this.entry = null;
      },
      failed: (reason) => {
        this.claimed = false;
        this.failures.push(reason);
      },
    };
  }
}
