import type { HttpRoute } from './kit/emulator.ts';
import { checkFields, type Fields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { type AskedRequest, parsedResult } from './llm/answer.ts';
import { type Complaint, isRecord, pathOf, records } from './llm/complaint.ts';
import { bodyOf, isComplaint } from './llm/llm-emulator.ts';
import { serveAnswer } from './llm/serve-answer.ts';
import { frame } from './llm/stream-frames.ts';
import { countTokens, wordsInside } from './llm/tokens.ts';
import { contentText, messagesProblem } from './openai-chat-messages.ts';
import { chatAnswer } from './openai-chat-stream.ts';
import { answerHeaders, openAiRefusal } from './openai-errors.ts';
import {
  CACHE_FIELDS,
  chatToolChoice,
  chatTools,
  EFFORTS,
  refused,
  responseFormat,
  SERVICE_TIERS,
  stopWords,
  toolUseProblem,
} from './openai-fields.ts';
import { cacheTtlMs, type OpenAiHouse } from './openai-house.ts';
import { hintComplaint, type OpenAiModelRules, settingComplaint } from './openai-models.ts';

/** Chat Completions, as OpenAI's API reference has them. */
export function chatRoute(house: OpenAiHouse): HttpRoute {
  return { method: 'POST', path: '/v1/chat/completions', handle: (exchange) => complete(house, exchange) };
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
const CHAT_FIELDS: Fields = {
  ...CACHE_FIELDS,
  model: { type: 'string', required: true },
  messages: { type: 'array', required: true },
  stream: { type: 'boolean' },
  stream_options: {
    type: 'object',
    fields: { include_usage: { type: 'boolean' }, include_obfuscation: { type: 'boolean' } },
  },
  tools: chatTools,
  tool_choice: chatToolChoice,
  parallel_tool_calls: { type: 'boolean' },
  max_completion_tokens: { type: 'integer', min: 1 },
  max_tokens: { type: 'integer', min: 1 },
  temperature: { type: 'number', min: 0, max: 2 },
  top_p: { type: 'number', min: 0, max: 1 },
  stop: stopWords,
  reasoning_effort: { type: 'string', oneOf: EFFORTS },
  verbosity: { type: 'string', oneOf: ['low', 'medium', 'high'] },
  service_tier: { type: 'string', oneOf: SERVICE_TIERS },
  response_format: responseFormat,
  store: { type: 'boolean' },
  safety_identifier: { type: 'string', maxLength: 64 },
};

async function complete(house: OpenAiHouse, exchange: HttpExchange): Promise<void> {
  const body = await bodyOf(exchange);
  if (isComplaint(body)) return house.refuse(exchange, body, null);
  const entry = house.entryComplaint(exchange, body);
  if (entry) return house.refuse(exchange, entry, body);
  const rules = house.rulesOf(String(body.model)) as OpenAiModelRules;
  const complaint = chatComplaint(body, rules);
  if (complaint) return house.refuse(exchange, complaint, body);

  const served = house.desk.take(askedOfChat(body), exchange.path);
  const promptTokens = countTokens(promptText(body));
  const use = house.cache.use(
    `${body.model} ${body.prompt_cache_key ?? ''}`,
    cacheableText(body),
    cacheTtlMs(body),
    house.emulator.clock.nowMs(),
  );
  const options = isRecord(body.stream_options) ? body.stream_options : {};
  const answer = chatAnswer(
    served.answer,
    {
      id: `chatcmpl-${served.index}`,
      model: String(body.model),
      usage: body.stream === true && options.include_usage !== true ? 'none' : 'extra',
      obfuscation: options.include_obfuscation !== false,
      wholeCalls: false,
      callIds: true,
      finishForCalls: 'tool_calls',
      thoughtsKey: null,
      lastChunk: {},
    },
    {
      promptTokens,
      cachedTokens: use.cachedTokens,
      writtenTokens: rules.cacheOptions ? use.writtenTokens : null,
    },
  );
  served.usage = (answer.whole.usage as Record<string, unknown> | undefined) ?? null;
  await serveAnswer(exchange, house.desk, served, {
    frames: body.stream === true ? answer.frames : null,
    whole: answer.whole,
    headers: answerHeaders(served.index),
    lineEnd: '\n',
    refusal: openAiRefusal,
    errorEvent: (kind) => frame('end', openAiRefusal(kind, undefined).body),
  });
}

function chatComplaint(body: Record<string, unknown>, rules: OpenAiModelRules): Complaint | null {
  const problem = checkFields(body, CHAT_FIELDS, 'body')[0];
  if (problem) return refused(problem, pathOf(problem));
  const message = messagesProblem(body.messages, ROLES);
  if (message) return refused(message, 'messages');
  const tools = toolUseProblem(body);
  if (tools) return tools;
  if (body.stream_options !== undefined && body.stream !== true) {
    return refused(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  const settings = {
    effort: body.reasoning_effort,
    effortName: 'reasoning_effort',
    hasTools: body.tools !== undefined,
    chat: true,
  };
  return (
    settingComplaint(body, rules, settings) ?? hintComplaint(body, rules) ?? breakpointComplaint(body, rules)
  );
}

function breakpointComplaint(body: Record<string, unknown>, rules: OpenAiModelRules): Complaint | null {
  const marks = records(body.messages)
    .flatMap((message) => records(message.content))
    .filter((part) => part.prompt_cache_breakpoint !== undefined);
  if (marks.length === 0) return null;
  if (!rules.cacheOptions) {
    const message = "Unsupported parameter: 'prompt_cache_breakpoint' is not supported with this model.";
    return {
      status: 400,
      code: 'unsupported_parameter',
      param: 'prompt_cache_breakpoint',
      message,
      violation: false,
    };
  }
  return marks.length > 4
    ? refused('At most 4 prompt cache breakpoints are written per request.', 'messages')
    : null;
}

/** Tools and messages in the order in which the vendor caches them. */
function promptText(body: Record<string, unknown>): string {
  const tools = body.tools === undefined ? '' : wordsInside(body.tools);
  return [tools, ...records(body.messages).map(messageText)].join(' ');
}

function messageText(message: Record<string, unknown>): string {
  const calls = message.tool_calls === undefined ? '' : wordsInside(message.tool_calls);
  return `${message.role} ${contentText(message.content)} ${calls}`;
}

/** In explicit mode only what stands before the last breakpoint is cached. */
function cacheableText(body: Record<string, unknown>): string {
  const options = isRecord(body.prompt_cache_options) ? body.prompt_cache_options : {};
  if (options.mode !== 'explicit') return promptText(body);
  const messages = records(body.messages);
  const last = messages.findLastIndex((message) =>
    records(message.content).some((part) => part.prompt_cache_breakpoint !== undefined),
  );
  return last === -1 ? '' : promptText({ ...body, messages: messages.slice(0, last + 1) });
}

export function askedOfChat(body: Record<string, unknown>): Omit<AskedRequest, 'index'> {
  const messages = records(body.messages);
  const systems = messages.filter((message) => message.role === 'system' || message.role === 'developer');
  const lastTurn = messages.findLastIndex((message) => message.role !== 'tool');
  const format = isRecord(body.response_format) ? body.response_format.type : 'text';
  const limit = body.max_completion_tokens ?? body.max_tokens;
  return {
    model: String(body.model),
    system: systems.map((message) => contentText(message.content)).join('\n'),
    lastUserText: contentText(messages.findLast((message) => message.role === 'user')?.content),
    toolResults: messages.slice(lastTurn + 1).map((message) => parsedResult(contentText(message.content))),
    toolNames: records(body.tools).map((tool) => String(isRecord(tool.function) ? tool.function.name : '')),
    json: format === 'json_object' || format === 'json_schema',
    maxTokens: typeof limit === 'number' ? limit : null,
    body,
  };
}
