import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import {
  CRM_PREFETCH_EXAMPLE,
  CrmPrefetchConfig,
  IntegrationLogEntry,
  POST_CALL_PUSH_EXAMPLE,
  PostCallPush,
} from '../../contracts/crm.ts';
import { AppError } from '../../platform/app-error.ts';
import { afterCallVariables, type RecordFacts, renderPush } from '../calls/after-call.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { newDelivery } from '../webhooks/delivery.ts';
import { BOT_PUSH_PREFIX } from '../webhooks/endpoint-store.ts';
import { maskedUrl, sendDelivery } from '../webhooks/send-delivery.ts';
import { pushTarget } from '../webhooks/targets.ts';
import { AttemptResult } from '../webhooks/webhook-schemas.ts';
import { CRM, CrmParams, type CrmRouteParts, requireBot } from './crm-route-parts.ts';

const SessionId = Type.String({ minLength: 1, maxLength: 200, description: 'A past call of this bot' });

/** Trying a mapper or a pre-fetch before it goes live (D-51: tried on a real past call). */
export function pushTrialRoutes(parts: CrmRouteParts): AnyRoute[] {
  const { webhookService, prefetch } = parts;
  const { nowMs } = webhookService;
  return [
    route({
      method: 'POST',
      path: `${CRM}/push/preview`,
      operationId: 'previewPush',
      summary: 'What the push would send for a past call',
      description: 'With `push` an unsaved setting is tried, else that of the bot. Nothing is sent.',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      body: {
        schema: Type.Object(
          { session_id: SessionId, push: Type.Optional(PostCallPush) },
          { additionalProperties: false },
        ),
        example: { session_id: '7f1c0f5e-8f0a-4a53-9d53-0f4b8a2f6f11', push: POST_CALL_PUSH_EXAMPLE },
      },
      responses: {
        200: {
          description: 'The rendered message',
          schema: Type.Object({
            url: Type.String({ description: 'Values of query parameters are masked' }),
            body: Type.Unknown(),
            missing: Type.Array(Type.String(), { description: 'Variables that this call does not have' }),
          }),
        },
        409: { description: 'The bot has no push and none was sent along' },
      },
      async handler({ params, body }) {
        const push = body.push ?? (await savedPush(parts, params.bot_id));
        const call = await endedCall(parts, params.bot_id, body.session_id);
        const variables = afterCallVariables(call, webhookService.system, new Date(nowMs()).toISOString());
        const rendered = renderPush(push, call, variables);
        return { status: 200, json: { ...rendered, url: maskedUrl(rendered.url) } };
      },
    }),
    route({
      method: 'POST',
      path: `${CRM}/push/test`,
      operationId: 'testPush',
      summary: 'Send the push of a past call now',
      description:
        'One attempt to the saved URL, not repeated, under a `webhook-id` of its own. It stands in the delivery log.',
      tag: 'CRM',
      auth: ADMIN,
      rateLimit: 30,
      params: CrmParams,
      body: {
        schema: Type.Object({ session_id: SessionId }, { additionalProperties: false }),
        example: { session_id: '7f1c0f5e-8f0a-4a53-9d53-0f4b8a2f6f11' },
      },
      responses: {
        200: { description: 'What happened, whether the CRM took it or not', schema: AttemptResult },
        409: { description: 'The bot has no push, or the CRM answered 410 before' },
      },
      async handler(request) {
        const { bot_id } = request.params;
        const push = await savedPush(parts, bot_id);
        const call = await endedCall(parts, bot_id, request.body.session_id);
        const now = nowMs();
        const target = await pushTarget(webhookService, bot_id, push, call, now);
        if (typeof target === 'string') throw new AppError('conflict', target);
        const variables = afterCallVariables(call, webhookService.system, new Date(now).toISOString());
        const delivery = newDelivery(
          {
            id: `msg_${randomBytes(16).toString('hex')}`,
            endpoint_id: `${BOT_PUSH_PREFIX}${bot_id}`,
            type: 'crm.push',
            session_id: call.session_id,
            body: JSON.stringify(renderPush(push, call, variables).body),
          },
          now,
        );
        const outcome = await sendDelivery(webhookService.http, delivery, target, now, request.signal);
        await webhookService.deliveries.log(delivery.endpoint_id, outcome.log);
        return { status: 200, json: { delivered: outcome.delivered, attempt: outcome.log } };
      },
    }),
    route({
      method: 'POST',
      path: `${CRM}/prefetch/test`,
      operationId: 'testPrefetch',
      summary: 'Ask the CRM as a call would',
      description: 'With `prefetch` an unsaved setting is tried, else that of the bot.',
      tag: 'CRM',
      auth: ADMIN,
      rateLimit: 30,
      params: CrmParams,
      body: {
        schema: Type.Object(
          {
            variables: Type.Optional(
              Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
                description: 'What a dialler would send: fields of `call.*` and `crm.*`',
              }),
            ),
            prefetch: Type.Optional(CrmPrefetchConfig),
          },
          { additionalProperties: false },
        ),
        example: { variables: { caller_id: '+911234567890' }, prefetch: CRM_PREFETCH_EXAMPLE },
      },
      responses: {
        200: {
          description: 'The fields of `crm.*`, and the line that `integration_log` would get',
          schema: Type.Object({
            data: Type.Record(Type.String(), Type.Unknown()),
            entry: IntegrationLogEntry,
          }),
        },
      },
      async handler({ params, body, signal }) {
        const bot = await requireBot(parts, params.bot_id);
        const tried = body.prefetch ? { ...bot, crm_prefetch: body.prefetch } : bot;
        const fields = body.variables ?? {};
        const system = webhookService.system(bot.timezone, new Date(nowMs()).toISOString());
        return {
          status: 200,
          json: await prefetch(tried, { system, call: fields, crm: fields }, signal),
        };
      },
    }),
  ];
}

async function savedPush(parts: CrmRouteParts, botId: string): Promise<PostCallPush> {
  await requireBot(parts, botId);
  const push = await parts.webhookService.pushOf(botId);
  if (!push) throw new AppError('conflict', 'the bot has no post-call push; save one first');
  return push;
}

async function endedCall(parts: CrmRouteParts, botId: string, sessionId: string): Promise<RecordFacts> {
  await requireBot(parts, botId);
  const call = await parts.webhookService.call(sessionId);
  if (call?.bot_id !== botId || call.deleted_at != null) {
    throw invalidBody('/session_id', 'this bot has no call with this session_id');
  }
  return call;
}
