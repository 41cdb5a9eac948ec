import type { Bot } from '../../contracts/bot.ts';
import type { KeyValueStore, Table } from '../../platform/key-value-store.ts';

/**
 * The bots of the installation. Asynchronous, so that a store on another machine can stand behind it; every
 * implementation passes `test/control/bot-store-conformance.ts`.
 */
export interface BotStore {
  /** Null for an unknown id. */
  get(botId: string): Promise<Bot | null>;
  /** Creates or replaces; durable when it resolves. */
  put(bot: Bot): Promise<void>;
  isEmpty(): Promise<boolean>;
}

export function createBotStore(store: KeyValueStore): BotStore {
  const bots: Table<Bot> = store.table<Bot>('bots');
  return {
    async get(botId) {
      return bots.get(botId) ?? null;
    },
    async put(bot) {
      await bots.put(bot.bot_id, bot);
    },
    async isEmpty() {
      return bots.count() === 0;
    },
  };
}
