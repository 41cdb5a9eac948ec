import type { Bot } from '../../contracts/bot.ts';
import { checkActiveHours } from '../runtime-config/active-hours.ts';
import type { NumberStore } from './number-store.ts';

export interface NumberMapParts {
  numbers: Pick<NumberStore, 'byNumber'>;
  bot: (id: string) => Promise<Bot | null>;
  nowMs: () => number;
}

/**
 * Who answers a number: its bot, or the fallback where that one is gone or outside its hours. Where the fallback cannot
 * answer either, the bot gets the call after all: its closed hours are then what the record tells. Null for a number
 * that nobody has entered, that is disabled, or whose bots are all gone.
 */
export async function botForNumber(parts: NumberMapParts, did: string): Promise<{ botId: string } | null> {
  const number = await parts.numbers.byNumber(did);
  if (!number?.enabled) return null;
  const candidates = [number.bot_id, number.fallback_bot_id].filter((id) => id !== null);
  const bots = await Promise.all(candidates.map((id) => parts.bot(id)));
  const known = bots.filter((bot) => bot !== null);
  const open = known.find((bot) => checkActiveHours(bot.active_hours, bot.timezone, parts.nowMs()).open);
  const chosen = open ?? known[0];
  return chosen ? { botId: chosen.bot_id } : null;
}
