import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { TransactionalAuditLog } from '../audit/audit-log.ts';
import { finishRotation } from './rotate-key.ts';
import { type KeyedSecretBox, openSecretBox } from './secret-box.ts';
import { openSettings, type SettingsService } from './settings-service.ts';
import { createSettingsStore } from './settings-store.ts';

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
