import type { LlmCacheUse, LlmDelta, LlmRequest, LlmUsage } from '../../contract/language-model.ts';
import { readRefusal } from '../../llm/llm-errors.ts';
import type { CacheHints, OpenAiSettings } from './llm-call.ts';

type HintName = keyof CacheHints;
type Directive = NonNullable<LlmRequest['systemParts']>;

const HINTS: readonly HintName[] = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'];
/** The vendor takes no longer key. */
const MAX_KEY_LENGTH = 64;
/** Prompts below are never cached (OpenAI's documentation, prompt caching). */
const FLOOR_TOKENS = 1_024;

/**
 * Hints that were refused in this process, by model: a second request must not pay for the same refusal. As many
 * entries as models, which a slot has few of; the bound is against configs that make names up.
 */
const refused = new Map<string, Set<HintName>>();
const MAX_REFUSED_MODELS = 50;

/**
 * Runs a request with the hints that its model takes. Where the vendor refuses one of them by name, that one is
 * dropped, remembered for the process, and the request is repeated once; a refusal always comes before the first
 * delta, so nothing is said twice. Adds the `cache` delta after the usage, from real counts only.
 */
export async function* withCacheHints(
  settings: OpenAiSettings,
  directive: Directive | null,
  run: (hints: CacheHints) => AsyncIterable<LlmDelta>,
): AsyncGenerator<LlmDelta> {
  if (!directive) {
    yield* run({});
    return;
  }
  const hints = hintsFor(settings, directive);
  try {
    yield* withCacheDelta(directive, run(hints));
  } catch (error) {
    const name = refusedHint(error, hints);
    if (name === null) throw error;
    remember(settings.model, name);
    yield* withCacheDelta(directive, run(hintsFor(settings, directive)));
  }
}

async function* withCacheDelta(
  directive: Directive,
  deltas: AsyncIterable<LlmDelta>,
): AsyncGenerator<LlmDelta> {
  for await (const delta of deltas) {
    yield delta;
    if (delta.type === 'usage') yield { type: 'cache', cache: cacheUse(delta.usage, directive.version) };
  }
}

/** For the provider that uses hints, a hit is real cached tokens above 0, and nothing is estimated (R113). */
function cacheUse(usage: LlmUsage, version: string): LlmCacheUse {
  if (usage.cacheReadTokens === null)
    return { enabled: true, status: 'miss', version, reason: 'not_reported' };
  if (usage.cacheReadTokens > 0) return { enabled: true, status: 'hit', version, reason: null };
  const isSmall = usage.promptTokens !== null && usage.promptTokens < FLOOR_TOKENS;
  return { enabled: true, status: 'miss', version, reason: isSmall ? 'too_small' : null };
}

function hintsFor(settings: OpenAiSettings, directive: Directive): CacheHints {
  const known = settings.capabilities;
  const hints: CacheHints = {
    prompt_cache_key: (directive.cacheKey ?? directive.version).slice(0, MAX_KEY_LENGTH),
  };
  const { retention } = directive;
  if (retention === 'in_memory' || retention === '24h') {
    // A model that the table does not know gets the hint: it is refused at most once.
    if (!known || known.retention.includes(retention)) hints.prompt_cache_retention = retention;
    else if (known.cacheOptions) hints.prompt_cache_options = { mode: 'implicit', ttl: '30m' };
  }
  for (const name of refused.get(settings.model) ?? []) delete hints[name];
  return hints;
}

function refusedHint(error: unknown, hints: CacheHints): HintName | null {
  const refusal = readRefusal(error);
  if (refusal.status !== 400) return null;
  const said = `${refusal.param ?? ''} ${refusal.message}`;
  return HINTS.find((name) => hints[name] !== undefined && said.includes(name)) ?? null;
}

function remember(model: string, name: HintName): void {
  const names = refused.get(model) ?? new Set();
  if (!refused.has(model) && refused.size >= MAX_REFUSED_MODELS) refused.clear();
  refused.set(model, names.add(name));
}
