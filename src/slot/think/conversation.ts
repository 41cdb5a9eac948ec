import type {
  ChatMessage,
  LanguageModel,
  LlmDelta,
  LlmRequest,
  LlmUsage,
} from '../../providers/language-model.ts';

/**
 * What was said, as the model is told it: the caller's words, and of the bot's only those that were heard. A reply
 * that was cut stands in the history as far as the caller heard it (RT-17), so the model never believes that it has
 * said something nobody got.
 */
type HistoryEntry = { role: 'user'; text: string } | { role: 'assistant'; replyId: number };

/** Entries beyond this are left out of a request, oldest first; the system prompt always stands. */
const MAX_HISTORY_ENTRIES = 200;

export class Conversation {
  private readonly llm: LanguageModel;
  private readonly system: string;
  private readonly systemParts: LlmRequest['systemParts'];
  private readonly tools: readonly Record<string, unknown>[];
  private readonly heardText: (replyId: number) => string;
  private readonly history: HistoryEntry[] = [];

  constructor(options: {
    llm: LanguageModel;
    system: string;
    /** The same in its two halves, where the bot lets the provider cache the first. */
    systemParts?: LlmRequest['systemParts'];
    tools: readonly Record<string, unknown>[];
    heardText: (replyId: number) => string;
  }) {
    this.llm = options.llm;
    this.system = options.system;
    this.systemParts = options.systemParts;
    this.tools = options.tools;
    this.heardText = options.heardText;
  }

  userSaid(text: string): void {
    this.add({ role: 'user', text });
  }

  /** Whatever the caller comes to hear of this reply belongs into the history from here on. */
  botReplies(replyId: number): void {
    this.add({ role: 'assistant', replyId });
  }

  /** The caller went on before the answer was heard: their last words and the answer to them are taken back. */
  withdrawTurn(): void {
    const at = this.history.findLastIndex((entry) => entry.role === 'user');
    if (at >= 0) this.history.splice(at);
  }

  /** Streams the model's answer to what was said so far. Throws like {@link LanguageModel.answer}. */
  answer(signal: AbortSignal): AsyncIterable<LlmDelta> {
    const request: LlmRequest = { system: this.system, messages: this.messages(), tools: this.tools };
    if (this.systemParts) request.systemParts = this.systemParts;
    return this.llm.answer(request, signal);
  }

  private add(entry: HistoryEntry): void {
    this.history.push(entry);
    if (this.history.length > MAX_HISTORY_ENTRIES) this.history.shift();
  }

  private messages(): ChatMessage[] {
    const messages: ChatMessage[] = [];
    for (const entry of this.history) {
      if (entry.role === 'user') {
        messages.push(entry);
        continue;
      }
      const text = this.heardText(entry.replyId);
      if (text !== '') messages.push({ role: 'assistant', text });
    }
    return messages;
  }
}

export const NO_USAGE: LlmUsage = {
  promptTokens: null,
  completionTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
};
