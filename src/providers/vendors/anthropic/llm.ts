import type Anthropic from '@anthropic-ai/sdk';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import type { LanguageModel, LlmDelta, LlmRequest } from '../../contract/language-model.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { repairForVendor } from '../../llm/history-repair.ts';
import type { LlmModels } from '../../llm/llm-models.ts';
import { cacheDirective, readChoice, readLlmSettings } from '../../llm/llm-settings.ts';
import { openVendorConnection, tellAccepted } from '../../llm/vendor-connection.ts';
import { vendorModel } from '../../llm/vendor-model.ts';
import { type AnthropicSettings, anthropicRequest } from './request.ts';
import { readAnthropicStream } from './stream.ts';

const NAME = 'anthropic';
/** The version that the pinned SDK speaks; the older one keeps sampling settings for older models (reference 4.5). */
const API_VERSIONS = ['2026-10-21', '2023-06-01'] as const;

/**
 * Anthropic's Messages API.
 *
 * Settings besides the common ones: `cache_ttl` (5m | 1h, for the static prompt), `api_version`.
 */
export async function createAnthropic(
  known: LlmModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<LanguageModel> {
  const settings = readAnthropicSettings(known, config);
  const connection = openVendorConnection(settings.baseUrl, tellAccepted(NAME, context));
  const { default: Client } = await import('@anthropic-ai/sdk');
  const client = new Client({
    apiKey: settings.apiKey,
    baseURL: settings.baseUrl,
    maxRetries: 0,
    // Later than the client's own deadline, which gives the better error.
    timeout: settings.timeoutMs + 5_000,
    fetch: connection.fetch,
    logLevel: 'off',
    defaultHeaders: { 'anthropic-version': settings.apiVersion },
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
  client: Anthropic,
  settings: AnthropicSettings,
  context: ProviderContext,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmDelta> {
  const messages = repairForVendor(request.messages, { opensWithUser: true, provider: NAME, context });
  const directive = cacheDirective(settings, request);
  const body = anthropicRequest(settings, { ...request, messages }, directive);
  const stream = await client.messages.create(body, { signal });
  for await (const delta of readAnthropicStream(stream)) {
    yield delta;
    if (delta.type !== 'usage' || !directive) continue;
    const { cacheReadTokens, cacheCreationTokens, promptTokens } = delta.usage;
    const floor = settings.capabilities?.cacheFloorTokens ?? 0;
    yield {
      type: 'cache',
      cache: {
        enabled: true,
        status: (cacheReadTokens ?? 0) > 0 ? 'hit' : 'miss',
        version: directive.version,
        reason: reasonOf(cacheReadTokens, cacheCreationTokens, (promptTokens ?? 0) < floor),
      },
    };
  }
}

/** Below the model's floor nothing is cached, both counters are 0, and no error tells it. */
function reasonOf(read: number | null, created: number | null, isSmall: boolean): string | null {
  if ((read ?? 0) > 0) return null;
  if ((created ?? 0) > 0) return 'created';
  return isSmall ? 'too_small' : null;
}

function readAnthropicSettings(known: LlmModels, config: ProviderConfig): AnthropicSettings {
  const common = readLlmSettings(known, config);
  return {
    ...common,
    cacheTtl: readChoice(common.own, 'cache_ttl', ['5m', '1h'] as const, '5m'),
    apiVersion: readChoice(common.own, 'api_version', API_VERSIONS, API_VERSIONS[0]),
  };
}
