import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { providerPlace } from '../../providers/provider-place.ts';
import { vendorOf } from '../../providers/vendors/all-vendors.ts';

/** What decides who gets a key of the system settings. */
export interface ProviderKeys {
  /** The key of a provider in the system settings; null without one. */
  keyOf: (provider: string) => string | null;
  /** Origins beside the vendors' own that an admin lets keys be sent to (setting `provider_origins`). */
  origins: readonly string[];
}

/**
 * The provider settings with the key of the system settings (R61), also in the fallbacks. The
 * key goes to the vendor's own hosts and to origins that an admin listed; a bot that leads its provider elsewhere is
 * served without, because its editor could otherwise read the key at an address of their own. A key that stands in the
 * bot itself is its editor's, and is served as it stands.
 */
export function withProviderKey(config: ProviderConfig, keys: ProviderKeys): ProviderConfig {
  const { fallbacks } = config;
  const key = hasOwnKey(config) || !mayReceiveKey(config, keys.origins) ? null : keyFor(config, keys);
  return {
    ...config,
    ...(key === null ? {} : { api_key: key }),
    ...(fallbacks ? { fallbacks: fallbacks.map((other) => withProviderKey(other, keys)) } : {}),
  };
}

/** Whether a key of the system settings may be sent where the bot leads this provider. */
export function mayReceiveKey(config: ProviderConfig, origins: readonly string[]): boolean {
  const place = providerPlace(config);
  return place.kind === 'vendor' || (place.kind === 'elsewhere' && origins.includes(place.origin));
}

export function hasOwnKey(config: ProviderConfig): boolean {
  return typeof config.api_key === 'string' && config.api_key !== '';
}

/** Name in the system settings of the account that a provider uses; engines of one vendor share it. */
export function keyName(provider: string): string {
  return vendorOf(provider)?.accounts[0] ?? provider;
}

function keyFor(config: ProviderConfig, keys: ProviderKeys): string | null {
  return keys.keyOf(keyName(config.provider));
}
