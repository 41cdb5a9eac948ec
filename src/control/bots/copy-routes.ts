import { Type } from 'typebox';
import { BotContent, BotId, NewBot } from '../../contracts/bot.ts';
import { type AnyRoute, route } from '../http/route.ts';
import {
  BOT_EDITORS,
  BOT_MAX_BYTES,
  BOT_READERS,
  BOT_TAG,
  BOTS_PATH,
  BotParams,
  botReply,
} from './bot-routes.ts';
import { BOT_CONTENT_EXAMPLE, BotView } from './bot-views.ts';
import type { ManageBots } from './manage-bots.ts';
import { newContent } from './merge-bot.ts';

/** What a bot looks like in a file. No key is in it: provider keys and secrets never are in a bot. */
const BotFile = Type.Object(
  {
    format: Type.Literal('trunkline-bot'),
    format_version: Type.Literal(1),
    exported_at: Type.Optional(Type.String()),
    bot_id: BotId,
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    bot: NewBot,
  },
  { additionalProperties: false },
);

const TAKEN = { description: 'The id is taken' };

/** Bots as files, and copies of bots. */
export function botCopyRoutes(parts: { bots: ManageBots; nowIso: () => string }): AnyRoute[] {
  const { bots } = parts;
  return [
    route({
      method: 'POST',
      path: `${BOTS_PATH}/{bot_id}/duplicate`,
      operationId: 'duplicateBot',
      summary: 'A new bot with the draft of this one',
      description: 'It is not published and has no widget key.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      idempotent: true,
      params: BotParams,
      body: {
        schema: Type.Object(
          {
            bot_id: Type.Optional(BotId),
            name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
          },
          { additionalProperties: false },
        ),
        optional: true,
        example: { name: 'Collections, second try' },
      },
      responses: { 201: { description: 'The new bot', schema: BotView }, 409: TAKEN },
      handler: async (request) => {
        const { draft, bot_id: from } = await bots.find(request.params.bot_id);
        const copy = { ...draft, name: request.body?.name ?? `${draft.name} (copy)`.slice(0, 200) };
        const options = { botId: request.body?.bot_id, note: `copy of ${from}` };
        return botReply(201, await bots.create(copy, options, request));
      },
    }),
    route({
      method: 'GET',
      path: `${BOTS_PATH}/{bot_id}/export`,
      operationId: 'exportBot',
      summary: 'The draft as a file',
      tag: BOT_TAG,
      auth: BOT_READERS,
      params: BotParams,
      responses: {
        200: {
          description: 'What `import` takes',
          schema: Type.Object({ ...BotFile.properties, bot: BotContent }),
          headers: { 'Content-Disposition': 'A file name' },
        },
      },
      handler: async ({ params }) => {
        const bot = await bots.find(params.bot_id);
        return {
          status: 200,
          headers: { 'content-disposition': `attachment; filename="${bot.bot_id}.bot.json"` },
          json: {
            format: 'trunkline-bot',
            format_version: 1,
            exported_at: parts.nowIso(),
            bot_id: bot.bot_id,
            version: bot.version,
            bot: bot.draft,
          },
        };
      },
    }),
    route({
      method: 'POST',
      path: `${BOTS_PATH}/import`,
      operationId: 'importBot',
      summary: 'Create a bot from a file, or replace the draft of one',
      description: 'It is not published.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      idempotent: true,
      query: Type.Object({
        bot_id: Type.Optional(
          Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Instead of the id in the file' }),
        ),
        replace: Type.Optional(
          Type.Boolean({ description: 'A bot of this id gets the content as its draft (false)' }),
        ),
      }),
      body: {
        schema: BotFile,
        maxBytes: BOT_MAX_BYTES,
        example: { format: 'trunkline-bot', format_version: 1, bot_id: 'imported', bot: BOT_CONTENT_EXAMPLE },
      },
      responses: {
        200: { description: 'The bot whose draft was replaced', schema: BotView },
        201: { description: 'The new bot', schema: BotView },
        404: { description: 'With `replace`: there is no bot of this id' },
        409: TAKEN,
        412: { description: 'With `replace`: `If-Match` names another revision than the standing one' },
      },
      handler: async (request) => {
        const botId = request.query.bot_id ?? request.body.bot_id;
        if (request.query.replace) {
          return botReply(200, await bots.replace(botId, newContent(request.body.bot), request, 'import'));
        }
        return botReply(201, await bots.create(request.body.bot, { botId, note: 'import' }, request));
      },
    }),
  ];
}
