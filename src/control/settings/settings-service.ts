import { SETTING_SECRET_NAMES, type SettingSecretName } from '../../contracts/setting-names.ts';
import type { SettingsChange, SettingsView } from '../../contracts/system-settings.ts';
import { AppError } from '../../platform/app-error.ts';
import { invalid } from '../../platform/http-server/schema-check.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import { TtlCache } from '../../platform/ttl-cache.ts';
import type { AuditCause, AuditNote, TransactionalAuditLog } from '../audit/audit-log.ts';
import { SETTINGS_CACHE_KEY } from '../caches/cache-registry.ts';
import { finishRotation } from './rotate-key.ts';
import { type KeyedSecretBox, openSecretBox, type SecretBox } from './secret-box.ts';
import { readSeeds, valueIssues } from './setting-values.ts';
import {
  createSettingsStore,
  type SealedSetting,
  type SettingsStore,
  type StoredSettings,
} from './settings-store.ts';
import { type SystemSettings, settingsView, systemSettings } from './system-settings.ts';

/** The system settings for readers and for the admin who changes them. */
export interface SettingsService {
  /** As calls see them: up to `SETTINGS_TTL_MS` old unless a change came through the API (R175). */
  current(): Promise<SystemSettings>;
  /** Those of the last load, for readers that cannot wait. */
  latest(): SystemSettings;
  /** What stands in the store, without secrets. */
  view(): Promise<SettingsView>;
  /**
   * Changes what `change` names; null takes a secret away. `checkVersion` sees the version that stands and may throw.
   * A change that changes nothing leaves the version alone.
   */
  change(
    change: SettingsChange,
    cause: AuditCause,
    checkVersion: (version: number) => void,
  ): Promise<SettingsView>;
  /** After every edit through the API (R176). */
  invalidate(): void;
  readonly cache: TtlCache<SystemSettings>;
}

export interface SettingsServiceParts {
  store: SettingsStore;
  box: SecretBox;
  nowIso: () => string;
  /** Milliseconds that only go forward. */
  monotonicMs: () => number;
}

/** How old cached settings may be: `system:settings` (R175). */
export const SETTINGS_TTL_MS = 3_600_000;
/** Writers that keep overtaking this one; then it gives up. */
const MAX_TRIES = 5;

/** Opens the settings; on the first start they are what `seeds` says (names as in the environment, in lower case). */
export async function openSettings(
  parts: SettingsServiceParts,
  seeds: Readonly<Record<string, string>>,
): Promise<SettingsService> {
  const { store, box } = parts;
  if ((await store.read()) === null) {
    const first = applied(null, readSeeds(seeds), parts);
    await store.write({ ...first, version: 1 }, 0, null);
  }
  const cache = new TtlCache<SystemSettings>({ ttlMs: SETTINGS_TTL_MS, now: parts.monotonicMs, max: 1 });
  const load = async () => systemSettings(await standing(store), box);
  let latest = await load();
  const current = async () => {
    latest = (await cache.get(SETTINGS_CACHE_KEY, load)) ?? latest;
    return latest;
  };
  const invalidate = () => void cache.invalidate(SETTINGS_CACHE_KEY);
  return {
    cache,
    current,
    latest: () => latest,
    invalidate,
    view: async () => settingsView(await standing(store), box),
    async change(change, cause, checkVersion) {
      const issues = valueIssues(change.values ?? {});
      if (issues.length > 0) {
        throw invalid('the settings do not fit; `errors` says where', issues);
      }
      for (let tried = 0; tried < MAX_TRIES; tried++) {
        const before = await standing(store);
        checkVersion(before.version);
        const after = applied(before, change, parts);
        const note = auditNote(before, after, cause, box);
        if (note === null) return settingsView(before, box);
        if (await store.write(after, before.version, note)) {
          invalidate();
          await current();
          return settingsView(after, box);
        }
      }
      throw new AppError('conflict', 'others keep changing the settings at this moment; try again');
    },
  };
}

async function standing(store: SettingsStore): Promise<StoredSettings> {
  const stored = await store.read();
  if (!stored) throw new AppError('store_unavailable', 'the system settings are not in the store');
  return stored;
}

function applied(
  before: StoredSettings | null,
  change: SettingsChange,
  parts: SettingsServiceParts,
): StoredSettings {
  const now = parts.nowIso();
  // A secret that no setting names any more could be neither seen nor taken away.
  const known = Object.entries(before?.secrets ?? {}).filter(([name]) => isSecretName(name));
  const secrets: Record<string, SealedSetting> = Object.fromEntries(known);
  for (const [name, plain] of Object.entries(change.secrets ?? {})) {
    if (plain === null) delete secrets[name];
    else if (plain !== undefined && !isSame(secrets[name], plain, parts.box)) {
      secrets[name] = { sealed: parts.box.seal(plain), updated_at: now };
    }
  }
  return {
    version: (before?.version ?? 0) + 1,
    updated_at: now,
    values: { ...before?.values, ...change.values },
    secrets,
  };
}

function isSecretName(name: string): name is SettingSecretName {
  return (SETTING_SECRET_NAMES as readonly string[]).includes(name);
}

function isSame(kept: SealedSetting | undefined, plain: string, box: SecretBox): boolean {
  return kept !== undefined && box.open(kept.sealed) === plain;
}

/** The settings that differ; the audit log itself turns secrets into hashes. Null where nothing differs. */
function auditNote(
  before: StoredSettings,
  after: StoredSettings,
  cause: AuditCause,
  box: SecretBox,
): AuditNote | null {
  const values = differing(before.values, after.values);
  const sealed = differing(before.secrets, after.secrets) as SettingSecretName[];
  if (values.length + sealed.length === 0) return null;
  const state = (stored: StoredSettings) => ({
    version: stored.version,
    values: pick(stored.values, values),
    secrets: Object.fromEntries(
      sealed.map((name) => {
        const kept = stored.secrets[name];
        return [name, kept ? box.open(kept.sealed) : null];
      }),
    ),
  });
  return { ...cause, target: 'settings:system', before: state(before), after: state(after) };
}

function differing(before: object, after: object): string[] {
  const text = (from: object, name: string) => JSON.stringify((from as Record<string, unknown>)[name]);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => text(before, name) !== text(after, name));
}

function pick(from: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (from as Record<string, unknown>)[name] ?? null]));
}

/**
 * The sealing key and the system settings, ready for the other parts of the plane. To be called before any of them
 * reads a sealed text: an unfinished change of the key ends here. Throws `bad_setting` for a key file that is open to
 * others or does not fit the store, and for a seed that does not fit.
 */
export async function startSettings(parts: {
  dataDir: string;
  store: KeyValueStore;
  audit: Pick<TransactionalAuditLog, 'append'>;
  seeds: Readonly<Record<string, string>>;
  nowIso: () => string;
  monotonicMs: () => number;
}): Promise<{ box: KeyedSecretBox; settings: SettingsService }> {
  const { dataDir, store, audit, seeds, nowIso, monotonicMs } = parts;
  const box = await openSecretBox(dataDir, store, nowIso);
  await finishRotation(box, store);
  const settings = await openSettings(
    { store: createSettingsStore(store, audit), box, nowIso, monotonicMs },
    seeds,
  );
  return { box, settings };
}
