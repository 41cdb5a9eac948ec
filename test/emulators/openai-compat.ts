import type { HttpRoute } from './kit/emulator.ts';
import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { type Complaint, isRecord, records } from './llm/complaint.ts';
import {
  bodyOf,
  isComplaint,
  type LlmEmulator,
  type LlmEmulatorOptions,
  type LlmHouse,
  startLlmEmulator,
} from './llm/llm-emulator.ts';
import { PrefixCache } from './llm/prefix-cache.ts';
import { serveAnswer } from './llm/serve-answer.ts';
import { frame } from './llm/stream-frames.ts';
import { countTokens, wordsInside } from './llm/tokens.ts';
import { askedOfChat } from './openai-chat.ts';
import { contentText, messagesProblem } from './openai-chat-messages.ts';
import { type ChatStyle, chatAnswer } from './openai-chat-stream.ts';
import { openAiRefusal } from './openai-errors.ts';
import { chatToolChoice, chatTools, responseFormat, stopWords } from './openai-fields.ts';

/** A local server with the habits that its documentation admits. */
export interface CompatOptions extends LlmEmulatorOptions {
  server?: 'vllm' | 'llama.cpp' | 'ollama';
  /** vLLM without its tool parser and llama.cpp without its template engine take no tools. */
  toolsEnabled?: boolean;
  /** Where usage is told; `extra` needs stream_options.include_usage as with OpenAI. */
  usage?: ChatStyle['usage'];
  /** False leaves the id of tool calls out. */
  callIds?: boolean;
  wholeCalls?: boolean;
  finishForCalls?: ChatStyle['finishForCalls'];
  /** Tells cached tokens in the usage, as vLLM does when it is asked to at its start. */
  cachedTokens?: boolean;
  /** The model that is loaded; every other name is unknown. */
  model?: string;
}

export interface CompatEmulator extends LlmEmulator {
  /** For clients' base_url: it ends with /v1. */
  url: string;
}

export const COMPAT_MODEL = 'local-model';

/** Chat Completions of a local server; everything outside the reduced list of fields is refused (D-35). */
export async function startCompat(options: CompatOptions = {}): Promise<CompatEmulator> {
  const emulator = await startLlmEmulator('openai-compat', options, (house) => routes(house, options));
  return Object.assign(emulator, { url: `${emulator.httpUrl}/v1` });
}

const ROLES = ['system', 'user', 'assistant', 'tool'];

const tools: FieldRule = {
  ...chatTools,
  test: (list: Record<string, unknown>[]) =>
    list.some((tool) => isRecord(tool.function) && tool.function.strict !== undefined)
      ? 'holds strict, which this server does not know'
      : null,
};

const COMPAT_FIELDS: Fields = {
  model: { type: 'string', required: true },
  messages: { type: 'array', required: true },
  stream: { type: 'boolean' },
  stream_options: { type: 'object', fields: { include_usage: { type: 'boolean' } } },
  tools,
  tool_choice: chatToolChoice,
  max_tokens: { type: 'integer', min: 1 },
  temperature: { type: 'number', min: 0, max: 2 },
  top_p: { type: 'number', min: 0, max: 1 },
  stop: stopWords,
  seed: { type: 'integer' },
  response_format: responseFormat,
};

function routes(house: LlmHouse, options: CompatOptions): HttpRoute[] {
  const cache = new PrefixCache();
  const model = options.model ?? COMPAT_MODEL;
  return [
    {
      method: 'POST',
      path: '/v1/chat/completions',
      handle: (exchange) => complete(house, options, cache, exchange),
    },
    {
      method: 'GET',
      path: '/v1/models',
      handle: (exchange) => exchange.reply(200, { object: 'list', data: [{ id: model, object: 'model' }] }),
    },
  ];
}

