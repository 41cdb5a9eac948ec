import type { ProviderConfig } from '../../contracts/runtime-config.ts';

/** Engines that share the account of another one (interface.md: the turn-detecting engine reuses the streaming key). */
const KEY_OF: Readonly<Record<string, string>> = { deepgram_flux: 'deepgram' };

/**
 * The provider settings with the key of the system settings (interface.md, Config response), also in the fallbacks. A
 * provider that needs no key, or has none configured, is served as it stands.
 */
export function withProviderKey(
  config: ProviderConfig,
  keyOf: (provider: string) => string | null,
): ProviderConfig {
  const key = keyOf(keyName(config.provider));
  const { fallbacks } = config;
  return {
    ...config,
    ...(key === null ? {} : { api_key: key }),
    ...(fallbacks ? { fallbacks: fallbacks.map((other) => withProviderKey(other, keyOf)) } : {}),
  };
}

/** Name in the system settings of the key that a provider uses. */
export function keyName(provider: string): string {
  return Object.hasOwn(KEY_OF, provider) ? (KEY_OF[provider] ?? provider) : provider;
}
