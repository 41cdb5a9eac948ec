import type { ProviderConfig } from '../contracts/runtime-config.ts';
import { vendorOf } from './vendors/all-vendors.ts';

const SECURE_PORT = '443';

/** Where a bot leads a provider: `vendor` also where it names no address of its own. */
export type ProviderPlace =
  | { kind: 'vendor' }
  /** `origin` with the scheme http or https, however the bot wrote it. */
  | { kind: 'elsewhere'; origin: string; hostname: string; isSecure: boolean }
  | { kind: 'unreadable' };

/** Reads `base_url` of a provider's settings; nothing is resolved and nobody is asked. */
export function providerPlace(config: ProviderConfig): ProviderPlace {
  const { base_url: text } = config;
  if (text === undefined || text === null) return { kind: 'vendor' };
  if (typeof text !== 'string' || !URL.canParse(text)) return { kind: 'unreadable' };
  const url = new URL(text.replace(/^ws(?=s?:\/\/)/i, 'http'));
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { kind: 'unreadable' };
  if (url.username !== '' || url.password !== '') return { kind: 'unreadable' };
  const isSecure = url.protocol === 'https:';
  const isVendors =
    isSecure &&
    (url.port === '' || url.port === SECURE_PORT) &&
    vendorOf(config.provider)?.hosts.includes(url.hostname);
  if (isVendors) return { kind: 'vendor' };
  return { kind: 'elsewhere', origin: url.origin, hostname: url.hostname, isSecure };
}

/** An entry of the setting `provider_origins` as {@link providerPlace} writes origins; null where it is none. */
export function readOrigin(text: string): string | null {
  const http = text.trim().replace(/^ws(?=s?:\/\/)/i, 'http');
  if (!URL.canParse(http)) return null;
  const url = new URL(http);
  const isOrigin = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return isOrigin && /^https?:$/.test(url.protocol) && url.password === '' ? url.origin : null;
}
