/** The language model as a call uses it: one streamed answer per turn, cancellable at any token. */
export type ChatMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; callId: string; name: string; result: unknown };

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface LlmRequest {
  system: string;
  messages: readonly ChatMessage[];
  tools: readonly Record<string, unknown>[];
}

export interface LlmUsage {
  promptTokens: number | null;
  completionTokens: number | null;
  cacheReadTokens: number | null;
  cacheCreationTokens: number | null;
}

export type LlmDelta =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  /** Machine-readable remark, such as the rule that a scripted model followed. */
  | { type: 'note'; note: string }
  | { type: 'usage'; usage: LlmUsage };

export interface LanguageModel {
  readonly name: string;
  readonly model: string | null;
  /**
   * Streams the answer. An aborted signal ends the iteration by throwing the signal's reason; no delta follows an
   * abort. Throws AppError (`provider_failed`, `provider_timeout`).
   */
  answer(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmDelta>;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}
