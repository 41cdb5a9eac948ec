import type { ProviderConfig } from '../contracts/runtime-config.ts';

/**
 * The vendors' own hosts (docs/providers.md, "Keys"), by the provider's name in a bot: the only places, beside those
 * that an admin lists, that a key of the system settings is sent to.
 */
const DEEPGRAM = ['api.deepgram.com', 'api.eu.deepgram.com', 'api.au.deepgram.com'];

const VENDOR_HOSTS: Readonly<Record<string, readonly string[]>> = {
  deepgram: DEEPGRAM,
  deepgram_flux: DEEPGRAM,
  sarvam: ['api.sarvam.ai'],
  soniox: ['stt-rt.soniox.com'],
  gemini: ['generativelanguage.googleapis.com'],
  openai: ['api.openai.com'],
  anthropic: ['api.anthropic.com'],
  elevenlabs: [
    'api.elevenlabs.io',
    'api.us.elevenlabs.io',
    'api.eu.residency.elevenlabs.io',
    'api.in.residency.elevenlabs.io',
    'api.sg.residency.elevenlabs.io',
  ],
  cartesia: ['api.cartesia.ai'],
};

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
  const hosts = Object.hasOwn(VENDOR_HOSTS, config.provider) ? VENDOR_HOSTS[config.provider] : undefined;
  const isVendors =
    isSecure && (url.port === '' || url.port === SECURE_PORT) && hosts?.includes(url.hostname);
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
