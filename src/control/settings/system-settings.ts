import { SETTING_SECRET_NAMES, type SettingSecretName } from '../../contracts/setting-names.ts';
import {
  DEFAULT_VALUES,
  type SecretState,
  type SettingsView,
  type SystemValues,
} from '../../contracts/system-settings.ts';
import { type Network, parseNetwork } from '../../platform/guarded-http/network.ts';
import { readOrigin } from '../../providers/provider-place.ts';
import { vendorOf } from '../../providers/vendors/all-vendors.ts';
import type { SecretBox } from './secret-box.ts';
import type { StoredSettings } from './settings-store.ts';

/** The system settings at one moment, for the parts of the plane that obey them. */
export interface SystemSettings {
  readonly version: number;
  readonly values: Readonly<SystemValues>;
  secret(name: SettingSecretName): string | null;
  /** The account key of a provider by its name in a bot; null without one. */
  providerKey(provider: string): string | null;
  /** Served as `minio`; null unless endpoint, bucket and both keys are set. */
  objectStorage(): Record<string, unknown> | null;
  knowledgeEnabled(): boolean;
  readonly allowedNetworks: readonly Network[];
  /** The same as they were entered, for the tools of a call. */
  outboundNetworks(): readonly string[];
  /** Where keys may be sent beside the vendors' own hosts. */
  providerOrigins(): readonly string[];
}

export function systemSettings(stored: StoredSettings, box: SecretBox): SystemSettings {
  const values = { ...DEFAULT_VALUES, ...stored.values };
  const opened = new Map(
    Object.entries(stored.secrets).map(([name, { sealed }]) => [name, box.open(sealed)]),
  );
  const secret = (name: string) => opened.get(name) ?? null;
  return {
    version: stored.version,
    values,
    secret,
    providerKey(provider) {
      // Only accounts of providers: a bot must not name "livekit" and be served the key of the media server.
      const keys = vendorOf(provider)?.accounts.map((account) => secret(`${account}_api_key`));
      return keys?.find((key) => key !== null) ?? null;
    },
    objectStorage() {
      const { s3_endpoint: endpoint, s3_bucket: bucket, s3_region: region } = values;
      const accessKey = secret('s3_access_key_id');
      const secretKey = secret('s3_secret_access_key');
      if (!endpoint || !bucket || !accessKey || !secretKey) return null;
      return { endpoint, bucket, region, access_key: accessKey, secret_key: secretKey };
    },
    knowledgeEnabled: () => values.knowledge_enabled,
    outboundNetworks: () => values.outbound_allowed_networks,
    providerOrigins: () => values.provider_origins.flatMap((text) => readOrigin(text) ?? []),
    allowedNetworks: values.outbound_allowed_networks.flatMap((text) => parseNetwork(text) ?? []),
  };
}

/** What an admin may see: every value, and of each secret whether it is set and how it ends. */
export function settingsView(stored: StoredSettings, box: SecretBox): SettingsView {
  const states = SETTING_SECRET_NAMES.map((name) => [name, secretState(stored, name, box)]);
  return {
    version: stored.version,
    updated_at: stored.updated_at,
    values: { ...DEFAULT_VALUES, ...stored.values },
    secrets: Object.fromEntries(states) as SettingsView['secrets'],
  };
}

const TAIL_CHARS = 4;
/** Of a shorter secret four characters would tell too much. */
const MIN_CHARS_FOR_TAIL = 16;

function secretState(stored: StoredSettings, name: SettingSecretName, box: SecretBox): SecretState {
  const kept = stored.secrets[name];
  if (!kept) return { set: false, tail: null, updated_at: null };
  const plain = box.open(kept.sealed);
  const tail = plain.length < MIN_CHARS_FOR_TAIL ? null : plain.slice(-TAIL_CHARS);
  return { set: true, tail, updated_at: kept.updated_at };
}