async function complete(
  house: LlmHouse,
  options: CompatOptions,
  cache: PrefixCache,
  exchange: HttpExchange,
): Promise<void> {
  const server = options.server ?? 'vllm';
  const body = await bodyOf(exchange);
  const complaint = isComplaint(body) ? body : compatComplaint(body, exchange, options, house.apiKey);
  if (complaint) {
    house.desk.refuse(complaint, exchange.path, body);
    return exchange.reply(complaint.status, errorBody(complaint, server));
  }
  const request = body as Record<string, unknown>;
  const served = house.desk.take(askedOfChat(request), exchange.path);
  const prompt = promptText(request);
  const use = cache.use(String(request.model), prompt, 600_000, house.emulator.clock.nowMs());
  const answer = chatAnswer(served.answer, styleOf(options, server, request, served.index), {
    promptTokens: countTokens(prompt),
    cachedTokens: options.cachedTokens ? use.cachedTokens : null,
    writtenTokens: null,
  });
  served.usage = (answer.whole.usage as Record<string, unknown> | undefined) ?? null;
  await serveAnswer(exchange, house.desk, served, {
    frames: request.stream === true ? answer.frames : null,
    whole: answer.whole,
    headers: {},
    lineEnd: '\n',
    refusal: openAiRefusal,
    errorEvent: (kind) => frame('end', openAiRefusal(kind, undefined).body),
  });
}

function compatComplaint(
  body: Record<string, unknown>,
  exchange: HttpExchange,
  options: CompatOptions,
  apiKey: string,
): Complaint | null {
  const server = options.server ?? 'vllm';
  const problem = checkFields(body, COMPAT_FIELDS, 'body')[0] ?? messagesProblem(body.messages, ROLES);
  // Only vLLM and llama.cpp can be started with a key; Ollama takes any. No header at all is right without a key.
  const bearer = exchange.headers.authorization;
  if (options.apiKey !== undefined && server !== 'ollama' && bearer !== `Bearer ${apiKey}`) {
    return { status: 401, message: 'Unauthorized', violation: false };
  }
  if (problem) return { status: 400, message: problem, violation: true };
  const late = records(body.messages).findLastIndex((message) => message.role === 'system');
  if (late > 0) {
    return { status: 400, message: 'System message must be at the beginning.', violation: true };
  }
  const model = options.model ?? COMPAT_MODEL;
  if (body.model !== model) {
    return { status: 404, message: `The model \`${body.model}\` does not exist.`, violation: false };
  }
  if (body.tools === undefined || options.toolsEnabled !== false) return null;
  if (server === 'llama.cpp')
    return { status: 500, message: 'tools param requires --jinja flag', violation: false };
  if (server === 'ollama') {
    return { status: 400, message: `${model} does not support tools`, violation: false };
  }
  const message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
  return { status: 400, message, violation: false };
}

/** llama.cpp and Ollama leave keys out that OpenAI always sends. */
function errorBody(complaint: Complaint, server: string): unknown {
  if (server === 'llama.cpp') return { error: { code: complaint.status, message: complaint.message } };
  if (server === 'ollama') return { error: { message: complaint.message } };
  return {
    error: { message: complaint.message, type: 'BadRequestError', param: null, code: complaint.status },
  };
}

function styleOf(
  options: CompatOptions,
  server: string,
  body: Record<string, unknown>,
  index: number,
): ChatStyle {
  const stream = isRecord(body.stream_options) ? body.stream_options : {};
  const usage = options.usage ?? 'extra';
  const asks = body.stream !== true || stream.include_usage === true;
  return {
    id: `chatcmpl-local${index}`,
    model: String(body.model),
    usage: usage === 'extra' && !asks ? 'none' : usage,
    obfuscation: false,
    wholeCalls: options.wholeCalls ?? server === 'ollama',
    callIds: options.callIds ?? true,
    finishForCalls: options.finishForCalls ?? 'tool_calls',
    thoughtsKey: server === 'ollama' ? 'reasoning' : 'reasoning_content',
    lastChunk:
      server === 'llama.cpp' ? { timings: { prompt_n: 12, predicted_n: 8, predicted_ms: 91.5 } } : {},
  };
}

function promptText(body: Record<string, unknown>): string {
  const messages = records(body.messages).map(
    (message) => `${message.role} ${contentText(message.content)} ${wordsInside(message.tool_calls)}`,
  );
  return [wordsInside(body.tools), ...messages].join(' ');
}
