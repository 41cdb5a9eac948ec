import type { Bot } from '../../contracts/bot.ts';
import type { LivePromptCacheStore } from '../caches/live-prompt-cache.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { ConfigInputs } from './build-config.ts';
import { livePromptVersion } from './prompt-parts.ts';
import { namesSecrets } from './served-tools.ts';

/** The system settings as far as a call config needs them, at one moment. */
export interface ConfigSettings {
  providerKey(provider: string): string | null;
  /** Served as `minio`; null where no object storage is set up. */
  objectStorage(): object | null;
  knowledgeEnabled(): boolean;
  /** Where keys may be sent beside the vendors' own hosts. */
  providerOrigins(): readonly string[];
  /** Where the requests of tools may go beside public hosts. */
  outboundNetworks(): readonly string[];
}

export interface ConfigInputParts {
  /** Cached under `system:settings`. */
  settings: () => Promise<ConfigSettings>;
  /** Values of `{{secret.NAME}}` of a bot. */
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  /** Whether every one of these knowledge bases exists. */
  knowledgeBasesExist: (ids: readonly string[]) => Promise<boolean>;
  livePromptCaches: LivePromptCacheStore;
  campaigns: CampaignStore;
}

/** Everything beyond bot and call that a config is built from. */
export async function readConfigInputs(
  parts: ConfigInputParts,
  call: { bot: Bot; campaignId: string | null; nowIso: string },
): Promise<ConfigInputs> {
  const { bot } = call;
  const settings = await parts.settings();
  const storage = settings.objectStorage();
  const campaign = call.campaignId === null ? null : await parts.campaigns.get(call.campaignId);
  const usable = await knowledgeUsable(parts, settings, bot);
  const cache = bot.live_prompt_cache?.enabled
    ? await parts.livePromptCaches.usable(bot.bot_id, livePromptVersion(bot, usable), call.nowIso)
    : null;
  return {
    keys: { keyOf: (provider) => settings.providerKey(provider), origins: settings.providerOrigins() },
    secrets: namesSecrets(bot) ? await parts.secretsOf(bot.bot_id) : {},
    objectStorage: storage && { ...storage },
    knowledgeUsable: usable,
    outboundNetworks: settings.outboundNetworks(),
    callbackDetection: campaign?.callback_detection_enabled ?? false,
    livePromptCache: cache && { cache_name: cache.cache_name, expires_at: cache.expires_at },
  };
}

/** Both sides enable it and the ids validate (R68); no ids are nothing to search in. */
async function knowledgeUsable(
  parts: ConfigInputParts,
  settings: ConfigSettings,
  bot: Bot,
): Promise<boolean> {
  const ids = bot.knowledge?.enabled ? (bot.knowledge.knowledge_base_ids ?? []) : [];
  return ids.length > 0 && settings.knowledgeEnabled() && (await parts.knowledgeBasesExist(ids));
}
