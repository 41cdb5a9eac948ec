import type Anthropic from '@anthropic-ai/sdk';
import type { LlmDelta, LlmFinish, LlmUsage } from '../../contract/language-model.ts';
import { answerFault } from '../../llm/llm-errors.ts';
import { finishedCall, ToolCallJoiner } from '../../llm/tool-calls.ts';
import type { AnthropicOpaque } from './request.ts';

type Event = Anthropic.RawMessageStreamEvent;
type Thought = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;

const FINISHES: Record<string, LlmFinish> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
};

/** Counters as the vendor gives them: the three parts of the prompt are disjoint. */
interface Counters {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/**
 * Events to deltas (Anthropic's documentation, streaming). Blocks are told by their type and not by their place,
 * since a thinking block may come first; thoughts are never text. Unknown events are left alone. The prompt and what
 * the cache did for it are counted at the start, so an answer that is cut has cost that much in any case. A stream
 * without `message_stop` was cut.
 */
export async function* readAnthropicStream(events: AsyncIterable<Event>): AsyncGenerator<LlmDelta> {
  const calls = new ToolCallJoiner('anthropic');
  const thoughts = new Map<number, Thought>();
  let counters: Counters = {};
  let finish: LlmFinish | null = null;
  let isWhole = false;
  for await (const event of events) {
    if (event.type === 'message_start') {
      counters = { ...event.message.usage };
      yield { type: 'usage', usage: readUsage(counters) };
    } else if (event.type === 'content_block_start') {
      const block = event.content_block;
      if (block.type === 'tool_use') calls.add(event.index, { id: block.id, name: block.name });
      else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
        thoughts.set(event.index, { ...block });
      } else if (block.type === 'text' && block.text) yield { type: 'text', text: block.text };
    } else if (event.type === 'content_block_delta') {
      const { delta, index } = event;
      if (delta.type === 'text_delta') yield { type: 'text', text: delta.text };
      else if (delta.type === 'input_json_delta') calls.add(index, { text: delta.partial_json });
      else addThought(thoughts.get(index), delta);
    } else if (event.type === 'message_delta') {
      const reason = event.delta.stop_reason;
      if (reason) finish = FINISHES[reason] ?? 'other';
      counters = { ...counters, ...withoutNulls(event.usage) };
      yield { type: 'usage', usage: readUsage(counters) };
    } else if (event.type === 'message_stop') isWhole = true;
  }
  if (finish === null || !isWhole) {
    throw answerFault('anthropic', 'transient', 'stream_cut', 'ended its answer in the middle');
  }

  for (const [index, joined] of calls.take().entries()) {
    const call = finishedCall('anthropic', joined, finish === 'length');
    if (index === 0 && thoughts.size > 0) {
      call.opaque = { vendor: 'anthropic', thinking: [...thoughts.values()] } satisfies AnthropicOpaque;
    }
    yield { type: 'tool_call', call };
  }
  yield { type: 'finish', reason: finish };
}

function addThought(
  thought: Thought | undefined,
  delta: { type: string; thinking?: string; signature?: string },
): void {
  if (thought?.type !== 'thinking') return;
  if (delta.type === 'thinking_delta') thought.thinking += delta.thinking ?? '';
  if (delta.type === 'signature_delta') thought.signature += delta.signature ?? '';
}

/** The prompt is the sum of its parts: fresh, read from the cache, written to it (reference 4.1). */
function readUsage(counters: Counters): LlmUsage {
  const input = counters.input_tokens;
  const read = counters.cache_read_input_tokens ?? 0;
  const created = counters.cache_creation_input_tokens ?? 0;
  return {
    promptTokens: input === undefined || input === null ? null : input + read + created,
    completionTokens: counters.output_tokens ?? null,
    cacheReadTokens: read,
    cacheCreationTokens: created,
  };
}

/** `message_delta` repeats only some of the counters. */
function withoutNulls(counters: Counters | null | undefined): Counters {
  const entries = Object.entries(counters ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Counters;
}
