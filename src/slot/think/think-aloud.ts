import { monotonicMs } from '../../platform/clock.ts';
import type { LlmCacheUse, LlmDelta, LlmFinish, LlmUsage, ToolCall } from '../../providers/language-model.ts';
import { ClauseSplitter } from '../speak/clause-splitter.ts';
import { NO_USAGE } from './conversation.ts';

/** What came with an answer besides its words; complete once the stream has ended. */
export interface AnswerRecord {
  note: string | null;
  toolCalls: ToolCall[];
  usage: LlmUsage;
  /** How the prompt cache served it; null where nothing was said about it. */
  cache: LlmCacheUse | null;
  /** Why it ended; null where it broke off, or where the model does not say. */
  finish: LlmFinish | null;
  /** Who answered in the end; null where it was the provider that was asked. */
  servedBy: { provider: string; model: string | null } | null;
  /** From the request to the first token of content, be it a word or a tool call; null before one came. */
  firstTokenMs: number | null;
}

/**
 * Turns a streamed answer into clauses for speech, and keeps what else it carries. `onFirstDelta` is called once,
 * when the model shows its first sign of life.
 */
export async function* thinkAloud(
  deltas: AsyncIterable<LlmDelta>,
  record: AnswerRecord,
  onFirstDelta: () => void,
): AsyncGenerator<string> {
  const startedAtMs = monotonicMs();
  const splitter = new ClauseSplitter();
  let isFirst = true;
  for await (const delta of deltas) {
    if (delta.type === 'note') record.note = delta.note;
    if (delta.type === 'usage') record.usage = delta.usage;
    if (delta.type === 'cache') record.cache = delta.cache;
    if (delta.type === 'finish') record.finish = delta.reason;
    if (delta.type === 'served_by') record.servedBy = { provider: delta.provider, model: delta.model };
    if (delta.type === 'tool_call') record.toolCalls.push(delta.call);
    if (delta.type === 'text' || delta.type === 'tool_call')
      record.firstTokenMs ??= monotonicMs() - startedAtMs;
    // A note comes ahead of the words and belongs to the same sign of life; who serves is no sign of it yet.
    if (isFirst && delta.type !== 'note' && delta.type !== 'served_by' && delta.type !== 'cache') {
      isFirst = false;
      onFirstDelta();
    }
    if (delta.type === 'text') yield* splitter.push(delta.text);
  }
  if (isFirst) onFirstDelta();
  yield* splitter.flush();
}

export function newAnswerRecord(): AnswerRecord {
  return {
    note: null,
    toolCalls: [],
    usage: NO_USAGE,
    cache: null,
    finish: null,
    servedBy: null,
    firstTokenMs: null,
  };
}
