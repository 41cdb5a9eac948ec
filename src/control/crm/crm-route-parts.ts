import { Type } from 'typebox';
import { BotId } from '../../contracts/bot.ts';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { WebhookService } from '../webhooks/webhook-service.ts';
import type { CrmSecrets } from './crm-secrets.ts';
import type { CrmPrefetch, PrefetchBot } from './prefetch.ts';

export interface CrmRouteParts {
  webhookService: WebhookService;
  prefetch: CrmPrefetch;
  secrets: CrmSecrets;
  /** The bot as calls get it now; null for an unknown id. */
  bot: (botId: string) => Promise<(PrefetchBot & { timezone: string }) | null>;
  audit: Pick<AuditLog, 'record'>;
}

export const CRM = `${API_PREFIX}/bots/{bot_id}/crm`;
export const CrmParams = Type.Object({ bot_id: BotId });

/** Throws `not_found` for an unknown bot. */
export async function requireBot(parts: CrmRouteParts, botId: string) {
  const bot = await parts.bot(botId);
  if (!bot) throw new AppError('not_found', 'there is no bot with this id');
  return bot;
}
