import type { GoogleGenAI } from '@google/genai';
import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import type { LanguageModel, LlmDelta, LlmRequest } from '../../contract/language-model.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { repairForVendor } from '../../llm/history-repair.ts';
import type { LlmModels } from '../../llm/llm-models.ts';
import { cacheDirective, readLlmSettings } from '../../llm/llm-settings.ts';
import { openVendorConnection, tellAccepted } from '../../llm/vendor-connection.ts';
import { errorsOf, vendorModel } from '../../llm/vendor-model.ts';
import { type CachePlan, GeminiCache } from './cache.ts';
import { type GeminiCall, type GeminiSettings, geminiRequest } from './request.ts';
import { readGeminiStream } from './stream.ts';

const NAME = 'gemini';
/** The version that the pinned SDK was captured with. */
const DEFAULT_API_VERSION = 'v1';

/**
 * Gemini through `generateContent`, with explicit cache entries (docs/providers.md, "Prompt caching").
 *
 * Settings besides the common ones: `api_version`. Cache entries are used where the call lends a `promptCache`.
 */
export async function createGemini(
  known: LlmModels,
  config: ProviderConfig,
  context: ProviderContext,
): Promise<LanguageModel> {
  const settings = readGeminiSettings(known, config);
  const connection = openVendorConnection(settings.baseUrl, tellAccepted(NAME, context));
  const { GoogleGenAI: Client } = await import('@google/genai');
  const client = new Client({
    // Everything that the SDK would otherwise look for in the environment is said here.
    vertexai: false,
    ...(settings.apiKey !== null && { apiKey: settings.apiKey }),
    httpOptions: {
      baseUrl: settings.baseUrl,
      apiVersion: settings.apiVersion,
      fetch: connection.fetch,
    },
  });
  const closing = new AbortController();
  const cache = new GeminiCache({
    caches: client.caches,
    settings,
    context,
    toError: errorsOf(NAME, settings.apiKey),
    closing: closing.signal,
  });
  return vendorModel({
    name: NAME,
    settings,
    context,
    connection,
    closing,
    stream: (request, signal) => streamAnswer({ client, settings, context, cache }, request, signal),
    prepare: (request) => cache.prepare(request),
    settled: () => cache.settled(),
  });
}

interface Parts {
  client: GoogleGenAI;
  settings: GeminiSettings;
  context: ProviderContext;
  cache: GeminiCache;
}

async function* streamAnswer(
  { client, settings, context, cache }: Parts,
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmDelta> {
  const messages = repairForVendor(request.messages, { opensWithUser: true, provider: NAME, context });
  const repaired = { ...request, messages };
  const directive = cacheDirective(settings, request);
  const plan = directive ? cache.plan(request, directive) : null;
  const call: GeminiCall = { settings, request: repaired, signal };
  const stream = await openStream(client, call, plan);
  let written: number | null = null;
  for await (const delta of readGeminiStream(stream)) {
    if (delta.type !== 'usage' || !plan) {
      yield delta;
      continue;
    }
    const justWritten = cache.takeCreationTokens();
    if (justWritten !== null) written = (written ?? 0) + justWritten;
    yield { type: 'usage', usage: { ...delta.usage, cacheCreationTokens: written } };
    if (delta.usage.cacheReadTokens !== null) yield { type: 'cache', cache: cache.useOf(plan, delta.usage) };
  }
}

/**
 * Asks with the entry, and where the vendor no longer knows it, once more without (reference 4.2: on any 400, 403 or
 * 404 that speaks of cached content). The refusal comes before the first token, so the caller hears nothing of it.
 */
async function openStream(
  client: GoogleGenAI,
  call: GeminiCall,
  plan: CachePlan | null,
): ReturnType<GoogleGenAI['models']['generateContentStream']> {
  const name = plan?.entry?.name ?? null;
  try {
    return await client.models.generateContentStream(geminiRequest(call, name));
  } catch (error) {
    if (!plan || name === null || !plan.isLost(error)) throw error;
    plan.lose();
    return await client.models.generateContentStream(geminiRequest(call, null));
  }
}

function readGeminiSettings(known: LlmModels, config: ProviderConfig): GeminiSettings {
  const common = readLlmSettings(known, config);
  const apiVersion = common.own.text('api_version', { maximumLength: 20, pattern: /^v\d[a-z0-9]*$/ });
  return { ...common, apiVersion: apiVersion ?? DEFAULT_API_VERSION };
}
