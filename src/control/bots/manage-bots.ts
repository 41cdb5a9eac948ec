import { randomBytes } from 'node:crypto';
import type { BotContent, NewBot } from '../../contracts/bot.ts';
import { AppError } from '../../platform/app-error.ts';
import { invalid } from '../../platform/http-server/schema-check.ts';
import { newSecret } from '../../platform/secret-token.ts';
import type { CachedBots } from '../caches/cache-registry.ts';
import { requireMatch } from '../http/etag.ts';
import type { Actor } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { BotFinding, ValidationWorld } from './bot-finding.ts';
import type { BotChange, BotStamp, BotStore, StoredBot } from './bot-store.ts';
import { findingIssues } from './bot-views.ts';
import { checked, newContent, patchedContent } from './merge-bot.ts';
import { validateBot } from './validate-bot.ts';

export interface ManageBotsParts {
  store: BotStore;
  cached: Pick<CachedBots, 'invalidate'>;
  /** What else is kept of a bot goes with it. */
  onRemoved: (botId: string) => Promise<void>;
  /** Calls get another content of the bot from now on. */
  onPublished?: (botId: string) => void;
  world: ValidationWorld;
  nowIso: () => string;
}

/** Who edits, and on what state they believe to be (`If-Match`). */
export interface Editing {
  actor: Actor;
  requestId: string;
  remoteAddress: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Everything that people do with bots. Each change is durable, audited, and out of the cache before it is answered, so
 * the next call gets it (R176).
 */
export class ManageBots {
  private readonly parts: ManageBotsParts;

  constructor(parts: ManageBotsParts) {
    this.parts = parts;
  }

  /** Throws `not_found`. */
  async find(botId: string): Promise<StoredBot> {
    const bot = await this.parts.store.find(botId);
    if (!bot) throw noSuchBot();
    return bot;
  }

  /** Throws `conflict` where the id is taken, `validation_error` where a bot to be published has errors. */
  async create(
    bot: NewBot,
    options: { botId?: string | undefined; publish?: boolean; note?: string },
    editing: Editing,
  ): Promise<StoredBot> {
    const content = newContent(bot);
    if (options.publish) await this.requireFaultless(content);
    const botId = options.botId ?? `bot_${randomBytes(6).toString('hex')}`;
    const change = {
      content,
      note: options.note ?? null,
      ...(options.publish ? { publish: 'draft' as const } : {}),
    };
    const created = await this.parts.store.create(botId, change, this.stamp('bot.create', editing));
    if (!created) throw new AppError('conflict', `there is a bot "${botId}" already; choose another id`);
    this.parts.cached.invalidate(botId);
    if (options.publish) this.parts.onPublished?.(botId);
    return created;
  }

  replace(botId: string, content: BotContent, editing: Editing, note?: string): Promise<StoredBot> {
    const change = { content: checked(content), note: note ?? null };
    return this.edit(botId, 'bot.update', editing, () => change);
  }

  patch(botId: string, patch: Partial<BotContent>, editing: Editing): Promise<StoredBot> {
    return this.edit(botId, 'bot.update', editing, (standing) => ({
      content: patchedContent(standing.draft, patch),
    }));
  }

  async remove(botId: string, editing: Editing): Promise<void> {
    const check = (standing: StoredBot) => requireMatch(editing.headers, standing.revision);
    const removed = await this.parts.store.remove(botId, check, this.stamp('bot.delete', editing));
    if (!removed) throw noSuchBot();
    this.parts.cached.invalidate(botId);
    await this.parts.onRemoved(botId);
  }

  /** What stands in the way of publishing, and what looks wrong. */
  async validate(content: BotContent): Promise<BotFinding[]> {
    return await validateBot(content, this.parts.world);
  }

  /** Makes a version, else the draft, what calls get. Throws `validation_error` where it has errors. */
  async publish(
    botId: string,
    version: number | undefined,
    editing: Editing,
  ): Promise<{ bot: StoredBot; findings: BotFinding[] }> {
    const standing = await this.find(botId);
    const live =
      version === undefined || version === standing.version
        ? { version: standing.version, content: standing.draft }
        : await this.version(botId, version);
    const findings = await this.requireFaultless(live.content);
    const bot = await this.edit(botId, 'bot.publish', editing, () => ({
      publish: { version: live.version, content: live.content },
    }));
    this.parts.onPublished?.(botId);
    return { bot, findings };
  }

  /** An earlier version becomes the draft again, under a new number, and goes live. */
  async rollback(botId: string, version: number, editing: Editing): Promise<StoredBot> {
    const { content } = await this.version(botId, version);
    await this.requireFaultless(content);
    const bot = await this.edit(botId, 'bot.rollback', editing, () => ({
      content,
      note: `rollback to version ${version}`,
      publish: 'draft',
    }));
    this.parts.onPublished?.(botId);
    return bot;
  }

  /** Throws `not_found`. */
  async version(botId: string, version: number) {
    const found = await this.parts.store.version(botId, version);
    if (!found)
      throw new AppError('not_found', 'there is no such version of this bot, or it is no longer kept');
    return found;
  }

  /** The old key opens nothing from now on; no version is made and nothing else goes live. */
  rotateWidgetKey(botId: string, editing: Editing): Promise<StoredBot> {
    return this.edit(botId, 'bot.rotate_widget_key', editing, () => ({ widgetApiKey: newSecret('wk_') }));
  }

  private async edit(
    botId: string,
    action: string,
    editing: Editing,
    decide: (standing: StoredBot) => BotChange,
  ): Promise<StoredBot> {
    const changed = await this.parts.store.edit(
      botId,
      (standing) => {
        requireMatch(editing.headers, standing.revision);
        return decide(standing);
      },
      this.stamp(action, editing),
    );
    if (!changed) throw noSuchBot();
    this.parts.cached.invalidate(botId);
    return changed;
  }

  private async requireFaultless(content: BotContent): Promise<BotFinding[]> {
    const findings = await this.validate(content);
    const errors = findings.filter((finding) => finding.severity === 'error');
    if (errors.length === 0) return findings;
    throw invalid('the bot has errors and was not published; `errors` says where', findingIssues(errors));
  }

  private stamp(action: string, editing: Editing): BotStamp {
    const { actor, requestId, remoteAddress } = editing;
    const by = actor.type === 'user' || actor.type === 'api_key' ? actor.name : actor.type;
    return { nowIso: this.parts.nowIso(), by, cause: { actor, action, requestId, ip: remoteAddress } };
  }
}

/** The id in a body must be the one in the path. */
export function requireSameId(botId: string, named: string | undefined): void {
  if (named !== undefined && named !== botId) {
    throw invalidBody('/bot_id', 'the id of a bot cannot be changed; duplicate the bot instead');
  }
}

function noSuchBot(): AppError {
  return new AppError('not_found', 'there is no bot with this id');
}
