import type OpenAI from 'openai';
import type { ChatMessage, LlmDelta, LlmFinish, LlmUsage } from '../../contract/language-model.ts';
import { answerFault } from '../../llm/llm-errors.ts';
import { finishedCall, resultText, ToolCallJoiner } from '../../llm/tool-calls.ts';
import { readTools } from '../../llm/tool-schema.ts';
import { type OpenAiCall, type OpenAiSettings, systemWithJsonWord } from './llm-call.ts';

type Request = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;

const FINISHES: Record<string, LlmFinish> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'refused',
};

/** One answer over `POST /chat/completions`, of OpenAI and of servers that speak it. */
export async function* chatAnswer(call: OpenAiCall): AsyncGenerator<LlmDelta> {
  const stream = await call.client.chat.completions.create(chatRequest(call), { signal: call.signal });
  yield* readChatStream(stream);
}

/**
 * Chunks to deltas. The usage comes in a chunk of its own after the last choice, or on the last choice, or not at all;
 * tool calls come in fragments or whole, with or without an id; `[DONE]` may be missing. What decides is the finish
 * reason: a stream that ends without one was cut.
 */
export async function* readChatStream(chunks: AsyncIterable<Chunk>): AsyncGenerator<LlmDelta> {
  const calls = new ToolCallJoiner('openai');
  let usage: LlmUsage | null = null;
  let finish: LlmFinish | null = null;
  let isRefused = false;
  for await (const chunk of chunks) {
    if (chunk.usage) usage = readUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    const delta = choice.delta ?? {};
    if (delta.content) yield { type: 'text', text: delta.content };
    // A refusal is written for a reader of logs; what a caller hears instead is up to the bot.
    if (delta.refusal) isRefused = true;
    for (const fragment of delta.tool_calls ?? []) {
      // Where a server leaves the number out, a name begins a new call and anything else belongs to the last.
      const next = fragment.function?.name ? calls.size : Math.max(0, calls.size - 1);
      calls.add(fragment.index ?? next, {
        id: fragment.id ?? null,
        name: fragment.function?.name ?? null,
        text: fragment.function?.arguments ?? null,
      });
    }
    if (choice.finish_reason) finish = FINISHES[choice.finish_reason] ?? 'other';
  }
  if (finish === null) {
    throw answerFault('openai', 'transient', 'stream_cut', 'ended its answer in the middle');
  }
  const finished = calls.take().map((joined) => finishedCall('openai', joined, finish === 'length'));
  for (const call of finished) yield { type: 'tool_call', call };
  yield { type: 'usage', usage: usage ?? NOT_REPORTED };
  // Some servers say `stop` although they call a function.
  if (finished.length > 0 && finish === 'stop') finish = 'tool_calls';
  yield { type: 'finish', reason: isRefused ? 'refused' : finish };
}

const NOT_REPORTED: LlmUsage = {
  promptTokens: null,
  completionTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
};

/** Cached tokens are part of the prompt tokens; what was written stays the vendor's detail (reference 4.1). */
function readUsage(usage: NonNullable<Chunk['usage']>): LlmUsage {
  return {
    promptTokens: usage.prompt_tokens ?? null,
    completionTokens: usage.completion_tokens ?? null,
    cacheReadTokens: usage.prompt_tokens_details?.cached_tokens ?? null,
    cacheCreationTokens: null,
  };
}

function chatRequest({ settings, request, hints }: OpenAiCall): Request {
  const tools = readTools(request.tools);
  const limit = request.maxOutputTokens ?? settings.maxOutputTokens;
  const isCompat = settings.profile === 'compat';
  return {
    model: settings.model,
    messages: chatMessages(systemWithJsonWord(request), request.messages),
    stream: true,
    stream_options: { include_usage: true, ...(!isCompat && { include_obfuscation: false }) },
    ...(isCompat ? { max_tokens: limit } : { max_completion_tokens: limit }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...effort(settings),
    ...(request.json && { response_format: { type: 'json_object' as const } }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })),
    }),
    ...hints,
  };
}

/** Models without reasoning refuse the field even with the value none. */
function effort(settings: OpenAiSettings): { reasoning_effort?: OpenAI.ReasoningEffort } {
  const sends = settings.capabilities ? settings.capabilities.reasoningWire === 'effort' : true;
  return sends && settings.reasoning !== null ? { reasoning_effort: settings.reasoning } : {};
}

function chatMessages(system: string, history: readonly ChatMessage[]): Request['messages'] {
  const messages: Request['messages'] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  for (const message of history) {
    if (message.role === 'user') messages.push({ role: 'user', content: message.text });
    else if (message.role === 'tool') {
      messages.push({ role: 'tool', tool_call_id: message.callId, content: resultText(message.result) });
    } else {
      const calls = (message.toolCalls ?? []).map((call) => ({
        id: call.id,
        type: 'function' as const,
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      }));
      messages.push({
        role: 'assistant',
        content: message.text === '' ? null : message.text,
        ...(calls.length > 0 && { tool_calls: calls }),
      });
    }
  }
  return messages;
}
