import type { Bot } from '../../contracts/bot.ts';
import type { MediaSetup } from '../../contracts/rooms.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import type { Logger } from '../../platform/logger.ts';
import type { TransactionalAuditLog } from '../audit/audit-log.ts';
import type { AnyRoute } from '../http/route.ts';
import { checkActiveHours } from '../runtime-config/active-hours.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaServerRoute } from './media-server-route.ts';
import { mediaSetup, type OutboundTrunk, outboundTrunk } from './media-setup.ts';
import { numberRoutes } from './number-routes.ts';
import { createNumberStore, type NumberStore } from './number-store.ts';
import { trunkRoutes } from './trunk-routes.ts';
import { createTrunkStore } from './trunk-store.ts';
import { createTrunkSync, type TrunkSync } from './trunk-sync.ts';
import { trunkTestRoute } from './trunk-test-route.ts';

export interface MediaParts {
  store: KeyValueStore;
  audit: Pick<TransactionalAuditLog, 'append'>;
  box: SecretBox;
  settings: () => Promise<SystemSettings>;
  /** Published bots. */
  bot: (id: string) => Promise<Bot | null>;
  logger: Logger;
  nowIso: () => string;
}

/** The control plane's side of the media server: trunks, numbers, and what the hosts need to know of them. */
export interface Media {
  routes: AnyRoute[];
  /** Null while the media server is not set up. */
  setup(): Promise<MediaSetup | null>;
  /** Who answers a number; null where nobody does. */
  botForNumber(did: string): Promise<{ botId: string } | null>;
  /** What outbound calls go through; null where there is nothing. */
  outboundTrunk(): Promise<OutboundTrunk | null>;
  sync: TrunkSync;
  start(): void;
  stop(): Promise<void>;
}

export function startMedia(parts: MediaParts): Media {
  const { store, audit, box, settings, bot, logger, nowIso } = parts;
  const trunks = createTrunkStore(store, audit);
  const numbers = createNumberStore(store, audit);
  const sync = createTrunkSync({ store, trunks, numbers, box, settings, logger, nowIso });
  const setupParts = { settings, trunks, synced: sync };
  return {
    routes: [
      ...trunkRoutes({ trunks, sync, box, nowIso }),
      trunkTestRoute({ trunks, synced: sync, settings }),
      ...numberRoutes({ numbers, trunks, sync, bot, nowIso }),
      mediaServerRoute({ settings, trunks, sync }),
    ],
    async setup() {
      const setup = await mediaSetup(setupParts);
      if (setup) sync.noteServer(setup.access.url);
      return setup;
    },
    outboundTrunk: () => outboundTrunk(setupParts),
    botForNumber: (did) => botForNumber({ numbers, bot, nowMs: () => Date.parse(nowIso()) }, did),
    sync,
    start: () => sync.start(),
    stop: () => sync.stop(),
  };
}

interface NumberMapParts {
  numbers: Pick<NumberStore, 'byNumber'>;
  bot: (id: string) => Promise<Bot | null>;
  nowMs: () => number;
}

/**
 * Who answers a number: its bot, or the fallback where that one is gone or outside its hours. Where the fallback cannot
 * answer either, the bot gets the call after all: its closed hours are then what the record tells. Null for a number
 * that nobody has entered, that is disabled, or whose bots are all gone.
 */
async function botForNumber(parts: NumberMapParts, did: string): Promise<{ botId: string } | null> {
  const number = await parts.numbers.byNumber(did);
  if (!number?.enabled) return null;
  const candidates = [number.bot_id, number.fallback_bot_id].filter((id) => id !== null);
  const bots = await Promise.all(candidates.map((id) => parts.bot(id)));
  const known = bots.filter((bot) => bot !== null);
  const open = known.find((bot) => checkActiveHours(bot.active_hours, bot.timezone, parts.nowMs()).open);
  const chosen = open ?? known[0];
  return chosen ? { botId: chosen.bot_id } : null;
}
