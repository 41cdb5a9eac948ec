import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Endpoint } from './endpoint-store.ts';
import type { WebhookService } from './webhook-service.ts';

export interface WebhookRouteParts {
  webhookService: WebhookService;
  audit: Pick<AuditLog, 'record'>;
}

export const WEBHOOKS = `${API_PREFIX}/webhooks`;
export const WebhookId = Type.Object({ webhook_id: Type.String({ pattern: '^whk_[0-9a-f]{24}$' }) });

export const DeliveriesQuery = Type.Object({
  state: Type.Optional(
    Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('dead')]),
  ),
});

/** How long a secret signs along after it was replaced, where the request says nothing. */
export const DEFAULT_OVERLAP_HOURS = 24;
export const HOUR_MS = 3_600_000;

export function changedMeanwhile(): AppError {
  return new AppError('version_mismatch', 'it has changed meanwhile; read it again, then change it');
}

/** Throws `not_found` for an unknown id. */
export function webhook(webhookService: WebhookService, id: string): Endpoint {
  const endpoint = webhookService.endpoints.get(id);
  if (!endpoint || endpoint.url === null) throw new AppError('not_found', 'there is no such webhook');
  return endpoint;
}
