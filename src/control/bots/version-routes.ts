import { Type } from 'typebox';
import { etagOf } from '../http/etag.ts';
import { DEFAULT_PAGE, PAGE_QUERY, Page, pageOf, readCountPosition } from '../http/pagination.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { BOT_EDITORS, BOT_READERS, BOT_TAG, BOTS_PATH, BotParams, botReply, STALE } from './bot-routes.ts';
import type { BotStore } from './bot-store.ts';
import { BotView, botView, FindingView, VersionRow, VersionView, versionRow } from './bot-views.ts';
import { MAX_VERSIONS } from './lmdb-bot-store.ts';
import type { ManageBots } from './manage-bots.ts';

const VersionParams = Type.Object({
  ...BotParams.properties,
  version: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }),
});
const UNFIT = { description: 'The version has errors; `errors` names them, and nothing has changed' };

/** Versions of bots, and which of them calls get. */
export function botVersionRoutes(parts: { store: BotStore; bots: ManageBots }): AnyRoute[] {
  const { bots } = parts;
  return [
    versionListRoute(parts),
    route({
      method: 'GET',
      path: `${BOTS_PATH}/{bot_id}/versions/{version}`,
      operationId: 'getBotVersion',
      summary: 'One version, whole',
      tag: BOT_TAG,
      auth: BOT_READERS,
      params: VersionParams,
      responses: { 200: { description: 'The version', schema: VersionView } },
      handler: async ({ params }) => {
        const bot = await bots.find(params.bot_id);
        const version = await bots.version(params.bot_id, Number(params.version));
        return { status: 200, json: { ...versionRow(version, bot), content: version.content } };
      },
    }),
    route({
      method: 'POST',
      path: `${BOTS_PATH}/{bot_id}/validate`,
      operationId: 'validateBot',
      summary: 'Check the draft against itself and this installation',
      description:
        'Broken templates, unknown variables, tools and targets, providers that this host cannot use, time zones. Errors stand in the way of publishing.',
      tag: BOT_TAG,
      auth: BOT_READERS,
      params: BotParams,
      responses: {
        200: {
          description: 'What was found',
          schema: Type.Object({ publishable: Type.Boolean(), findings: Type.Array(FindingView) }),
        },
      },
      handler: async ({ params }) => {
        const findings = await bots.validate((await bots.find(params.bot_id)).draft);
        const publishable = !findings.some((finding) => finding.severity === 'error');
        return { status: 200, json: { publishable, findings } };
      },
    }),
    route({
      method: 'POST',
      path: `${BOTS_PATH}/{bot_id}/publish`,
      operationId: 'publishBot',
      summary: 'Let calls use the draft, or a named version',
      description: 'The next call gets it; running calls keep what they have.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      body: {
        schema: Type.Object(
          { version: Type.Optional(Type.Integer({ minimum: 1 })) },
          { additionalProperties: false },
        ),
        optional: true,
        example: {},
      },
      responses: {
        200: {
          description: 'The bot, with what looked wrong and did not stand in the way',
          schema: Type.Object({ bot: BotView, findings: Type.Array(FindingView) }),
        },
        412: STALE,
        422: UNFIT,
      },
      handler: async (request) => {
        const version = request.body?.version;
        const { bot, findings } = await bots.publish(request.params.bot_id, version, request);
        return {
          status: 200,
          headers: { etag: etagOf(bot.revision) },
          json: { bot: botView(bot), findings },
        };
      },
    }),
    route({
      method: 'POST',
      path: `${BOTS_PATH}/{bot_id}/rollback`,
      operationId: 'rollbackBot',
      summary: 'Bring an earlier version back and publish it',
      description: 'It becomes the draft under a new version number; no version is ever changed.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      body: {
        schema: Type.Object({ version: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
        example: { version: 1 },
      },
      responses: { 200: { description: 'The bot', schema: BotView }, 412: STALE, 422: UNFIT },
      handler: async (request) => {
        const { version } = request.body;
        return botReply(200, await bots.rollback(request.params.bot_id, version, request));
      },
    }),
  ];
}

function versionListRoute(parts: { store: BotStore; bots: ManageBots }): AnyRoute {
  return route({
    method: 'GET',
    path: `${BOTS_PATH}/{bot_id}/versions`,
    operationId: 'listBotVersions',
    summary: 'Versions of a bot, newest first',
    description: `The last ${MAX_VERSIONS} and the published one are kept.`,
    tag: BOT_TAG,
    auth: BOT_READERS,
    params: BotParams,
    query: Type.Object(PAGE_QUERY),
    responses: { 200: { description: 'A page', schema: Page(VersionRow) } },
    handler: async ({ params, query }) => {
      const bot = await parts.bots.find(params.bot_id);
      const limit = query.limit ?? DEFAULT_PAGE;
      const before = query.cursor === undefined ? {} : { before: readCountPosition(query.cursor) };
      const found = await parts.store.versions(params.bot_id, { limit: limit + 1, ...before });
      return {
        status: 200,
        json: pageOf(
          found,
          limit,
          (version) => versionRow(version, bot),
          (last) => last.version,
        ),
      };
    },
  });
}
