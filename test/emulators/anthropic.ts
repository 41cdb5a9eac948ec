import { claudeComplaintBody, claudeHeaders, claudeRefusal, claudeStreamError } from './anthropic-errors.ts';
import { MESSAGE_FIELDS } from './anthropic-fields.ts';
import { API_VERSIONS, claudeRules, claudeSettingComplaint, refused } from './anthropic-models.ts';
import { claudeAnswer } from './anthropic-stream.ts';
import {
  blocksOf,
  claudeTurnComplaint,
  markComplaint,
  promptBlocks,
  type Turn,
  turnsOf,
} from './anthropic-turns.ts';
import type { HttpRoute } from './kit/emulator.ts';
import { checkFields } from './kit/field-rules.ts';
import type { HttpExchange } from './kit/http-exchange.ts';
import { type AskedRequest, parsedResult } from './llm/answer.ts';
import { BreakpointCache } from './llm/breakpoint-cache.ts';
import { type Complaint, isRecord, records } from './llm/complaint.ts';
import {
  bodyOf,
  isComplaint,
  type LlmEmulator,
  type LlmEmulatorOptions,
  type LlmHouse,
  startLlmEmulator,
} from './llm/llm-emulator.ts';
import { serveAnswer } from './llm/serve-answer.ts';
import { frame } from './llm/stream-frames.ts';

export interface AnthropicOptions extends LlmEmulatorOptions {
  /** Smallest prefix that is cached; the model's own without it. */
  cacheFloorTokens?: number;
}

export interface AnthropicEmulator extends LlmEmulator {
  /** For clients' base_url; the path /v1/messages is theirs to add. */
  url: string;
  cache: BreakpointCache;
  /** Lets what is cached grow older by so much, and nothing else. */
  moveCacheTime(ms: number): void;
}

interface ClaudeHouse extends LlmHouse {
  options: AnthropicOptions;
  cache: BreakpointCache;
  cacheNowMs(): number;
}

/** Anthropic's Messages API with prompt caching by marks, as documented (D-35). */
export async function startAnthropic(options: AnthropicOptions = {}): Promise<AnthropicEmulator> {
  const cache = new BreakpointCache();
  let movedMs = 0;
  const emulator = await startLlmEmulator('anthropic', options, (house) => {
    const cacheNowMs = () => house.emulator.clock.nowMs() + movedMs;
    return routes({ ...house, options, cache, cacheNowMs });
  });
  const moveCacheTime = (ms: number) => {
    movedMs += ms;
  };
  return Object.assign(emulator, { url: emulator.httpUrl, cache, moveCacheTime });
}

function routes(house: ClaudeHouse): HttpRoute[] {
  return [
    { method: 'POST', path: '/v1/messages', handle: (exchange) => answerMessage(house, exchange) },
    {
      method: 'GET',
      path: '/v1/models',
      handle: (exchange) => {
        const complaint = doorComplaint(house, exchange);
        if (complaint) return exchange.reply(complaint.status, claudeComplaintBody(complaint));
        const data = ['claude-haiku-5-5', 'claude-sonnet-5'].map((id) => ({ id, type: 'model' }));
        exchange.reply(200, { data, has_more: false, first_id: data[0]?.id, last_id: data[1]?.id });
      },
    },
  ];
}

async function answerMessage(house: ClaudeHouse, exchange: HttpExchange): Promise<void> {
  const refuse = (complaint: Complaint, body: unknown) => {
    house.desk.refuse(complaint, exchange.path, body);
    exchange.reply(complaint.status, claudeComplaintBody(complaint), { 'request-id': 'req_refused' });
  };
  const door = doorComplaint(house, exchange);
  if (door) return refuse(door, null);
  const body = await bodyOf(exchange);
  if (isComplaint(body)) return refuse(body, null);
  const turns = turnsOf(body);
  const prompt = promptBlocks(body, turns);
  const complaint =
    bodyComplaint(body, turns, exchange.headers['anthropic-version'] ?? '') ?? markComplaint(prompt);
  if (complaint) return refuse(complaint, body);

  const served = house.desk.take(asked(body, turns), exchange.path);
  // A limit of no tokens asks for nothing but a warm cache.
  if (body.max_tokens === 0) served.answer = { finish: 'length', usage: { completionTokens: 0 } };
  const model = String(body.model);
  const floor = house.options.cacheFloorTokens ?? claudeRules(model)?.floorTokens ?? 0;
  const cache = house.cache.use(model, prompt, floor, house.cacheNowMs());
  const answer = claudeAnswer(served.answer, { id: `msg_${served.index}`, model, cache });
  served.usage = answer.whole.usage as Record<string, unknown>;
  await serveAnswer(exchange, house.desk, served, {
    frames: body.stream === true ? answer.frames : null,
    whole: answer.whole,
    headers: claudeHeaders(served.index),
    lineEnd: '\n',
    refusal: claudeRefusal,
    errorEvent: (kind) => frame('end', claudeStreamError(kind), 'error'),
  });
}

/** Key and version, before the body is read: the key in either of its headers. */
function doorComplaint(house: LlmHouse, exchange: HttpExchange): Complaint | null {
  const { headers } = exchange;
  const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (given !== house.apiKey) {
    const message = given === undefined ? 'x-api-key header is required' : 'invalid x-api-key';
    return { status: 401, code: 'authentication_error', message, violation: false };
  }
  const version = headers['anthropic-version'];
  if (version === undefined) return refused('anthropic-version: header is required');
  return API_VERSIONS.includes(version)
    ? null
    : refused(`anthropic-version: "${version}" is not a valid version`);
}

function bodyComplaint(
  body: Record<string, unknown>,
  turns: readonly Turn[],
  version: string,
): Complaint | null {
  const problem = checkFields(body, MESSAGE_FIELDS, 'body')[0];
  if (problem) return refused(problem);
  const rules = claudeRules(String(body.model));
  if (!rules) {
    return { status: 404, code: 'not_found_error', message: `model: ${body.model}`, violation: false };
  }
  const choice = isRecord(body.tool_choice) ? body.tool_choice : {};
  const names = records(body.tools).map((tool) => tool.name);
  if (choice.type !== undefined && choice.type !== 'none' && names.length === 0) {
    return refused('tool_choice may only be specified while providing tools');
  }
  if (choice.name !== undefined && !names.includes(choice.name)) {
    return refused(`Tool '${choice.name}' not found in provided tools`);
  }
  return claudeSettingComplaint(body, rules, version) ?? claudeTurnComplaint(turns);
}

function asked(body: Record<string, unknown>, turns: readonly Turn[]): Omit<AskedRequest, 'index'> {
  const texts = (blocks: readonly Record<string, unknown>[]) =>
    blocks.filter((block) => block.type === 'text').map((block) => String(block.text));
  const lastUser = turns.findLast((turn) => turn.role === 'user' && texts(turn.blocks).length > 0);
  const results = (turns.at(-1)?.blocks ?? []).filter((block) => block.type === 'tool_result');
  const format = isRecord(body.output_config) ? body.output_config.format : undefined;
  return {
    model: String(body.model),
    system: texts(blocksOf(body.system)).join('\n'),
    lastUserText: texts(lastUser?.blocks ?? []).join('\n'),
    toolResults: results.map((block) => parsedResult(texts(blocksOf(block.content)).join('\n'))),
    toolNames: records(body.tools).map((tool) => String(tool.name)),
    json: isRecord(format),
    maxTokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
    body,
  };
}
