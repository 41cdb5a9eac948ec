import type OpenAI from 'openai';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import type { LanguageModel, LlmDelta, LlmRequest } from '../../contract/language-model.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { repairForVendor } from '../../llm/history-repair.ts';
import type { LlmModels } from '../../llm/llm-models.ts';
import {
  cacheDirective,
  readChoice,
  readLlmSettings,
  refuseToolsWithReasoning,
} from '../../llm/llm-settings.ts';
import { openVendorConnection, tellAccepted } from '../../llm/vendor-connection.ts';
import { vendorModel } from '../../llm/vendor-model.ts';
import { withCacheHints } from './cache-hints.ts';
import { chatAnswer } from './chat.ts';
import type { OpenAiSettings } from './llm-call.ts';
import { responsesAnswer } from './responses.ts';

const NAME = 'openai';

/**
 * OpenAI over Chat Completions or Responses, and servers that speak the former: vLLM, llama.cpp, Ollama
 * (docs/providers.md, "Servers of your own").
 *
 * Settings besides the common ones: `api` (chat | responses), `profile` (openai | compat), `organization`, `project`.
 * With the `compat` profile a key is optional and `base_url` is needed.
 */
export async function createOpenAi(
  known: LlmModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<LanguageModel> {
  const settings = readOpenAiSettings(known, config);
  const connection = openVendorConnection(settings.baseUrl, tellAccepted(NAME, context));
  const { default: Client } = await import('openai');
  const client = new Client({
    // Everything that the SDK would otherwise look for in the environment is said here.
    apiKey: settings.apiKey ?? 'none',
    adminAPIKey: null,
    organization: settings.own.text('organization', { maximumLength: 200 }) ?? null,
    project: settings.own.text('project', { maximumLength: 200 }) ?? null,
    baseURL: settings.baseUrl,
    maxRetries: 0,
    // Later than the client's own deadline, which gives the better error.
    timeout: settings.timeoutMs + 5_000,
    fetch: connection.fetch,
    logLevel: 'off',
    // A server without a key gets no header rather than a made-up one.
    ...(settings.apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
  return vendorModel({
    name: NAME,
    settings,
    context,
    connection,
    closing: new AbortController(),
    stream: (request, signal) => streamAnswer(client, settings, context, request, signal),
  });
}

async function* streamAnswer(
  client: OpenAI,
  settings: OpenAiSettings,
  context: ProviderContext,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmDelta> {
  refuseToolsWithReasoning(settings, settings.api, request.tools.length > 0);
  const messages = repairForVendor(request.messages, { opensWithUser: false, provider: NAME, context });
  const repaired = { ...request, messages };
  const directive = settings.profile === 'compat' ? null : cacheDirective(settings, request);
  yield* withCacheHints(settings, directive, (hints) => {
    const call = { client, settings, request: repaired, hints, signal };
    return settings.api === 'responses' ? responsesAnswer(call) : chatAnswer(call);
  });
  if (settings.profile === 'compat' && request.systemParts) {
    const { version } = request.systemParts;
    yield { type: 'cache', cache: { enabled: false, status: 'miss', version, reason: 'unsupported' } };
  }
}

function readOpenAiSettings(known: LlmModels, config: ProviderConfig): OpenAiSettings {
  const isCompat = config.profile === 'compat';
  const common = readLlmSettings(known, config, { needsKey: !isCompat });
  const api = readChoice(common.own, 'api', ['chat', 'responses'] as const, 'chat');
  const profile = readChoice(common.own, 'profile', ['openai', 'compat'] as const, 'openai');
  if (profile === 'compat' && common.own.raw('base_url') === undefined) {
    throw common.own.refusal('base_url', 'is needed with the compat profile: where is the server?');
  }
  if (profile === 'compat' && common.own.raw('model') === undefined) {
    throw common.own.refusal('model', 'is needed with the compat profile: which of its models?');
  }
  if (profile === 'compat' && api === 'responses') {
    throw common.own.refusal('api', 'must be chat with the compat profile');
  }
  if (!isCompat) return { ...common, api, profile };
  // A local model may bear a vendor's name; nothing that is known of the vendor's model holds for it.
  return { ...common, api, profile, capabilities: null, reasoning: null };
}
