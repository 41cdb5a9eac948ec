import { Type } from 'typebox';
import { causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { BOT_PUSH_PREFIX, editEndpoint, withNewSecret } from '../webhooks/endpoint-store.ts';
import { replay } from '../webhooks/resend.ts';
import { newWebhookSecret } from '../webhooks/sign-webhook.ts';
import { pushEndpoint } from '../webhooks/targets.ts';
import { DEFAULT_OVERLAP_HOURS, DeliveriesQuery, HOUR_MS } from '../webhooks/webhook-route-parts.ts';
import {
  DeliveriesView,
  ReplayBody,
  ReplayView,
  RotateBody,
  RotateView,
} from '../webhooks/webhook-schemas.ts';
import { deliveriesView, secretView } from '../webhooks/webhook-views.ts';
import { CRM, CrmParams, type CrmRouteParts, requireBot } from './crm-route-parts.ts';

/** The post-call push of a bot as a receiver: its messages, its secret, its switch. Its URL stands in the bot. */
export function pushRoutes(parts: CrmRouteParts): AnyRoute[] {
  const { webhookService, audit } = parts;
  const { deliveries, endpoints, box, nowMs } = webhookService;
  return [
    route({
      method: 'GET',
      path: `${CRM}/push/deliveries`,
      operationId: 'listPushDeliveries',
      summary: 'Messages and attempts of the post-call push',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      query: DeliveriesQuery,
      responses: { 200: { description: 'Secrets are masked', schema: DeliveriesView } },
      async handler({ params, query }) {
        await requireBot(parts, params.bot_id);
        const id = `${BOT_PUSH_PREFIX}${params.bot_id}`;
        return { status: 200, json: await deliveriesView(deliveries, id, query.state) };
      },
    }),
    route({
      method: 'POST',
      path: `${CRM}/push/replay`,
      operationId: 'replayPush',
      summary: 'Push calls again',
      description: 'One by `delivery_id`, or those of a time range. The body is the one of then.',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      body: { schema: ReplayBody, example: { from: '2026-01-31T00:00:00Z', to: '2026-01-31T12:00:00Z' } },
      responses: { 200: { description: 'How many wait to be sent now', schema: ReplayView } },
      async handler(request) {
        const { bot_id } = request.params;
        await requireBot(parts, bot_id);
        const outcome = await replay(deliveries, `${BOT_PUSH_PREFIX}${bot_id}`, request.body, nowMs());
        webhookService.wake();
        await audit.record({
          ...causedBy(request, 'crm.replay_push'),
          target: `bot:${bot_id}`,
          after: { ...request.body, ...outcome },
        });
        return { status: 200, json: outcome };
      },
    }),
    route({
      method: 'POST',
      path: `${CRM}/push/rotate-secret`,
      operationId: 'rotatePushSecret',
      summary: 'Begin to sign the push with a new secret',
      description: 'The first rotation is how an admin comes to know a secret at all.',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      body: { schema: RotateBody, optional: true, example: { overlap_hours: 24 } },
      responses: { 200: { description: 'The new secret', schema: RotateView } },
      async handler(request) {
        const { bot_id } = request.params;
        await requireBot(parts, bot_id);
        const { id } = await pushEndpoint(webhookService, bot_id, nowMs());
        const secret = newWebhookSecret();
        const overlapMs = (request.body?.overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS;
        const after = await editEndpoint(endpoints, id, (standing) =>
          withNewSecret(standing, box.seal(secret), nowMs(), overlapMs),
        );
        await audit.record({
          ...causedBy(request, 'crm.rotate_push_secret'),
          target: `bot:${bot_id}`,
        });
        return { status: 200, json: { secret, secrets: after?.secrets.map(secretView) ?? [] } };
      },
    }),
    route({
      method: 'POST',
      path: `${CRM}/push/enable`,
      operationId: 'enablePush',
      summary: 'Take back a disabling by 410',
      description: 'A changed `push_url` does the same by itself.',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      responses: {
        200: {
          description: 'The push is on, as far as the bot has one',
          schema: Type.Object({ enabled: Type.Literal(true) }),
        },
      },
      async handler(request) {
        const { bot_id } = request.params;
        await requireBot(parts, bot_id);
        const before = await pushEndpoint(webhookService, bot_id, nowMs());
        if (!before.enabled) {
          const updated_at = new Date(nowMs()).toISOString();
          await editEndpoint(endpoints, before.id, (standing) => ({
            ...standing,
            enabled: true,
            disabled: null,
            updated_at,
          }));
          await audit.record({ ...causedBy(request, 'crm.enable_push'), target: `bot:${bot_id}` });
        }
        return { status: 200, json: { enabled: true } };
      },
    }),
  ];
}
