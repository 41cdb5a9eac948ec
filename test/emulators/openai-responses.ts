import type { HttpRoute } from './kit/emulator.ts';
import { checkFields, type FieldRule, type Fields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { type AskedRequest, parsedResult } from './llm/answer.ts';
import { type Complaint, checked, isRecord, pathOf, records } from './llm/complaint.ts';
import { bodyOf, isComplaint } from './llm/llm-emulator.ts';
import { serveAnswer } from './llm/serve-answer.ts';
import { countTokens, wordsInside } from './llm/tokens.ts';
import { contentText, OPENAI_FUNCTION_NAME, parametersProblem } from './openai-chat-messages.ts';
import { answerHeaders, openAiRefusal } from './openai-errors.ts';
import { CACHE_FIELDS, EFFORTS, refused, SERVICE_TIERS, toolUseProblem } from './openai-fields.ts';
import { cacheTtlMs, type OpenAiHouse } from './openai-house.ts';
import { hintComplaint, type OpenAiModelRules, settingComplaint } from './openai-models.ts';
import { failedEvent, responsesAnswer } from './openai-responses-stream.ts';

/** The Responses API, as OpenAI's API reference has it. */
export function responsesRoute(house: OpenAiHouse): HttpRoute {
  return { method: 'POST', path: '/v1/responses', handle: (exchange) => respond(house, exchange) };
}

const TEXT: FieldRule = { type: 'string' };
const NAMED_TEXT: FieldRule = { type: 'string', required: true };
const STATUS: FieldRule = { type: 'string', oneOf: ['in_progress', 'completed', 'incomplete'] };

const PART: Fields = {
  type: { type: 'string', required: true, oneOf: ['input_text', 'output_text', 'refusal'] },
  text: TEXT,
  refusal: TEXT,
  annotations: { type: 'array' },
  logprobs: { type: 'array' },
  prompt_cache_breakpoint: { type: 'object' },
};

const content: FieldRule = checked((value) => {
  if (typeof value === 'string') return null;
  if (!Array.isArray(value) || value.length === 0) return 'must be a text or a list of parts';
  return value.flatMap((part) => checkFields(part, PART, 'part'))[0] ?? null;
}, true);

/** What may stand in `input`, by the item's type; an item without one is a message. */
const ITEMS: Readonly<Record<string, Fields>> = {
  message: {
    type: TEXT,
    role: { type: 'string', required: true, oneOf: ['system', 'developer', 'user', 'assistant'] },
    content,
    id: TEXT,
    status: STATUS,
    phase: TEXT,
  },
  function_call: {
    type: TEXT,
    call_id: NAMED_TEXT,
    name: NAMED_TEXT,
    arguments: NAMED_TEXT,
    id: TEXT,
    status: STATUS,
  },
  function_call_output: { type: TEXT, call_id: NAMED_TEXT, output: content, id: TEXT, status: STATUS },
  reasoning: {
    type: TEXT,
    id: TEXT,
    summary: { type: 'array', required: true },
    encrypted_content: { type: 'string', nullable: true },
    status: STATUS,
  },
};

const TOOLS: FieldRule = {
  type: 'array',
  items: {
    type: 'object',
    fields: {
      type: { type: 'string', required: true, oneOf: ['function'] },
      name: {
        type: 'string',
        required: true,
        test: (name: string) =>
          OPENAI_FUNCTION_NAME.test(name) ? null : 'does not fit ^[a-zA-Z0-9_-]{1,64}$',
      },
      description: TEXT,
      parameters: { type: 'any' },
      strict: { type: 'boolean', nullable: true },
    },
    test: (tool: Record<string, unknown>) => parametersProblem(tool.parameters, tool.strict === true),
  },
};

const RESPONSES_FIELDS: Fields = {
  ...CACHE_FIELDS,
  model: { type: 'string', required: true },
  instructions: TEXT,
  input: checked(
    (value) => (typeof value === 'string' || Array.isArray(value) ? null : 'must be a text or a list'),
    true,
  ),
  tools: TOOLS,
  tool_choice: checked((value) => {
    if (typeof value === 'string')
      return ['auto', 'none', 'required'].includes(value) ? null : 'is no tool choice';
    const fields: Fields = {
      type: { type: 'string', required: true, oneOf: ['function'] },
      name: NAMED_TEXT,
    };
    return checkFields(value, fields, 'tool_choice')[0] ?? null;
  }),
  parallel_tool_calls: { type: 'boolean' },
  stream: { type: 'boolean' },
  stream_options: { type: 'object', fields: { include_obfuscation: { type: 'boolean' } } },
  store: { type: 'boolean' },
  reasoning: {
    type: 'object',
    fields: {
      effort: { type: 'string', oneOf: EFFORTS },
      summary: { type: 'string', oneOf: ['auto', 'concise', 'detailed'] },
    },
  },
  text: {
    type: 'object',
    fields: { verbosity: { type: 'string', oneOf: ['low', 'medium', 'high'] }, format: { type: 'object' } },
  },
  max_output_tokens: { type: 'integer', min: 16 },
  temperature: { type: 'number', min: 0, max: 2 },
  top_p: { type: 'number', min: 0, max: 1 },
  include: { type: 'array', items: { type: 'string', oneOf: ['reasoning.encrypted_content'] } },
  service_tier: { type: 'string', oneOf: SERVICE_TIERS },
  safety_identifier: { type: 'string', maxLength: 64 },
};

async function respond(house: OpenAiHouse, exchange: HttpExchange): Promise<void> {
  const body = await bodyOf(exchange);
  if (isComplaint(body)) return house.refuse(exchange, body, null);
  const entry = house.entryComplaint(exchange, body);
  if (entry) return house.refuse(exchange, entry, body);
  const rules = house.rulesOf(String(body.model)) as OpenAiModelRules;
  const complaint = responsesComplaint(body, rules);
  if (complaint) return house.refuse(exchange, complaint, body);

  const served = house.desk.take(asked(body), exchange.path);
  const prompt = promptText(body);
  const use = house.cache.use(
    `${body.model} ${body.prompt_cache_key ?? ''}`,
    prompt,
    cacheTtlMs(body),
    house.emulator.clock.nowMs(),
  );
  const options = isRecord(body.stream_options) ? body.stream_options : {};
  const include = Array.isArray(body.include) ? body.include : [];
  const answer = responsesAnswer(served.answer, {
    id: `resp_${served.index}`,
    model: String(body.model),
    obfuscation: options.include_obfuscation !== false,
    encrypted: include.includes('reasoning.encrypted_content'),
    promptTokens: countTokens(prompt),
    cachedTokens: use.cachedTokens,
    writtenTokens: rules.cacheOptions ? use.writtenTokens : 0,
  });
  served.usage = (answer.whole.usage as Record<string, unknown> | null | undefined) ?? null;
  await serveAnswer(exchange, house.desk, served, {
    frames: body.stream === true ? answer.frames : null,
    whole: answer.whole,
    headers: answerHeaders(served.index),
    lineEnd: '\n',
    refusal: openAiRefusal,
    errorEvent: failedEvent,
  });
}

function responsesComplaint(body: Record<string, unknown>, rules: OpenAiModelRules): Complaint | null {
  const problem = checkFields(body, RESPONSES_FIELDS, 'body')[0];
  if (problem) return refused(problem, pathOf(problem));
  const input = typeof body.input === 'string' ? null : inputProblem(body.input as unknown[]);
  if (input) return refused(input, 'input');
  const tools = toolUseProblem(body);
  if (tools) return tools;
  const reasoning = isRecord(body.reasoning) ? body.reasoning : {};
  const settings = {
    effort: reasoning.effort,
    effortName: 'reasoning.effort',
    hasTools: body.tools !== undefined,
    chat: false,
  };
  return settingComplaint(body, rules, settings) ?? hintComplaint(body, rules);
}

/** Every item fits its type, and calls and their outputs come in pairs. */
function inputProblem(input: readonly unknown[]): string | null {
  if (input.length === 0) return 'input must not be empty';
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, item] of input.entries()) {
    const type = isRecord(item) ? String(item.type ?? 'message') : '';
    const fields = ITEMS[type];
    if (!fields || !isRecord(item)) return `input[${index}].type: '${type}' is not supported`;
    const problem = checkFields(item, fields, `input[${index}]`)[0];
    if (problem) return problem;
    const id = String(item.call_id);
    if (type === 'function_call') {
      if (seen.has(id)) return `Duplicate function call with call_id ${id}.`;
      seen.add(id);
      open.add(id);
    }
    if (type === 'function_call_output' && !open.delete(id)) {
      return `No tool call found for function call output with call_id ${id}.`;
    }
    if (type === 'message' && item.role === 'user' && open.size > 0) {
      return `No tool output found for function call ${[...open][0]}.`;
    }
  }
  return open.size > 0 ? `No tool output found for function call ${[...open][0]}.` : null;
}

