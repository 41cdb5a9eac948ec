import { monotonicMs } from '../../platform/clock.ts';
import type { LlmDelta, LlmUsage, ToolCall } from '../../providers/language-model.ts';
import { ClauseSplitter } from '../speak/clause-splitter.ts';
import { NO_USAGE } from './conversation.ts';

/** What came with an answer besides its words; complete once the stream has ended. */
export interface AnswerRecord {
  note: string | null;
  toolCalls: ToolCall[];
  usage: LlmUsage;
  /** From the request to the first token; null before one came. */
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
    if (delta.type === 'tool_call') record.toolCalls.push(delta.call);
    if (delta.type === 'text') record.firstTokenMs ??= monotonicMs() - startedAtMs;
    // A note comes ahead of the words and belongs to the same sign of life.
    if (isFirst && delta.type !== 'note') {
      isFirst = false;
      onFirstDelta();
    }
    if (delta.type === 'text') yield* splitter.push(delta.text);
  }
  if (isFirst) onFirstDelta();
  yield* splitter.flush();
}

export function newAnswerRecord(): AnswerRecord {
  return { note: null, toolCalls: [], usage: NO_USAGE, firstTokenMs: null };
}
