import { AppError } from '../../platform/app-error.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';
import type { SecretBox } from '../settings/secret-box.ts';

/**
 * Values of `{{secret.NAME}}` of each bot: written by an admin, read by requests to the CRM, shown to nobody. They stay
 * out of the bot, so that versions, exports and duplicates of a bot hold none.
 */
export interface CrmSecrets {
  set(botId: string, name: string, value: string): Promise<void>;
  remove(botId: string, name: string): Promise<boolean>;
  /** All of a bot that has been removed. */
  removeAll(botId: string): Promise<void>;
  list(botId: string): Promise<{ name: string; updated_at: string }[]>;
  valuesOf(botId: string): Promise<Record<string, string>>;
}

export const MAX_SECRETS_PER_BOT = 20;

interface SealedSecret {
  sealed: string;
  updated_at: string;
}

export function createCrmSecrets(store: KeyValueStore, box: SecretBox, nowIso: () => string): CrmSecrets {
  const table: Table<SealedSecret> = store.table('crm-secrets');
  const rows = (botId: string) =>
    table
      .range({ limit: MAX_SECRETS_PER_BOT, start: [botId, ''], end: [botId, '~'] })
      .map(({ key, value }) => ({ name: String((key as unknown[])[1]), ...value }));
  return {
    async set(botId, name, value) {
      const standing = rows(botId);
      if (standing.length >= MAX_SECRETS_PER_BOT && !standing.some((row) => row.name === name)) {
        throw new AppError(
          'conflict',
          `a bot has at most ${MAX_SECRETS_PER_BOT} CRM secrets; remove one first`,
        );
      }
      await table.put([botId, name], { sealed: box.seal(value), updated_at: nowIso() });
    },
    remove: (botId, name) => table.remove([botId, name]),
    removeAll: (botId) =>
      store.transaction((writes) => {
        for (const { name } of rows(botId)) writes.remove(table, [botId, name]);
      }),
    async list(botId) {
      return rows(botId).map(({ name, updated_at }) => ({ name, updated_at }));
    },
    async valuesOf(botId) {
      return Object.fromEntries(rows(botId).map((row) => [row.name, box.open(row.sealed)]));
    },
  };
}
