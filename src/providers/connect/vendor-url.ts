import type { ProviderSettings } from '../contract/provider-settings.ts';

/** A parameter of a query; a list repeats it, undefined leaves it out. */
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/**
 * The address of a vendor's endpoint. `stt.base_url` (or tts, llm) takes the place of the vendor's own host: scheme ws,
 * wss, http or https, its path goes in front of `path`, its query in front of ours. The scheme follows `transport`.
 * Spaces become %20, which every vendor reads; some take + for a plus sign.
 * Throws `bad_provider_config`.
 */
export function vendorUrl(
  settings: ProviderSettings,
  endpoint: {
    transport: 'ws' | 'http';
    /** Used where the bot names no other, such as `wss://api.deepgram.com`. */
    standard: string;
    path: string;
    query?: Record<string, QueryValue>;
  },
): string {
  const base = readBase(settings, endpoint.standard);
  const secure = base.protocol === 'wss:' || base.protocol === 'https:';
  const scheme = endpoint.transport === 'ws' ? (secure ? 'wss' : 'ws') : secure ? 'https' : 'http';
  const query = [base.search.slice(1), queryText(endpoint.query ?? {})].filter((part) => part !== '');
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return `${scheme}://${base.host}${base.pathname.replace(/\/+$/, '')}${endpoint.path}${search}`;
}

function readBase(settings: ProviderSettings, standard: string): URL {
  const text = settings.text('base_url', { maximumLength: 2_000 }) ?? standard;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['ws:', 'wss:', 'http:', 'https:'].includes(url.protocol)) {
    throw settings.refusal('base_url', 'must be an address that begins with wss, https, ws or http');
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw settings.refusal(
      'base_url',
      'must hold neither a user name nor a fragment; the key goes to api_key',
    );
  }
  return url;
}

function queryText(query: Record<string, QueryValue>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of typeof value === 'object' ? value : [value]) {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(one)}`);
    }
  }
  return pairs.join('&');
}
