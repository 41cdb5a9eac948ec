import type { Bot, BotContent } from '../../contracts/bot.ts';
import type { KeyValueStore, Table, Transaction } from '../../platform/key-value-store.ts';
import type { TransactionalAuditLog } from '../audit/audit-log.ts';
import type {
  BotChange,
  BotStamp,
  BotStore,
  BotSummary,
  BotVersion,
  BotVersionRow,
  StoredBot,
} from './bot-store.ts';

/** Saved contents of a bot that are kept beside the published one. */
export const MAX_VERSIONS = 200;

/** The bots in LMDB. With `audit`, a change and its audit entry commit together. */
export function createBotStore(
  store: KeyValueStore,
  audit?: Pick<TransactionalAuditLog, 'append'>,
): BotStore {
  return new LmdbBots(store, audit);
}

/** Bots looked at in one commit. */
const ADOPTION_BATCH = 50;

/**
 * A store of the first version of the product has published bots only: each becomes its own first version. Passes over
 * what is adopted already. Resolves with how many were adopted.
 */
export async function adoptPublishedBots(store: KeyValueStore): Promise<number> {
  const bots = new LmdbBots(store, undefined);
  const published = store.table<Bot>('bots');
  let adopted = 0;
  let after: string | null = null;
  while (true) {
    const start: { start?: string; exclusiveStart?: boolean } =
      after === null ? {} : { start: after, exclusiveStart: true };
    const keys = published.keys({ limit: ADOPTION_BATCH, ...start });
    if (keys.length === 0) return adopted;
    for (const key of keys) if (await bots.adopt(String(key))) adopted++;
    after = String(keys.at(-1));
  }
}

class LmdbBots implements BotStore {
  private readonly store: KeyValueStore;
  private readonly audit: Pick<TransactionalAuditLog, 'append'> | undefined;
  /** The published bots: one look-up per call. */
  private readonly published: Table<Bot>;
  private readonly bots: Table<BotSummary>;
  private readonly versionRows: Table<BotVersionRow>;
  /** `[bot_id, version]` to what was saved; the draft is the content of the newest version. */
  private readonly contents: Table<BotContent>;

  constructor(store: KeyValueStore, audit: Pick<TransactionalAuditLog, 'append'> | undefined) {
    this.store = store;
    this.audit = audit;
    this.published = store.table('bots');
    this.bots = store.table('bot-rows');
    this.versionRows = store.table('bot-version-rows');
    this.contents = store.table('bot-contents');
  }

  async get(botId: string): Promise<Bot | null> {
    return this.published.get(botId) ?? null;
  }

  async put(bot: Bot): Promise<void> {
    const content = contentOf(bot);
    await this.store.transaction((writes) => {
      const standing = this.rowOf(writes, bot.bot_id);
      const key = bot.widget_api_key === undefined ? {} : { widgetApiKey: bot.widget_api_key };
      const change: BotChange = { content, publish: 'draft', ...key };
      const stamp = { nowIso: bot.updated_at, by: null };
      this.apply(writes, standing ?? blank(bot.bot_id, content, bot.created_at), change, stamp);
    });
  }

  async isEmpty(): Promise<boolean> {
    return this.published.count() === 0 && this.bots.count() === 0;
  }

  async find(botId: string): Promise<StoredBot | null> {
    return this.rowOf(this.reader(), botId);
  }

  async list(page: { limit: number; after?: string }): Promise<BotSummary[]> {
    const start = page.after === undefined ? {} : { start: page.after, exclusiveStart: true };
    return this.bots.range({ limit: page.limit, ...start }).map((entry) => entry.value);
  }

  create(
    botId: string,
    change: BotChange & { content: BotContent },
    stamp: BotStamp,
  ): Promise<StoredBot | null> {
    return this.store.transaction((writes) => {
      if (this.rowOf(writes, botId)) return null;
      const created = this.apply(writes, blank(botId, change.content, stamp.nowIso), change, stamp);
      this.note(writes, stamp, botId, null, created);
      return created;
    });
  }

  edit(
    botId: string,
    decide: (standing: StoredBot) => BotChange,
    stamp: BotStamp,
  ): Promise<StoredBot | null> {
    return this.store.transaction((writes) => {
      const standing = this.rowOf(writes, botId);
      if (!standing) return null;
      const changed = this.apply(writes, standing, decide(standing), stamp);
      this.note(writes, stamp, botId, standing, changed);
      return changed;
    });
  }

  remove(botId: string, check: (standing: StoredBot) => void, stamp: BotStamp): Promise<boolean> {
    return this.store.transaction((writes) => {
      const standing = this.rowOf(writes, botId);
      if (!standing) return false;
      check(standing);
      writes.remove(this.published, botId);
      writes.remove(this.bots, botId);
      const range = { limit: MAX_VERSIONS + 1, start: [botId, 0], end: [botId, Number.MAX_SAFE_INTEGER] };
      for (const key of this.versionRows.keys(range)) {
        writes.remove(this.versionRows, key);
        writes.remove(this.contents, key);
      }
      this.note(writes, stamp, botId, standing, null);
      return true;
    });
  }

  async versions(botId: string, page: { limit: number; before?: number }): Promise<BotVersionRow[]> {
    const start = [botId, page.before ?? Number.MAX_SAFE_INTEGER];
    const range = { limit: page.limit, start, end: [botId, 0], reverse: true, exclusiveStart: true };
    return this.versionRows.range(range).map((entry) => entry.value);
  }

