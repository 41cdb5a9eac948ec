import type { SipHeaderConfig } from '../../contracts/bot/operation.ts';

/** Headers looked at per call, and characters kept of each: who calls in chooses both. */
const MAX_HEADERS = 200;
const MAX_VALUE_CHARS = 1_000;
const VARIABLE = /^[A-Za-z0-9_]{1,64}$/;

/**
 * The SIP headers that the bot may see, by variable name (R39). Header names compare
 * without case (RFC 3261 section 7.3.1). Without a config nothing passes: what a stranger's switch sends does not
 * belong into a prompt. Of two headers for one variable the first counts.
 */
export function filterSipHeaders(
  raw: Readonly<Record<string, unknown>>,
  config: SipHeaderConfig | null | undefined,
): Record<string, string> {
  if (!config) return {};
  const context: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw).slice(0, MAX_HEADERS)) {
    const variable = variableFor(name, config);
    if (variable === null || Object.hasOwn(context, variable)) continue;
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    context[variable] = String(value).slice(0, MAX_VALUE_CHARS);
  }
  return context;
}

/** Null for a header that is not let through. */
function variableFor(header: string, config: SipHeaderConfig): string | null {
  const name = header.toLowerCase();
  const listed = config.headers?.find((entry) => entry.header.toLowerCase() === name);
  if (listed?.as !== undefined) return listed.as;
  if (!listed && !config.prefixes?.some((prefix) => name.startsWith(prefix.toLowerCase()))) return null;
  return variableNameOf(header);
}

/** `X-Customer-Id` is `customer_id`. Null where nothing usable is left. */
export function variableNameOf(header: string): string | null {
  const variable = header
    .toLowerCase()
    .replace(/^x-/, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return VARIABLE.test(variable) ? variable : null;
}
