import { Type } from 'typebox';
import { SOCKET_PATH } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import { causedBy } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { LivePromptCacheStore } from '../caches/live-prompt-cache.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { BOT_EDITORS, BOT_TAG, BOTS_PATH, BotParams, botReply, STALE } from './bot-routes.ts';
import type { BotStore } from './bot-store.ts';
import { BotView } from './bot-views.ts';
import { type CallTickets, TICKET_LIFE_MS } from './call-tickets.ts';
import type { ManageBots } from './manage-bots.ts';

export interface BotAccessParts {
  store: Pick<BotStore, 'get'>;
  bots: ManageBots;
  tickets: CallTickets;
  livePromptCaches: LivePromptCacheStore;
  audit: Pick<AuditLog, 'record'>;
  /** Where call sockets are opened, `wss://calls.example.com`. */
  socketUrl: () => string;
}

/** Keys and tickets that open a way to a bot, and what the slots tell about its prompt cache. */
export function botAccessRoutes(parts: BotAccessParts): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: `${BOTS_PATH}/{bot_id}/rotate-widget-key`,
      operationId: 'rotateWidgetKey',
      summary: 'Make the widget key of a bot, or a new one',
      description: 'The old key opens nothing from then on. Takes effect without publishing.',
      tag: BOT_TAG,
      auth: BOT_EDITORS,
      params: BotParams,
      responses: { 200: { description: 'The bot with its key', schema: BotView }, 412: STALE },
      handler: async (request) =>
        botReply(200, await parts.bots.rotateWidgetKey(request.params.bot_id, request)),
    }),
    ticketRoute(parts),
    livePromptCacheRoute(parts),
  ];
}

function ticketRoute(parts: BotAccessParts): AnyRoute {
  return route({
    method: 'POST',
    path: `${BOTS_PATH}/{bot_id}/call-ticket`,
    operationId: 'createCallTicket',
    summary: 'A ticket that opens one call to this bot',
    description: `For clients that must not know the core secret. It opens one call socket, once, within ${TICKET_LIFE_MS / 1000} seconds.`,
    tag: BOT_TAG,
    auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['calls:write'] },
    params: BotParams,
    responses: {
      201: {
        description: 'The ticket, and the address that it is part of',
        schema: Type.Object({ ticket: Type.String(), url: Type.String(), expires_at: Type.String() }),
      },
    },
    handler: async (request) => {
      const botId = request.params.bot_id;
      if (!(await parts.store.get(botId))) {
        throw new AppError('not_found', 'there is no published bot with this id');
      }
      const { ticket, expiresAtMs } = parts.tickets.issue(botId);
      await parts.audit.record({
        ...causedBy(request, 'bot.call_ticket'),
        target: `bot:${botId}`,
      });
      return {
        status: 201,
        headers: { 'cache-control': 'no-store' },
        json: {
          ticket,
          url: `${parts.socketUrl()}${SOCKET_PATH}${botId}?ticket=${ticket}`,
          expires_at: new Date(expiresAtMs).toISOString(),
        },
      };
    },
  });
}

function livePromptCacheRoute(parts: BotAccessParts): AnyRoute {
  return route({
    method: 'PUT',
    path: `${BOTS_PATH}/{bot_id}/live-prompt-cache`,
    operationId: 'setLivePromptCache',
    summary: 'Tell which cache entry of the provider holds the static prompt',
    description:
      'Sent by the core worker that made or renewed the entry; later calls get it as `live_prompt_cache_state`. Null: the entry is gone.',
    tag: BOT_TAG,
    auth: { kind: 'core_secret' },
    params: BotParams,
    body: {
      schema: Type.Object(
        {
          static_version: Type.String({ minLength: 1, maxLength: 100, description: 'From `prompt_parts`' }),
          cache_name: Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()]),
          expires_at: Type.Optional(
            Type.String({
              pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
              description: 'Needed with a name; ISO 8601',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      example: {
        static_version: '0f3a9c5577aa01bc',
        cache_name: 'cachedContents/abc',
        expires_at: '2026-11-20T12:00:00Z',
      },
    },
    responses: { 204: { description: 'Noted' } },
    handler: async ({ params, body }) => {
      const botId = params.bot_id;
      if (!(await parts.store.get(botId))) {
        throw new AppError('not_found', 'there is no published bot with this id');
      }
      if (body.cache_name === null) {
        await parts.livePromptCaches.remove(botId);
        return { status: 204 };
      }
      const expiresAtMs = Date.parse(body.expires_at ?? '');
      if (Number.isNaN(expiresAtMs)) {
        throw new AppError(
          'validation_error',
          '`expires_at` must be a moment in ISO 8601 where `cache_name` is given',
        );
      }
      await parts.livePromptCaches.put(botId, {
        static_version: body.static_version,
        cache_name: body.cache_name,
        expires_at: new Date(expiresAtMs).toISOString(),
      });
      return { status: 204 };
    },
  });
}
