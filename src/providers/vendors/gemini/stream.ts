import { randomUUID } from 'node:crypto';
import type { GenerateContentResponse, Part } from '@google/genai';
import type { LlmDelta, LlmFinish, LlmUsage, ToolCall } from '../../contract/language-model.ts';
import { answerFault } from '../../llm/llm-errors.ts';
import { MAX_CALLS } from '../../llm/tool-calls.ts';
import type { GeminiOpaque } from './request.ts';

/** finishReason to ours (Gemini's API reference); the four that report a broken answer are errors below. */
const FINISHES: Record<string, LlmFinish> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'refused',
  RECITATION: 'refused',
  BLOCKLIST: 'refused',
  PROHIBITED_CONTENT: 'refused',
  SPII: 'refused',
};

const BROKEN = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
];

/**
 * Chunks to deltas. Thoughts are never text; a call comes whole in one part. The counts grow from chunk to chunk and
 * are told with each, so that of an answer that is cut the last ones are known. There is no mark for the end of the
 * stream, so the finish reason, or the block of the prompt, tells an answer from a connection that was cut.
 */
export async function* readGeminiStream(
  chunks: AsyncIterable<GenerateContentResponse>,
): AsyncGenerator<LlmDelta> {
  let counted: Counts | undefined;
  let finish: LlmFinish | null = null;
  let callCount = 0;
  for await (const chunk of chunks) {
    if (chunk.usageMetadata) {
      counted = { ...counted, ...chunk.usageMetadata };
      yield { type: 'usage', usage: soFar(counted) };
    }
    if (chunk.promptFeedback?.blockReason) finish = 'refused';
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) {
      if (part.thought) continue;
      if (part.text) yield { type: 'text', text: part.text };
      if (!part.functionCall) continue;
      callCount++;
      if (callCount > MAX_CALLS) {
        throw answerFault(
          'gemini',
          'content',
          'tool_call_too_large',
          'gave more tool calls than a turn can hold',
        );
      }
      yield { type: 'tool_call', call: readCall(part) };
    }
    const reason = candidate?.finishReason;
    if (!reason) continue;
    if (BROKEN.includes(reason)) {
      throw answerFault('gemini', 'content', reason, `broke its answer off: ${reason}`);
    }
    finish = FINISHES[reason] ?? 'other';
  }
  if (finish === null) {
    throw answerFault('gemini', 'transient', 'stream_cut', 'ended its answer in the middle');
  }
  yield { type: 'usage', usage: counted ? inAll(counted) : NOT_REPORTED };
  yield { type: 'finish', reason: callCount > 0 && finish === 'stop' ? 'tool_calls' : finish };
}

const NOT_REPORTED: LlmUsage = {
  promptTokens: null,
  completionTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
};

function readCall(part: Part): ToolCall {
  const { id, name, args } = part.functionCall ?? {};
  if (!name) throw answerFault('gemini', 'content', 'invalid_tool_call', 'called a function without a name');
  const opaque: GeminiOpaque = {
    vendor: 'gemini',
    ...(id !== undefined && { id }),
    ...(part.thoughtSignature !== undefined && { thoughtSignature: part.thoughtSignature }),
  };
  return { id: id ?? `gemini_${randomUUID()}`, name, args: args ?? {}, opaque };
}

type Counts = NonNullable<GenerateContentResponse['usageMetadata']>;

/** The prompt already includes what was cached; thoughts are output. A counter may still be missing in the middle. */
function soFar(usage: Counts): LlmUsage {
  return {
    promptTokens: usage.promptTokenCount ?? null,
    completionTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    cacheReadTokens: usage.cachedContentTokenCount ?? null,
    cacheCreationTokens: null,
  };
}

/** At the end of an answer the counts are complete, and an absent one is 0 (reference 4.1). */
function inAll(usage: Counts): LlmUsage {
  return { ...soFar(usage), cacheReadTokens: usage.cachedContentTokenCount ?? 0 };
}
