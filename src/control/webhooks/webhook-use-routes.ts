import { randomBytes } from 'node:crypto';
import { AppError } from '../../platform/app-error.ts';
import { causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { newDelivery } from './delivery.ts';
import { replay } from './resend.ts';
import { sendDelivery } from './send-delivery.ts';
import { targetOf } from './targets.ts';
import {
  DeliveriesQuery,
  WEBHOOKS,
  WebhookId,
  type WebhookRouteParts,
  webhook,
} from './webhook-route-parts.ts';
import { AttemptResult, DeliveriesView, ReplayBody, ReplayView } from './webhook-schemas.ts';
import { deliveriesView } from './webhook-views.ts';

/** Trying a webhook, looking at what it was sent, and sending that again. */
export function webhookUseRoutes({ webhookService, audit }: WebhookRouteParts): AnyRoute[] {
  const { deliveries, nowMs } = webhookService;
  return [
    route({
      method: 'POST',
      path: `${WEBHOOKS}/{webhook_id}/test`,
      operationId: 'testWebhook',
      summary: 'Send a test message now',
      description:
        'One attempt, not repeated: type `webhook.test`, signed like every message. It stands in the delivery log.',
      tag: 'Webhooks',
      auth: ADMIN,
      rateLimit: 30,
      params: WebhookId,
      responses: {
        200: { description: 'What happened, whether the receiver took it or not', schema: AttemptResult },
        409: { description: 'The webhook is disabled' },
      },
      async handler(request) {
        const endpoint = webhook(webhookService, request.params.webhook_id);
        const now = nowMs();
        const delivery = newDelivery(
          {
            id: `msg_${randomBytes(16).toString('hex')}`,
            endpoint_id: endpoint.id,
            type: 'webhook.test',
            session_id: null,
            body: JSON.stringify({
              type: 'webhook.test',
              timestamp: new Date(now).toISOString(),
              data: { webhook_id: endpoint.id },
            }),
          },
          now,
        );
        const target = await targetOf(webhookService, delivery, now);
        if (typeof target === 'string') throw new AppError('conflict', `${target}; enable it first`);
        const outcome = await sendDelivery(webhookService.http, delivery, target, now, request.signal);
        await deliveries.log(endpoint.id, outcome.log);
        return { status: 200, json: { delivered: outcome.delivered, attempt: outcome.log } };
      },
    }),
    route({
      method: 'GET',
      path: `${WEBHOOKS}/{webhook_id}/deliveries`,
      operationId: 'listWebhookDeliveries',
      summary: 'Messages and attempts of a webhook',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      query: DeliveriesQuery,
      responses: { 200: { description: 'Secrets are masked', schema: DeliveriesView } },
      async handler({ params, query }) {
        const { id } = webhook(webhookService, params.webhook_id);
        return { status: 200, json: await deliveriesView(deliveries, id, query.state) };
      },
    }),
    route({
      method: 'POST',
      path: `${WEBHOOKS}/{webhook_id}/replay`,
      operationId: 'replayWebhook',
      summary: 'Send messages again',
      description:
        'One by `delivery_id`, or those of a time range. A message keeps its `webhook-id`, so a receiver can tell a repeat.',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      body: { schema: ReplayBody, example: { from: '2026-01-31T00:00:00Z', to: '2026-01-31T12:00:00Z' } },
      responses: { 200: { description: 'How many wait to be sent now', schema: ReplayView } },
      async handler(request) {
        const { id } = webhook(webhookService, request.params.webhook_id);
        const outcome = await replay(deliveries, id, request.body, nowMs());
        webhookService.wake();
        await audit.record({
          ...causedBy(request, 'webhook.replay'),
          target: `webhook:${id}`,
          after: { ...request.body, ...outcome },
        });
        return { status: 200, json: outcome };
      },
    }),
  ];
}
