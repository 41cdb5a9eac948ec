/** The language model as a call uses it: one streamed answer per turn, cancellable at any token. */
export type ChatMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; callId: string; name: string; result: unknown };

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** What the vendor wants back unchanged with the result, such as a thought signature. */
  opaque?: unknown;
}

export interface LlmRequest {
  system: string;
  /**
   * The system text in two halves, `system` being both. The first is the same in every call of the bot, so a vendor may
   * cache it. Absent where the bot caches nothing.
   */
  systemParts?: {
    staticText: string;
    dynamicText: string;
    version: string;
    /** Hints for vendors that cache by key. */
    cacheKey: string | null;
    retention: string | null;
    ttlSeconds: number | null;
  };
  messages: readonly ChatMessage[];
  /** Functions as the bot declares them: {type: 'function', function: {name, description, parameters}}. */
  tools: readonly Record<string, unknown>[];
  /** Asks for one JSON object: after-call work. */
  json?: boolean;
  /** Overrides the limit of the provider's settings. */
  maxOutputTokens?: number;
}

export interface LlmUsage {
  promptTokens: number | null;
  completionTokens: number | null;
  cacheReadTokens: number | null;
  cacheCreationTokens: number | null;
}

/** How the prompt cache served one request (R112). */
export interface LlmCacheUse {
  enabled: boolean;
  status: 'hit' | 'miss';
  version: string;
  /** Why it was so: `created`, `recreated`, `expired`, `extended`, `claimed_elsewhere`, `too_small`, ... */
  reason: string | null;
}

/** Why an answer ended. `refused` is the vendor's content filter. */
export type LlmFinish = 'stop' | 'tool_calls' | 'length' | 'refused' | 'other';

export type LlmDelta =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  /** Machine-readable remark, such as the rule that a scripted model followed. */
  | { type: 'note'; note: string }
  /**
   * What the vendor has counted so far. It may come again, each time in place of the one before: what came ahead of a
   * cut is what is known of a cut answer.
   */
  | { type: 'usage'; usage: LlmUsage }
  /** Likewise; only once the vendor has said what was read from its cache. */
  | { type: 'cache'; cache: LlmCacheUse }
  /** Last delta of an answer that came to its end. */
  | { type: 'finish'; reason: LlmFinish }
  /** From here on another provider answers; metrics name it. */
  | { type: 'served_by'; provider: string; model: string | null };

export interface LanguageModel {
  readonly name: string;
  readonly model: string | null;
  /**
   * Streams the answer. An aborted signal ends the iteration by throwing the signal's reason; no delta follows an
   * abort. Throws AppError (`provider_failed`, `provider_timeout`).
   */
  answer(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmDelta>;
  /**
   * Opens the connection to the vendor ahead of the first answer, or again after an aborted one, which closed it. Told
   * what the call is going to ask, it also has a cache entry created where the vendor works with entries. Never
   * rejects: an answer that finds nothing warm only takes longer.
   */
  warm?(request?: Pick<LlmRequest, 'system' | 'systemParts' | 'tools'>): Promise<void>;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}
