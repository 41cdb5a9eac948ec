import { AppError } from '../../platform/app-error.ts';
import { invalidBody } from '../http/validation-issues.ts';
import type { DeliveryStore } from './delivery-store.ts';

/** Messages that one replay sends again; more need another one. */
export const MAX_REPLAYED = 1_000;

export interface ReplayRequest {
  delivery_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  state?: 'dead' | 'delivered' | undefined;
}

/**
 * Sends finished messages of one receiver again: one by its id, or those of a time range (dead letters unless another
 * state is asked for). Returns how many wait now, and whether the range held more than {@link MAX_REPLAYED}.
 */
export async function replay(
  deliveries: DeliveryStore,
  endpointId: string,
  request: ReplayRequest,
  nowMs: number,
): Promise<{ replayed: number; more: boolean }> {
  if (request.delivery_id !== undefined) {
    const delivery = await deliveries.get(request.delivery_id);
    if (delivery?.endpoint_id !== endpointId) throw new AppError('not_found', 'there is no such delivery');
    return { replayed: await deliveries.replay([delivery.id], nowMs), more: false };
  }
  const found = await deliveries.list(endpointId, {
    limit: MAX_REPLAYED + 1,
    state: request.state ?? 'dead',
    ...(request.from === undefined ? {} : { from: isoTime('from', request.from) }),
    ...(request.to === undefined ? {} : { to: isoTime('to', request.to) }),
  });
  const ids = found.slice(0, MAX_REPLAYED).map((delivery) => delivery.id);
  return { replayed: await deliveries.replay(ids, nowMs), more: found.length > MAX_REPLAYED };
}

function isoTime(name: string, text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalidBody(`/${name}`, `${name} is not a time like 2026-01-31T08:00:00Z`);
  return new Date(ms).toISOString();
}
