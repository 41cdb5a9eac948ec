import type { HttpRoute } from './kit/emulator.ts';
import { type LlmEmulator, type LlmHouse, startLlmEmulator } from './llm/llm-emulator.ts';
import { PrefixCache } from './llm/prefix-cache.ts';
import { chatRoute } from './openai-chat.ts';
import { openAiComplaintBody } from './openai-errors.ts';
import { bearerComplaint, type OpenAiHouse, type OpenAiOptions } from './openai-house.ts';
import { openAiRules, unknownModel } from './openai-models.ts';
import { responsesRoute } from './openai-responses.ts';

export interface OpenAiEmulator extends LlmEmulator {
  /** For clients' base_url: it ends with /v1. */
  url: string;
  cache: PrefixCache;
}

/** OpenAI with Chat Completions and Responses, as documented (D-35). */
export async function startOpenAi(options: OpenAiOptions = {}): Promise<OpenAiEmulator> {
  const cache = new PrefixCache();
  const emulator = await startLlmEmulator('openai', options, (house) => openAiRoutes(house, options, cache));
  return Object.assign(emulator, { url: `${emulator.httpUrl}/v1`, cache });
}

function openAiRoutes(house: LlmHouse, options: OpenAiOptions, cache: PrefixCache): HttpRoute[] {
  const rulesOf = (model: string) => openAiRules(model, options.models);
  const shared: OpenAiHouse = {
    ...house,
    options,
    cache,
    rulesOf,
    entryComplaint(exchange, body) {
      const bearer = bearerComplaint(exchange, house.apiKey);
      if (bearer) return bearer;
      if (typeof body.model !== 'string') {
        return { status: 400, message: 'you must provide a model parameter', violation: true };
      }
      const refused = (options.refuseParameters ?? []).find((name) => body[name] !== undefined);
      if (refused !== undefined) {
        const message = `Unsupported parameter: '${refused}' is not supported with this model.`;
        return { status: 400, code: 'unsupported_parameter', param: refused, message, violation: false };
      }
      return rulesOf(body.model) ? null : unknownModel(body.model);
    },
    refuse(exchange, complaint, body) {
      house.desk.refuse(complaint, exchange.path, body);
      exchange.reply(complaint.status, openAiComplaintBody(complaint), { 'x-request-id': 'req_refused' });
    },
  };
  return [chatRoute(shared), responsesRoute(shared), modelsRoute(house)];
}

function modelsRoute(house: LlmHouse): HttpRoute {
  return {
    method: 'GET',
    path: '/v1/models',
    handle: (exchange) => {
      const complaint = bearerComplaint(exchange, house.apiKey);
      if (complaint) return exchange.reply(401, openAiComplaintBody(complaint));
      const names = ['gpt-6-luna', 'gpt-5.6', 'gpt-5.5', 'gpt-4.1'];
      exchange.reply(200, { object: 'list', data: names.map((id) => ({ id, object: 'model' })) });
    },
  };
}
