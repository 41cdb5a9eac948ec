import type OpenAI from 'openai';
import type { ChatMessage, LlmDelta, LlmFinish, LlmUsage, ToolCall } from '../../contract/language-model.ts';
import { answerFault } from '../../llm/llm-errors.ts';
import { finishedCall, MAX_CALLS, resultText } from '../../llm/tool-calls.ts';
import { readTools } from '../../llm/tool-schema.ts';
import { type OpenAiCall, type OpenAiSettings, systemWithJsonWord } from './llm-call.ts';

type Request = OpenAI.Responses.ResponseCreateParamsStreaming;
type Event = OpenAI.Responses.ResponseStreamEvent;
type Answer = OpenAI.Responses.Response;
type InputItem = OpenAI.Responses.ResponseInputItem;

/** What a tool call carries back: the vendor wants its own thoughts again in front of the call that they led to. */
interface Opaque {
  vendor: 'openai';
  reasoning: InputItem[];
}

/** The vendor refuses a lower limit on this API. */
const MIN_OUTPUT_TOKENS = 16;

/** One answer over `POST /responses`, which keeps nothing on the vendor's side. */
export async function* responsesAnswer(call: OpenAiCall): AsyncGenerator<LlmDelta> {
  const stream = await call.client.responses.create(responsesRequest(call), { signal: call.signal });
  yield* readResponsesStream(stream);
}

/**
 * Events to deltas. Items are taken from their `done` events, which hold them whole; gaps in `sequence_number` and
 * events of unknown types do not matter. One of the terminal events decides how the answer ended.
 */
export async function* readResponsesStream(events: AsyncIterable<Event>): AsyncGenerator<LlmDelta> {
  const calls: { id: string | null; name: string; text: string }[] = [];
  const reasoning: InputItem[] = [];
  let isRefused = false;
  let last: Answer | null = null;
  for await (const event of events) {
    if (event.type === 'response.output_text.delta') yield { type: 'text', text: event.delta };
    else if (event.type === 'response.refusal.delta') isRefused = true;
    else if (event.type === 'response.output_item.done') {
      const { item } = event;
      if (item.type === 'function_call') {
        calls.push({ id: item.call_id, name: item.name, text: item.arguments });
      } else if (item.type === 'reasoning') reasoning.push(item);
      if (calls.length > MAX_CALLS) {
        throw answerFault(
          'openai',
          'content',
          'tool_call_too_large',
          'gave more tool calls than a turn can hold',
        );
      }
    } else if (event.type === 'response.completed' || event.type === 'response.incomplete') {
      last = event.response;
    } else if (event.type === 'response.failed') throw failed(event.response);
    else if (event.type === 'error') throw refusedBy(event.code, event.message);
  }
  if (!last) throw answerFault('openai', 'transient', 'stream_cut', 'ended its answer in the middle');

  const finish = finishOf(last, isRefused, calls.length > 0);
  for (const [index, joined] of calls.entries()) {
    const call: ToolCall = finishedCall('openai', joined, finish === 'length');
    // Thoughts come before all the calls of an answer, so the first one carries them.
    if (index === 0 && reasoning.length > 0) call.opaque = { vendor: 'openai', reasoning } satisfies Opaque;
    yield { type: 'tool_call', call };
  }
  yield { type: 'usage', usage: readUsage(last.usage) };
  yield { type: 'finish', reason: finish };
}

function finishOf(answer: Answer, isRefused: boolean, hasCalls: boolean): LlmFinish {
  const reason = answer.incomplete_details?.reason;
  if (reason === 'max_output_tokens') return 'length';
  if (reason === 'content_filter' || isRefused) return 'refused';
  if (answer.status === 'incomplete') return 'other';
  return hasCalls ? 'tool_calls' : 'stop';
}

function failed(answer: Answer): unknown {
  return refusedBy(answer.error?.code ?? null, answer.error?.message ?? 'the response failed');
}

/** In the shape in which the SDK throws what a stream says, so that one place classifies both. */
function refusedBy(code: string | null, message: string): unknown {
  return { error: { code, message } };
}

/** Cached tokens are part of the input tokens (reference 4.1). */
function readUsage(usage: Answer['usage']): LlmUsage {
  return {
    promptTokens: usage?.input_tokens ?? null,
    completionTokens: usage?.output_tokens ?? null,
    cacheReadTokens: usage?.input_tokens_details?.cached_tokens ?? null,
    cacheCreationTokens: null,
  };
}

function responsesRequest({ settings, request, hints }: OpenAiCall): Request {
  const system = systemWithJsonWord(request);
  const tools = readTools(request.tools);
  const effort = effortOf(settings);
  return {
    model: settings.model,
    ...(system.trim() !== '' && { instructions: system }),
    input: inputItems(request.messages),
    stream: true,
    // The transcript is the platform's to keep; with nothing stored, thoughts travel encrypted.
    store: false,
    stream_options: { include_obfuscation: false },
    max_output_tokens: Math.max(request.maxOutputTokens ?? settings.maxOutputTokens, MIN_OUTPUT_TOKENS),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...(effort !== null && { reasoning: { effort } }),
    ...(effort !== null && effort !== 'none' && { include: ['reasoning.encrypted_content' as const] }),
    ...(request.json && { text: { format: { type: 'json_object' as const } } }),
    ...(tools.length > 0 && {
      // Strict schemas refuse optional parameters, which bots have.
      tools: tools.map((tool) => ({ type: 'function' as const, ...tool, strict: false })),
    }),
    ...hints,
  };
}

function effortOf(settings: OpenAiSettings): OpenAI.ReasoningEffort {
  const sends = settings.capabilities ? settings.capabilities.reasoningWire === 'effort' : true;
  return sends ? settings.reasoning : null;
}

function inputItems(history: readonly ChatMessage[]): InputItem[] {
  const items: InputItem[] = [];
  for (const message of history) {
    if (message.role === 'user') items.push({ role: 'user', content: message.text });
    else if (message.role === 'tool') {
      items.push({
        type: 'function_call_output',
        call_id: message.callId,
        output: resultText(message.result),
      });
    } else {
      if (message.text !== '') items.push({ role: 'assistant', content: message.text });
      for (const call of message.toolCalls ?? []) {
        items.push(...reasoningOf(call), {
          type: 'function_call',
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.args),
        });
      }
    }
  }
  return items;
}

function reasoningOf(call: ToolCall): InputItem[] {
  const opaque = call.opaque as Partial<Opaque> | null | undefined;
  return opaque?.vendor === 'openai' && Array.isArray(opaque.reasoning) ? opaque.reasoning : [];
}
