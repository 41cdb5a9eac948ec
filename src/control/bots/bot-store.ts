import type { Bot, BotContent } from '../../contracts/bot.ts';
import type { AuditCause } from '../audit/audit-entry.ts';

/**
 * The bots of the installation. Calls get the published bot; editors work on a draft beside it. Asynchronous, so that a
 * store on another machine can stand behind it; every implementation passes `test/control/bot-store-conformance.ts`.
 */
export interface BotStore {
  /** The published bot, as calls get it. Null for an unknown id and for a bot that was never published. */
  get(botId: string): Promise<Bot | null>;
  /** Creates or replaces and publishes at once, without questions: for seeding and repair. Durable when it resolves. */
  put(bot: Bot): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** The bot as editors see it. */
  find(botId: string): Promise<StoredBot | null>;
  /** By id, behind `after`. */
  list(page: { limit: number; after?: string }): Promise<BotSummary[]>;
  /** Null where the id is taken. */
  create(
    botId: string,
    change: BotChange & { content: BotContent },
    stamp: BotStamp,
  ): Promise<StoredBot | null>;
  /**
   * Applies what `decide` answers to the standing bot, in one commit with it. What `decide` throws leaves everything as
   * it was. Null for an unknown id.
   */
  edit(botId: string, decide: (standing: StoredBot) => BotChange, stamp: BotStamp): Promise<StoredBot | null>;
  /** With all its versions. `check` may throw. Says whether there was one. */
  remove(botId: string, check: (standing: StoredBot) => void, stamp: BotStamp): Promise<boolean>;
  /** Newest first, below `before`. */
  versions(botId: string, page: { limit: number; before?: number }): Promise<BotVersionRow[]>;
  version(botId: string, version: number): Promise<BotVersion | null>;
}

/** A bot as editors see it. */
export interface StoredBot {
  bot_id: string;
  /** Grows with every change of anything; the ETag. */
  revision: number;
  /** Version of the draft; each saved content has its own. */
  version: number;
  published_version: number | null;
  published_at: string | null;
  draft: BotContent;
  /** Belongs to the bot, not to a version: a new key counts at once, and no old version brings an old key back. */
  widget_api_key: string | null;
  created_at: string;
  updated_at: string;
}

/** A bot in a list: prompts are long, so no content is read for it. */
export interface BotSummary extends Omit<StoredBot, 'draft'> {
  name: string;
  timezone: string;
}

/** A saved content; never changed once written. The last 200 and the published one are kept. */
export interface BotVersion extends BotVersionRow {
  content: BotContent;
}

export interface BotVersionRow {
  bot_id: string;
  version: number;
  saved_at: string;
  /** Name of who saved it; null for the product itself. */
  saved_by: string | null;
  note: string | null;
}

export interface BotChange {
  /** Becomes the draft and a new version. Absent: the draft stays. */
  content?: BotContent;
  note?: string | null;
  /** This version goes live; `draft` is the one that stands after the change. */
  publish?: { version: number; content: BotContent } | 'draft';
  widgetApiKey?: string | null;
}

/** When a change happens, and who makes it. */
export interface BotStamp {
  nowIso: string;
  by: string | null;
  /** Written to the audit log in the same commit. */
  cause?: AuditCause;
}
