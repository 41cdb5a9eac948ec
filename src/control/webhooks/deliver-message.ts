import type { IntegrationLogEntry } from '../../contracts/crm.ts';
import { describeError } from '../../platform/app-error.ts';
import type { DeliveryOutcome } from '../../platform/delivery-queue.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { Logger } from '../../platform/logger.ts';
import { hostOf } from '../../platform/origins.ts';
import type { Delivery } from './delivery.ts';
import type { DeliverySending, SentDelivery } from './delivery-store.ts';
import { BOT_PUSH_PREFIX, editEndpoint } from './endpoint-store.ts';
import { sendDelivery, type Target } from './send-delivery.ts';
import { type TargetParts, targetOf } from './targets.ts';

export interface MessageParts extends TargetParts {
  http: GuardedHttp;
  /** Adds a line to the `integration_log` of a call. */
  noteIntegration: (sessionId: string, entry: IntegrationLogEntry) => Promise<void>;
  logger: Logger;
  nowMs: () => number;
  timeoutMs?: number | undefined;
}

type Outcome = DeliveryOutcome<SentDelivery>;

const GONE = 410;
const UNUSABLE = 'the receiver cannot be put together; look at its secrets and at the key file';

/**
 * What the queue of messages does with one (D-51): where it goes is found out anew at each attempt, a
 * receiver that wants nothing more is disabled, and a push is told to its call record.
 */
export function messageSending(parts: MessageParts): Pick<DeliverySending, 'attempt' | 'afterwards'> {
  return {
    attempt: (delivery, signal) => attempt(parts, delivery, signal),
    async afterwards(delivery, outcome) {
      if (outcome.detail.log?.response?.status === GONE) await disable(parts, delivery);
      await noteOnCall(parts, delivery, outcome);
    },
  };
}

async function attempt(parts: MessageParts, delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
  const nowMs = parts.nowMs();
  let target: Target | string;
  try {
    target = await targetOf(parts, delivery, nowMs);
  } catch (error) {
    // It may be mended before the next attempt.
    parts.logger.error({ delivery_id: delivery.id, err: describeError(error) }, UNUSABLE);
    const detail = { log: null, isAttempt: true, url: '' };
    return { kind: 'failed', error: UNUSABLE, isTransient: true, retryAfterMs: null, detail };
  }
  if (typeof target === 'string') {
    return { kind: 'given_up', error: target, detail: { log: null, isAttempt: false, url: '' } };
  }
  const { log, delivered, retryAfterMs } = await sendDelivery(
    parts.http,
    delivery,
    target,
    nowMs,
    signal,
    parts.timeoutMs,
  );
  const detail = { log, isAttempt: true, url: target.url };
  if (delivered) return { kind: 'delivered', detail };
  if (log.response?.status === GONE) {
    return { kind: 'given_up', error: 'the receiver answered 410 and wants nothing more', detail };
  }
  return {
    kind: 'failed',
    error: log.error ?? 'the attempt failed',
    isTransient: true,
    retryAfterMs,
    detail,
  };
}

async function disable(parts: MessageParts, { endpoint_id }: Delivery): Promise<void> {
  const push = endpoint_id.startsWith(BOT_PUSH_PREFIX)
    ? await parts.pushOf(endpoint_id.slice(BOT_PUSH_PREFIX.length))
    : null;
  const now = new Date(parts.nowMs()).toISOString();
  const reason = 'the receiver answered 410 Gone; it was disabled';
  await editEndpoint(parts.endpoints, endpoint_id, (standing) => ({
    ...standing,
    enabled: false,
    disabled: { at: now, reason, url: push?.push_url ?? standing.url ?? '' },
    updated_at: now,
  }));
  parts.logger.error({ endpoint_id }, 'a receiver answered 410 and was disabled');
}

/** The call record shows its push; webhooks have their own log, told in `integration_log`. */
async function noteOnCall(parts: MessageParts, delivery: Delivery, outcome: Outcome): Promise<void> {
  const { log, url, isAttempt } = outcome.detail;
  if (delivery.type !== 'crm.push' || delivery.session_id === null || (isAttempt && !log)) return;
  await parts.noteIntegration(delivery.session_id, {
    kind: 'push',
    at: new Date(parts.nowMs()).toISOString(),
    url_host: hostOf(url),
    status: log?.response?.status ?? null,
    ms: log?.ms ?? 0,
    attempt: log?.attempt ?? 0,
    error: log ? log.error : outcome.kind === 'given_up' ? outcome.error : null,
  });
}
