import type { SettingSecretName } from '../../contracts/setting-names.ts';
import type { SystemValues } from '../../contracts/system-settings.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { AuditNote, TransactionalAuditLog } from '../audit/audit-log.ts';

/** The system settings as they are kept: only what somebody has said, secrets sealed. */
export interface StoredSettings {
  /** Counts changes, from 1. */
  version: number;
  updated_at: string;
  values: Partial<SystemValues>;
  secrets: Partial<Record<SettingSecretName, SealedSetting>>;
}

export interface SealedSetting {
  sealed: string;
  updated_at: string;
}

/** Where the system settings are kept. Every implementation passes `settings-store-conformance.ts`. */
export interface SettingsStore {
  /** Null before the first start has written them. */
  read(): Promise<StoredSettings | null>;
  /**
   * Replaces them where `expected` is the version that stands (0: none), and says whether it did. The note goes into
   * the audit log together with them, or not at all. Durable when it resolves.
   */
  write(next: StoredSettings, expected: number, note: AuditNote | null): Promise<boolean>;
}

const ROW = 'settings';

export function createSettingsStore(
  store: KeyValueStore,
  audit: Pick<TransactionalAuditLog, 'append'>,
): SettingsStore {
  const table: Table<StoredSettings> = store.table('system-settings');
  return {
    async read() {
      return table.get(ROW) ?? null;
    },
    write: (next, expected, note) =>
      store.transaction((writes) => {
        if ((writes.get(table, ROW)?.version ?? 0) !== expected) return false;
        writes.put(table, ROW, next);
        if (note) audit.append(writes, note);
        return true;
      }),
  };
}
