import type { SecretBox } from '../settings/secret-box.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Endpoint, SigningSecret } from './endpoint-store.ts';
import { maskedUrl } from './send-delivery.ts';
import { openHeaders } from './targets.ts';

const SHOWN_DELIVERIES = 50;

/** A webhook without anything secret. */
export function webhookView(endpoint: Endpoint, box: SecretBox) {
  const { id, description, types, bot_ids, enabled, disabled, version, created_at, updated_at } = endpoint;
  return {
    id,
    url: maskedUrl(endpoint.url ?? ''),
    description,
    types,
    bot_ids,
    header_names: Object.keys(openHeaders(endpoint, box)),
    secrets: endpoint.secrets.map(secretView),
    enabled,
    disabled: disabled && { at: disabled.at, reason: disabled.reason },
    version,
    created_at,
    updated_at,
  };
}

export function secretView({ created_at, retires_at }: SigningSecret) {
  return { created_at, retires_at };
}

/** The newest messages of a receiver and its last attempts. */
export async function deliveriesView(
  deliveries: DeliveryStore,
  endpointId: string,
  state: Delivery['state'] | undefined,
) {
  const newest = await deliveries.list(endpointId, {
    limit: SHOWN_DELIVERIES,
    ...(state === undefined ? {} : { state }),
  });
  return { deliveries: newest.map(deliveryView), attempts: await deliveries.attempts(endpointId) };
}

function deliveryView(delivery: Delivery) {
  const { id, type, session_id, state, created_at, finished_at, last_status, last_error } = delivery;
  return {
    id,
    type,
    session_id,
    state,
    attempts: delivery.attempts_total,
    created_at,
    next_attempt_at: state === 'pending' ? new Date(delivery.next_attempt_ms).toISOString() : null,
    finished_at,
    last_status,
    last_error,
  };
}