function items(body: Record<string, unknown>): Record<string, unknown>[] {
  return typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : records(body.input);
}

function promptText(body: Record<string, unknown>): string {
  const tools = body.tools === undefined ? '' : wordsInside(body.tools);
  const parts = items(body).map((item) =>
    item.content === undefined ? wordsInside(item) : `${item.role} ${contentText(item.content)}`,
  );
  return [tools, body.instructions ?? '', ...parts].join(' ');
}

function asked(body: Record<string, unknown>): Omit<AskedRequest, 'index'> {
  const list = items(body);
  const systems = list.filter((item) => item.role === 'system' || item.role === 'developer');
  const lastTurn = list.findLastIndex((item) => item.type !== 'function_call_output');
  const format = isRecord(body.text) && isRecord(body.text.format) ? body.text.format.type : 'text';
  return {
    model: String(body.model),
    system: [String(body.instructions ?? ''), ...systems.map((item) => contentText(item.content))]
      .join('\n')
      .trim(),
    lastUserText: contentText(list.findLast((item) => item.role === 'user')?.content),
    toolResults: list.slice(lastTurn + 1).map((item) => parsedResult(contentText(item.output))),
    toolNames: records(body.tools).map((tool) => String(tool.name)),
    json: format === 'json_object' || format === 'json_schema',
    maxTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : null,
    body,
  };
}
