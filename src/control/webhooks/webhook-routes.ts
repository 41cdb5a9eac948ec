import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import { isOwnHeader } from '../../platform/render-values.ts';
import { type AuditedRequest, causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { invalidBody } from '../http/validation-issues.ts';
import { type Endpoint, editEndpoint, newEndpoint, withNewSecret } from './endpoint-store.ts';
import { newWebhookSecret } from './sign-webhook.ts';
import {
  changedMeanwhile,
  DEFAULT_OVERLAP_HOURS,
  HOUR_MS,
  WEBHOOKS,
  WebhookId,
  type WebhookRouteParts,
  webhook,
} from './webhook-route-parts.ts';
import {
  BotIds,
  EventTypes,
  RotateBody,
  RotateView,
  SecretShown,
  WebhookHeaders,
  WebhookUrl,
  WebhookView,
} from './webhook-schemas.ts';
import type { WebhookService } from './webhook-service.ts';
import { webhookUseRoutes } from './webhook-use-routes.ts';
import { secretView, webhookView } from './webhook-views.ts';

/** More receivers than this would make every call a mass mailing. */
const MAX_WEBHOOKS = 50;

/** `/api/v1/webhooks` (docs/crm-and-webhooks.md, "Webhooks"): receivers of events about calls. */
export function webhookRoutes(parts: WebhookRouteParts): AnyRoute[] {
  return [...editRoutes(parts), ...webhookUseRoutes(parts)];
}

function editRoutes({ webhookService, audit }: WebhookRouteParts): AnyRoute[] {
  const { endpoints, box, nowMs } = webhookService;
  const view = (endpoint: Endpoint) => webhookView(endpoint, box);
  const note = (request: AuditedRequest, action: string, before: Endpoint | null, after: Endpoint | null) =>
    audit.record({
      ...causedBy(request, action),
      target: `webhook:${(after ?? before)?.id ?? ''}`,
      before: before && view(before),
      after: after && view(after),
    });
  return [
    route({
      method: 'GET',
      path: WEBHOOKS,
      operationId: 'listWebhooks',
      summary: 'All webhooks',
      tag: 'Webhooks',
      auth: ADMIN,
      responses: {
        200: {
          description: `At most ${MAX_WEBHOOKS}`,
          schema: Type.Object({ items: Type.Array(WebhookView) }),
        },
      },
      handler: async () => ({ status: 200, json: { items: webhooksOf(webhookService).map(view) } }),
    }),
    route({
      method: 'POST',
      path: WEBHOOKS,
      operationId: 'createWebhook',
      summary: 'Add a webhook',
      description:
        'Events are signed as Standard Webhooks 1.0.0 says. The secret is in this answer and in no other.',
      tag: 'Webhooks',
      auth: ADMIN,
      idempotent: true,
      body: {
        schema: Type.Object(
          {
            url: WebhookUrl,
            types: EventTypes,
            description: Type.Optional(Type.String({ maxLength: 200 })),
            bot_ids: Type.Optional(BotIds),
            headers: Type.Optional(WebhookHeaders),
          },
          { additionalProperties: false },
        ),
        example: { url: 'https://hooks.example.com/trunkline', types: ['call.ended'] },
      },
      responses: {
        201: {
          description: 'The webhook with its secret',
          schema: Type.Object({ webhook: WebhookView, secret: SecretShown }),
        },
        409: { description: `There are ${MAX_WEBHOOKS} webhooks already` },
      },
      async handler(request) {
        if (webhooksOf(webhookService).length >= MAX_WEBHOOKS) {
          throw new AppError('conflict', `there are ${MAX_WEBHOOKS} webhooks already; remove one first`);
        }
        const { body } = request;
        checkUrl(body.url);
        const secret = newWebhookSecret();
        const endpoint = newEndpoint(
          {
            id: `whk_${randomBytes(12).toString('hex')}`,
            url: body.url,
            description: body.description ?? '',
            types: body.types,
            bot_ids: body.bot_ids ?? null,
            headers_sealed: sealHeaders(body.headers, webhookService),
          },
          box.seal(secret),
          nowMs(),
        );
        await endpoints.put(endpoint, 0);
        await note(request, 'webhook.create', null, endpoint);
        return {
          status: 201,
          headers: { etag: etagOf(endpoint.version), location: `${WEBHOOKS}/${endpoint.id}` },
          json: { webhook: view(endpoint), secret },
        };
      },
    }),
    route({
      method: 'GET',
      path: `${WEBHOOKS}/{webhook_id}`,
      operationId: 'getWebhook',
      summary: 'One webhook',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      responses: { 200: { description: 'The webhook without its secrets', schema: WebhookView } },
      async handler({ params }) {
        const endpoint = webhook(webhookService, params.webhook_id);
        return { status: 200, headers: { etag: etagOf(endpoint.version) }, json: view(endpoint) };
      },
    }),
    route({
      method: 'PATCH',
      path: `${WEBHOOKS}/{webhook_id}`,
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description: 'Fields that are absent stay. `enabled: true` also takes back a disabling by 410.',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      body: {
        schema: Type.Object(
          {
            url: Type.Optional(WebhookUrl),
            types: Type.Optional(EventTypes),
            description: Type.Optional(Type.String({ maxLength: 200 })),
            bot_ids: Type.Optional(BotIds),
            headers: Type.Optional(WebhookHeaders),
            enabled: Type.Optional(Type.Boolean()),
          },
          { additionalProperties: false },
        ),
        example: { enabled: true },
      },
      responses: {
        200: { description: 'The webhook as it stands now', schema: WebhookView },
        412: { description: 'It has changed meanwhile' },
      },
      async handler(request) {
        const before = webhook(webhookService, request.params.webhook_id);
        requireMatch(request.headers, before.version);
        const { headers, enabled, ...fields } = request.body;
        if (fields.url !== undefined) checkUrl(fields.url);
        const now = new Date(nowMs()).toISOString();
        const after: Endpoint = {
          ...before,
          ...fields,
          ...(headers === undefined ? {} : { headers_sealed: sealHeaders(headers, webhookService) }),
          ...(enabled === undefined ? {} : switched(before, enabled, now)),
          version: before.version + 1,
          updated_at: now,
        };
        if (!(await endpoints.put(after, before.version))) throw changedMeanwhile();
        await note(request, 'webhook.update', before, after);
        return { status: 200, headers: { etag: etagOf(after.version) }, json: view(after) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${WEBHOOKS}/{webhook_id}`,
      operationId: 'deleteWebhook',
      summary: 'Remove a webhook with its messages and its log',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      responses: { 204: { description: 'It is gone' }, 412: { description: 'It has changed meanwhile' } },
      async handler(request) {
        const before = webhook(webhookService, request.params.webhook_id);
        requireMatch(request.headers, before.version);
        await endpoints.remove(before.id);
        await webhookService.deliveries.removeEndpoint(before.id);
        await note(request, 'webhook.delete', before, null);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${WEBHOOKS}/{webhook_id}/rotate-secret`,
      operationId: 'rotateWebhookSecret',
      summary: 'Begin to sign with a new secret',
      description:
        'During the overlap each message carries two signatures, one of each secret; a secret that was retiring already ends now.',
      tag: 'Webhooks',
      auth: ADMIN,
      params: WebhookId,
      body: { schema: RotateBody, optional: true, example: { overlap_hours: 24 } },
      responses: { 200: { description: 'The new secret', schema: RotateView } },
      async handler(request) {
        const before = webhook(webhookService, request.params.webhook_id);
        const secret = newWebhookSecret();
        const overlapMs = (request.body?.overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS;
        const after = await editEndpoint(endpoints, before.id, (standing) =>
          withNewSecret(standing, box.seal(secret), nowMs(), overlapMs),
        );
        if (!after) throw new AppError('not_found', 'the webhook has been removed meanwhile');
        await note(request, 'webhook.rotate_secret', before, after);
        return { status: 200, json: { secret, secrets: after.secrets.map(secretView) } };
      },
    }),
  ];
}

function webhooksOf(webhookService: WebhookService): Endpoint[] {
  return webhookService.endpoints
    .all()
    .filter((endpoint) => endpoint.url !== null)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

function switched(before: Endpoint, enabled: boolean, now: string): Pick<Endpoint, 'enabled' | 'disabled'> {
  if (enabled) return { enabled, disabled: null };
  const standing = before.disabled;
  return {
    enabled,
    disabled: standing ?? { at: now, reason: 'disabled by an admin', url: before.url ?? '' },
  };
}

function sealHeaders(
  headers: Record<string, string> | undefined,
  webhookService: WebhookService,
): string | null {
  if (headers === undefined || Object.keys(headers).length === 0) return null;
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const own = Object.keys(lower).find((name) => isOwnHeader(name));
  if (own !== undefined) throw invalidBody(`/headers/${own}`, `the header ${own} is set by the platform`);
  return webhookService.box.seal(JSON.stringify(lower));
}

function checkUrl(text: string): void {
  if (!URL.canParse(text)) throw invalidBody('/url', 'the URL cannot be read');
  const url = new URL(text);
  if (url.username || url.password) {
    throw invalidBody('/url', 'credentials belong into `headers`, not into the URL');
  }
}
