import { Type } from 'typebox';
import { BotId } from '../../contracts/bot.ts';
import { API_PREFIX } from '../../contracts/http-names.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { etagOf } from '../http/etag.ts';
import { DEFAULT_PAGE, PAGE_QUERY, Page, pageOf, readTextPosition } from '../http/pagination.ts';
import { type AnyRoute, type Auth, route } from '../http/route.ts';
import type { BotStore, StoredBot } from './bot-store.ts';
import {
  BOT_CONTENT_EXAMPLE,
  BOT_EXAMPLE,
  BotRow,
  BotView,
  botRow,
  botView,
  CreateBotBody,
  PatchBotBody,
  ReplaceBotBody,
  replacingContent,
} from './bot-views.ts';
import { type ManageBots, requireSameId } from './manage-bots.ts';

export const BOTS_PATH = `${API_PREFIX}/bots`;
export const BOT_TAG = 'bots';
export const BotParams = Type.Object({ bot_id: BotId });

/** Bots hold what a company says to its customers: admins change them, the rest of the house may read them. */
export const BOT_EDITORS: Auth = { kind: 'users', roles: ['admin'] };
export const BOT_READERS: Auth = { kind: 'users', roles: ['admin', 'supervisor', 'analyst'] };

/** A prompt alone may have 200,000 characters. */
export const BOT_MAX_BYTES = 2 * 1_048_576;
const ETAG = { ETag: 'The revision, for `If-Match`' };
export const STALE = { description: '`If-Match` names another revision than the standing one' };

/** `/api/v1/bots`: the bots as editors work on them. A change of the draft does not reach calls until it is published. */
export function botRoutes(parts: { store: BotStore; bots: ManageBots }): AnyRoute[] {
  const { bots } = parts;
  return [
    listRoute(parts.store),
    route({
      method: 'POST',
      path: BOTS_PATH,
      operationId: 'createBot',
      summary: 'Create a bot',
      description: 'Without `publish` it takes no calls until it is published.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      idempotent: true,
      body: { schema: CreateBotBody, maxBytes: BOT_MAX_BYTES, example: BOT_EXAMPLE },
      responses: {
        201: { description: 'The bot', schema: BotView, headers: ETAG },
        409: { description: 'The id is taken' },
      },
      handler: async (request) => {
        const { bot_id: botId, publish, ...bot } = request.body;
        return botReply(201, await bots.create(bot, { botId, publish: publish ?? false }, request));
      },
    }),
    route({
      method: 'GET',
      path: `${BOTS_PATH}/{bot_id}`,
      operationId: 'getBot',
      summary: 'One bot, its draft',
      tag: BOT_TAG,
      auth: BOT_READERS,
      params: BotParams,
      responses: { 200: { description: 'The bot', schema: BotView, headers: ETAG } },
      handler: async ({ params }) => botReply(200, await bots.find(params.bot_id)),
    }),
    route({
      method: 'PUT',
      path: `${BOTS_PATH}/{bot_id}`,
      operationId: 'replaceBot',
      summary: 'Replace the draft of a bot',
      description:
        'What `GET` answered may be sent back changed; the fields that the plane keeps are passed over.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      body: { schema: ReplaceBotBody, maxBytes: BOT_MAX_BYTES, example: BOT_CONTENT_EXAMPLE },
      responses: { 200: { description: 'The bot', schema: BotView, headers: ETAG }, 412: STALE },
      handler: async (request) => {
        const botId = request.params.bot_id;
        requireSameId(botId, request.body.bot_id);
        return botReply(200, await bots.replace(botId, replacingContent(request.body), request));
      },
    }),
    route({
      method: 'PATCH',
      path: `${BOTS_PATH}/{bot_id}`,
      operationId: 'patchBot',
      summary: 'Change fields of the draft',
      description: 'Each field that is named replaces the whole field; the others stay.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      body: {
        schema: PatchBotBody,
        maxBytes: BOT_MAX_BYTES,
        example: { opening_message: 'Good morning {{call.name}}.' },
      },
      responses: { 200: { description: 'The bot', schema: BotView, headers: ETAG }, 412: STALE },
      handler: async (request) =>
        botReply(200, await bots.patch(request.params.bot_id, request.body, request)),
    }),
    route({
      method: 'DELETE',
      path: `${BOTS_PATH}/{bot_id}`,
      operationId: 'deleteBot',
      summary: 'Delete a bot with all its versions',
      description: 'Running calls go on; the records of its calls stay.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      responses: { 204: { description: 'Deleted' }, 412: STALE },
      handler: async (request) => {
        await bots.remove(request.params.bot_id, request);
        return { status: 204 };
      },
    }),
  ];
}

function listRoute(store: BotStore): AnyRoute {
  return route({
    method: 'GET',
    path: BOTS_PATH,
    operationId: 'listBots',
    summary: 'List bots by id',
    tag: BOT_TAG,
    auth: BOT_READERS,
    query: Type.Object(PAGE_QUERY),
    responses: { 200: { description: 'A page', schema: Page(BotRow) } },
    handler: async ({ query }) => {
      const limit = query.limit ?? DEFAULT_PAGE;
      const after = query.cursor === undefined ? {} : { after: readTextPosition(query.cursor) };
      const found = await store.list({ limit: limit + 1, ...after });
      return { status: 200, json: pageOf(found, limit, botRow, (last) => last.bot_id) };
    },
  });
}

export function botReply(status: number, bot: StoredBot): HttpReply {
  return { status, headers: { etag: etagOf(bot.revision) }, json: botView(bot) };
}
