import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';
import type { LlmRequest } from '../contract/language-model.ts';
import { ProviderSettings } from '../contract/provider-settings.ts';
import {
  capabilitiesOf,
  checkLlmConfig,
  type LlmModels,
  type ModelCapabilities,
  type Reasoning,
} from './llm-models.ts';

/** What the `llm` block of a bot says to all vendors alike (docs/providers.md, "Language models"). */
export interface LlmSettings {
  model: string;
  apiKey: string | null;
  baseUrl: string;
  /** For a whole answer, milliseconds. */
  timeoutMs: number;
  temperature: number | null;
  maxOutputTokens: number;
  /** As the bot says, else the model's fastest; null for an unknown model of which the bot says nothing. */
  reasoning: Reasoning | null;
  /** Null for a model that the table does not know. */
  capabilities: ModelCapabilities | null;
  cache: { enabled: boolean; ttlSeconds: number | null; key: string | null; retention: string | null };
  /** For the keys that only one vendor has. */
  own: ProviderSettings;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** Enough for what is said in one turn of a call; with thoughts, which count as output, for both. */
const DEFAULT_OUTPUT_TOKENS = 1_024;
const DEFAULT_OUTPUT_TOKENS_REASONING = 4_096;

/**
 * Reads and checks the settings. Throws `bad_provider_config` for what is malformed, for what the model would refuse,
 * and for a missing key where `needsKey`.
 */
export function readLlmSettings(
  models: LlmModels,
  config: ProviderConfig,
  rule: { needsKey: boolean } = { needsKey: true },
): LlmSettings {
  const own = new ProviderSettings('llm', config);
  const today = new Date().toISOString().slice(0, 10);
  const findings = checkLlmConfig(models, config, { hasTools: false, today });
  // A model past its day is left to the vendor: it may have been kept on, and a call should not die of a table.
  const refused = findings.find((finding) => finding.severity === 'error' && finding.key !== 'model');
  if (refused) throw own.refusal(refused.key, refused.sentence);
  const apiKey = own.text('api_key', { maximumLength: 500 }) ?? null;
  if (rule.needsKey && apiKey === null) {
    throw own.refusal(
      'api_key',
      `is missing: set the key of ${models.provider} in the system settings or in the bot`,
    );
  }
  const model = own.text('model', { maximumLength: 200 }) ?? models.defaultModel;
  const capabilities = capabilitiesOf(models, model);
  const reasoning = (own.raw('reasoning') as Reasoning | undefined) ?? capabilities?.reasoning[0] ?? null;
  const thinks = reasoning !== null && reasoning !== 'none' && reasoning !== 'minimal';
  return {
    model,
    apiKey,
    baseUrl: readBaseUrl(own, models.baseUrl),
    timeoutMs: own.number('timeout_ms', { fallback: DEFAULT_TIMEOUT_MS, minimum: 100, maximum: 600_000 }),
    temperature: readTemperature(own),
    maxOutputTokens: own.number('max_output_tokens', {
      fallback: thinks ? DEFAULT_OUTPUT_TOKENS_REASONING : DEFAULT_OUTPUT_TOKENS,
      minimum: 1,
      maximum: 1_000_000,
      whole: true,
    }),
    reasoning,
    capabilities,
    cache: readCache(own),
    own,
  };
}

/** What the cache directives of the request and of the bot come to; null where this request is not to be cached. */
export function cacheDirective(
  settings: LlmSettings,
  request: Pick<LlmRequest, 'systemParts'>,
): (NonNullable<LlmRequest['systemParts']> & { ttlSeconds: number | null }) | null {
  const parts = request.systemParts;
  if (!parts || !settings.cache.enabled || parts.staticText.trim() === '') return null;
  return {
    ...parts,
    cacheKey: settings.cache.key ?? parts.cacheKey,
    retention: settings.cache.retention ?? parts.retention,
    ttlSeconds: settings.cache.ttlSeconds ?? parts.ttlSeconds,
  };
}

/** One of the texts, or the error that lists them. */
export function readChoice<T extends string>(
  settings: ProviderSettings,
  key: string,
  choices: readonly T[],
  fallback: T,
): T {
  const value = settings.raw(key);
  if (value === undefined) return fallback;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw settings.refusal(key, `must be one of ${choices.join(', ')}`);
  return found;
}

function readBaseUrl(own: ProviderSettings, fallback: string): string {
  const text = own.text('base_url', { maximumLength: 2_000 }) ?? fallback;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw own.refusal('base_url', 'must be an http or https address');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw own.refusal('base_url', 'must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw own.refusal('base_url', 'must hold no credentials, no query and no fragment');
  }
  return text.replace(/\/+$/, '');
}

function readTemperature(own: ProviderSettings): number | null {
  if (own.raw('temperature') === undefined) return null;
  return own.number('temperature', { fallback: 1, minimum: 0, maximum: 2 });
}

function readCache(own: ProviderSettings): LlmSettings['cache'] {
  const value = own.raw('cache');
  if (value === undefined) return { enabled: true, ttlSeconds: null, key: null, retention: null };
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw own.refusal('cache', 'must be an object');
  }
  const inner = new ProviderSettings('llm.cache', value as Record<string, unknown>);
  const hasTtl = inner.raw('ttl_seconds') !== undefined;
  return {
    enabled: inner.flag('enabled', true),
    ttlSeconds: hasTtl
      ? inner.number('ttl_seconds', { fallback: 3_600, minimum: 60, maximum: 86_400, whole: true })
      : null,
    key: inner.text('key', { maximumLength: 200 }) ?? null,
    retention: inner.text('retention', { maximumLength: 40 }) ?? null,
  };
}

/**
 * The tools of a bot meet a setting only in a request. Vendors answer 400 to this pair; refusing it here costs no
 * round trip. Throws `bad_provider_config`.
 */
export function refuseToolsWithReasoning(settings: LlmSettings, api: string, hasTools: boolean): void {
  if (!hasTools || api === 'responses' || settings.capabilities?.chatToolsWithReasoning !== false) return;
  if (settings.reasoning === null || settings.reasoning === 'none') return;
  throw new AppError(
    'bad_provider_config',
    `llm.reasoning must be none where ${settings.model} has tools, or llm.api must be responses`,
    { details: { key: 'llm.reasoning' } },
  );
}