  async version(botId: string, version: number): Promise<BotVersion | null> {
    const row = this.versionRows.get([botId, version]);
    const content = row && this.contents.get([botId, version]);
    return content ? { ...row, content } : null;
  }

  /** Says whether there was something to do. */
  adopt(botId: string): Promise<boolean> {
    return this.store.transaction((writes) => {
      if (writes.get(this.bots, botId)) return false;
      const bot = this.rowOf(writes, botId);
      if (!bot) return false;
      this.keepVersion(writes, bot, null, { nowIso: bot.updated_at, by: null });
      writes.put(this.bots, botId, summaryOf(bot));
      return true;
    });
  }

  private reader(): Pick<Transaction, 'get'> {
    return { get: (table, key) => table.get(key) };
  }

  /** A published bot that has not been adopted yet counts as its own version 1. */
  private rowOf(reads: Pick<Transaction, 'get'>, botId: string): StoredBot | null {
    const row = reads.get(this.bots, botId);
    const draft = row && reads.get(this.contents, [botId, row.version]);
    if (draft) {
      const { name: _name, timezone: _timezone, ...kept } = row;
      return { ...kept, draft };
    }
    const bot = reads.get(this.published, botId);
    if (!bot) return null;
    return {
      ...blank(botId, contentOf(bot), bot.created_at),
      revision: 1,
      version: 1,
      published_version: 1,
      published_at: bot.updated_at,
      widget_api_key: bot.widget_api_key ?? null,
      updated_at: bot.updated_at,
    };
  }

  private apply(writes: Transaction, standing: StoredBot, change: BotChange, stamp: BotStamp): StoredBot {
    const next: StoredBot = {
      ...standing,
      revision: standing.revision + 1,
      widget_api_key: change.widgetApiKey === undefined ? standing.widget_api_key : change.widgetApiKey,
      updated_at: stamp.nowIso,
    };
    if (change.content) {
      next.version = standing.version + 1;
      next.draft = change.content;
      this.keepVersion(writes, next, change.note ?? null, stamp);
    }
    if (change.publish) {
      const live =
        change.publish === 'draft' ? { version: next.version, content: next.draft } : change.publish;
      next.published_version = live.version;
      next.published_at = stamp.nowIso;
      writes.put(this.published, next.bot_id, publishedBot(next, live));
      this.forgetVersion(writes, next, standing.published_version);
    } else if (change.widgetApiKey !== undefined) {
      const live = writes.get(this.published, next.bot_id);
      if (live) writes.put(this.published, next.bot_id, { ...live, widget_api_key: next.widget_api_key });
    }
    writes.put(this.bots, next.bot_id, summaryOf(next));
    return next;
  }

  private keepVersion(writes: Transaction, bot: StoredBot, note: string | null, stamp: BotStamp): void {
    writes.put(this.versionRows, [bot.bot_id, bot.version], {
      bot_id: bot.bot_id,
      version: bot.version,
      saved_at: stamp.nowIso,
      saved_by: stamp.by,
      note,
    });
    writes.put(this.contents, [bot.bot_id, bot.version], bot.draft);
    this.forgetVersion(writes, bot, bot.version - MAX_VERSIONS);
  }

  /** Drops a version that is too old to be kept and not the live one. */
  private forgetVersion(writes: Transaction, bot: StoredBot, version: number | null): void {
    if (version === null || version < 1 || version > bot.version - MAX_VERSIONS) return;
    if (version === bot.published_version) return;
    writes.remove(this.versionRows, [bot.bot_id, version]);
    writes.remove(this.contents, [bot.bot_id, version]);
  }

  private note(
    writes: Transaction,
    stamp: BotStamp,
    botId: string,
    before: StoredBot | null,
    after: StoredBot | null,
  ): void {
    if (!this.audit || !stamp.cause) return;
    const { before: was, after: is } = differences(before, after);
    this.audit.append(writes, { ...stamp.cause, target: `bot:${botId}`, before: was, after: is });
  }
}

/** What an audit entry tells: the fields that differ, the draft's among them; prompts are long and seldom change. */
function differences(
  before: StoredBot | null,
  after: StoredBot | null,
): { before: Record<string, unknown> | null; after: Record<string, unknown> | null } {
  const flat = (bot: StoredBot | null): Record<string, unknown> => {
    if (!bot) return {};
    const { draft, ...fields } = bot;
    return { ...fields, ...draft };
  };
  const was = flat(before);
  const is = flat(after);
  const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]),
  );
  const pick = (fields: Record<string, unknown>) =>
    Object.fromEntries(changed.filter((name) => name in fields).map((name) => [name, fields[name]]));
  return { before: before && pick(was), after: after && pick(is) };
}

function blank(botId: string, content: BotContent, nowIso: string): StoredBot {
  return {
    bot_id: botId,
    revision: 0,
    version: 0,
    published_version: null,
    published_at: null,
    draft: content,
    widget_api_key: null,
    created_at: nowIso,
    updated_at: nowIso,
  };
}

function summaryOf({ draft, ...kept }: StoredBot): BotSummary {
  return { ...kept, name: draft.name, timezone: draft.timezone };
}

function publishedBot(bot: StoredBot, live: { version: number; content: BotContent }): Bot {
  return {
    bot_id: bot.bot_id,
    ...live.content,
    widget_api_key: bot.widget_api_key,
    version: live.version,
    created_at: bot.created_at,
    updated_at: bot.updated_at,
  };
}

/** What an editor may change of a published bot. */
export function contentOf(bot: Bot): BotContent {
  const { bot_id, widget_api_key, version, created_at, updated_at, ...content } = bot;
  return content;
}
