import type { IntegrationLogEntry, PostCallPush } from '../../contracts/crm.ts';
import { describeError } from '../../platform/app-error.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { Logger } from '../../platform/logger.ts';
import { hostOf } from '../../platform/origins.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { BOT_PUSH_PREFIX, editEndpoint } from './endpoint-store.ts';
import { waitAfterAttempt } from './retry-plan.ts';
import { type AttemptOutcome, sendDelivery, type Target } from './send-delivery.ts';
import { type TargetParts, targetOf } from './targets.ts';

/** Time as the worker sees it; tests bring their own. */
export interface DeliveryClock {
  nowMs(): number;
  random(): number;
  /** Calls `action` after `ms`; returns what cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const SYSTEM_CLOCK: DeliveryClock = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};

export interface DeliveryWorkerParts extends TargetParts {
  http: GuardedHttp;
  deliveries: DeliveryStore;
  /** Adds a line to the `integration_log` of a call. */
  noteIntegration: (sessionId: string, entry: IntegrationLogEntry) => Promise<void>;
  logger: Logger;
  clock: DeliveryClock;
  timeoutMs?: number;
}

/** Attempts under way at once, and to one receiver: a slow one holds two places for its time-out, and no more. */
const MAX_IN_FLIGHT = 32;
const MAX_PER_ENDPOINT = 2;
/** Messages of one receiver that are looked at for one that may go: those under way stand in front, a few may wait. */
const LOOK_AHEAD = 8;
/** A message that waits for its predecessor is looked at again this long after it. */
const BEHIND_PREDECESSOR_MS = 50;
/** After a failed write, and at the longest between two looks at the queue. */
const STORE_RETRY_MS = 5_000;
const LONGEST_NAP_MS = 60_000;
const PRUNE_EVERY_MS = 3_600_000;

/**
 * Sends what lies in the queue, at least once each (D-51). Its only state is what is under way: the
 * queue says everything else, so a process that dies here goes on at its next start. A crash between a 2xx and the note
 * of it repeats the message under the same `webhook-id`.
 */
export class DeliveryWorker {
  private readonly parts: DeliveryWorkerParts;
  private readonly inFlight = new Map<string, { endpoint: string; done: Promise<void> }>();
  private readonly stopping = new AbortController();
  private cancelNap: (() => void) | null = null;
  private pumping: Promise<void> | null = null;
  private pumpAgain = false;
  private nextPruneMs = 0;
  /** The receiver that was served last: the next look begins behind it, so that slow ones cannot starve the rest. */
  private lastServed = '';

  constructor(parts: DeliveryWorkerParts) {
    this.parts = parts;
  }

  /** Looks at the queue now. */
  wake(): void {
    if (this.stopping.signal.aborted) return;
    this.pumpAgain = true;
    this.pumping ??= this.pump().finally(() => {
      this.pumping = null;
    });
  }

  /** Stops; what is under way is broken off and stays in the queue. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.cancelNap?.();
    this.cancelNap = null;
    await this.pumping;
    await Promise.all([...this.inFlight.values()].map((work) => work.done));
  }

  private async pump(): Promise<void> {
    while (this.pumpAgain && !this.stopping.signal.aborted) {
      this.pumpAgain = false;
      let napMs = LONGEST_NAP_MS;
      try {
        await this.prune();
        napMs = await this.startWhatIsDue();
      } catch (error) {
        this.parts.logger.error({ err: describeError(error) }, 'the queue of messages cannot be read');
        napMs = STORE_RETRY_MS;
      }
      this.cancelNap?.();
      this.cancelNap = this.stopping.signal.aborted
        ? null
        : this.parts.clock.after(Math.max(1, napMs), () => this.wake());
    }
  }

  /** Returns how long nothing will be due. */
  private async startWhatIsDue(): Promise<number> {
    const { deliveries, clock } = this.parts;
    let napMs = LONGEST_NAP_MS;
    for (const endpoint of rotated(await deliveries.busyEndpoints(), this.lastServed)) {
      // The end of an attempt looks again, so a full house needs no nap.
      if (this.inFlight.size >= MAX_IN_FLIGHT) return napMs;
      if (this.atWorkFor(endpoint) >= MAX_PER_ENDPOINT) continue;
      const nowMs = clock.nowMs();
      for (const delivery of await deliveries.due(endpoint, nowMs, LOOK_AHEAD)) {
        if (this.stopping.signal.aborted) return LONGEST_NAP_MS;
        if (this.inFlight.has(delivery.id)) continue;
        if (this.inFlight.size >= MAX_IN_FLIGHT || this.atWorkFor(endpoint) >= MAX_PER_ENDPOINT) break;
        if (await this.waitsForAnother(delivery, nowMs)) continue;
        this.start(delivery);
        this.lastServed = endpoint;
      }
      const nextMs = await deliveries.nextDueMs(endpoint, nowMs);
      if (nextMs !== null) napMs = Math.min(napMs, nextMs - nowMs);
    }
    return napMs;
  }

  /** What happened later to a call is told later (D-51). */
  private async waitsForAnother(delivery: Delivery, nowMs: number): Promise<boolean> {
    const before = delivery.after === null ? null : await this.parts.deliveries.get(delivery.after);
    if (before?.state !== 'pending') return false;
    const next = Math.max(before.next_attempt_ms, nowMs) + BEHIND_PREDECESSOR_MS;
    await this.parts.deliveries.settle({ ...delivery, next_attempt_ms: next }, null);
    // It stood in front of others, which are looked at next.
    this.pumpAgain = true;
    return true;
  }

  private atWorkFor(endpoint: string): number {
    let count = 0;
    for (const work of this.inFlight.values()) if (work.endpoint === endpoint) count++;
    return count;
  }

  private start(delivery: Delivery): void {
    const done = this.attempt(delivery)
      .catch(async (error) => {
        this.parts.logger.error(
          { delivery_id: delivery.id, err: describeError(error) },
          'an attempt cannot be noted; the message is sent again',
        );
        // Its place stays taken for a while, or a full disk would make this a busy loop.
        await new Promise<void>((resolve) => {
          const cancel = this.parts.clock.after(STORE_RETRY_MS, resolve);
          this.stopping.signal.addEventListener('abort', () => {
            cancel();
            resolve();
          });
        });
      })
      .finally(() => {
        this.inFlight.delete(delivery.id);
        this.wake();
      });
    this.inFlight.set(delivery.id, { endpoint: delivery.endpoint_id, done });
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const { parts } = this;
    const nowMs = parts.clock.nowMs();
    const target = await this.target(delivery, nowMs);
    if (target === null) {
      await parts.deliveries.settle(this.failed(delivery, null, UNUSABLE, null), null);
      return;
    }
    if (typeof target === 'string') {
      await parts.deliveries.settle(this.dead(delivery, target), null);
      await this.noteOnCall(delivery, { url: '', status: null, ms: 0, attempt: 0, error: target });
      return;
    }
    const outcome = await sendDelivery(
      parts.http,
      delivery,
      target,
      nowMs,
      this.stopping.signal,
      parts.timeoutMs,
    );
    // Broken off by our own end, which is not the receiver's failure.
    if (this.stopping.signal.aborted && outcome.log.response === null) return;
    await parts.deliveries.settle(this.after(delivery, outcome), outcome.log);
    if (outcome.gone) await this.disable(delivery);
    const { log } = outcome;
    await this.noteOnCall(delivery, {
      url: target.url,
      status: log.response?.status ?? null,
      ms: log.ms,
      attempt: log.attempt,
      error: log.error,
    });
  }

  /** Null where the target cannot be put together, which may be mended before the next attempt. */
  private async target(delivery: Delivery, nowMs: number): Promise<Target | string | null> {
    try {
      return await targetOf(this.parts, delivery, nowMs);
    } catch (error) {
      this.parts.logger.error({ delivery_id: delivery.id, err: describeError(error) }, UNUSABLE);
      return null;
    }
  }

  private after(delivery: Delivery, outcome: AttemptOutcome): Delivery {
    const { log } = outcome;
    const status = log.response?.status ?? null;
    if (outcome.delivered) {
      this.parts.logger.info({ ...factsOf(delivery), attempt: log.attempt }, 'message delivered');
      return { ...tried(delivery, status, null), state: 'delivered', finished_at: this.nowIso() };
    }
    const error = log.error ?? 'the attempt failed';
    return outcome.gone
      ? this.dead(tried(delivery, status, error), 'the receiver answered 410 and wants nothing more')
      : this.failed(delivery, status, error, outcome.retryAfterMs);
  }

  private failed(
    delivery: Delivery,
    status: number | null,
    error: string,
    retryAfterMs: number | null,
  ): Delivery {
    const { clock, logger } = this.parts;
    const row = tried(delivery, status, error);
    const waitMs = waitAfterAttempt(row.attempts, clock.random(), retryAfterMs);
    if (waitMs === null) return this.dead(row, error);
    logger.warn({ ...factsOf(row), reason: error, retry_in_ms: waitMs }, 'a message was not delivered');
    return { ...row, next_attempt_ms: clock.nowMs() + waitMs };
  }

  private dead(delivery: Delivery, error: string): Delivery {
    this.parts.logger.error(
      { ...factsOf(delivery), reason: error },
      'a message is given up; it can be replayed by hand',
    );
    return { ...delivery, state: 'dead', last_error: error, finished_at: this.nowIso() };
  }

  private async disable(delivery: Delivery): Promise<void> {
    const { endpoints, logger } = this.parts;
    const push = await this.pushOf(delivery.endpoint_id);
    const now = this.nowIso();
    const reason = 'the receiver answered 410 Gone; it was disabled';
    await editEndpoint(endpoints, delivery.endpoint_id, (standing) => ({
      ...standing,
      enabled: false,
      disabled: { at: now, reason, url: push?.push_url ?? standing.url ?? '' },
      updated_at: now,
    }));
    logger.error({ endpoint_id: delivery.endpoint_id }, 'a receiver answered 410 and was disabled');
  }

  private async pushOf(endpointId: string): Promise<PostCallPush | null> {
    return endpointId.startsWith(BOT_PUSH_PREFIX)
      ? await this.parts.pushOf(endpointId.slice(BOT_PUSH_PREFIX.length))
      : null;
  }

  /** The call record shows its push; webhooks have their own log (R154). */
  private async noteOnCall(
    delivery: Delivery,
    facts: Pick<IntegrationLogEntry, 'status' | 'ms' | 'attempt' | 'error'> & { url: string },
  ): Promise<void> {
    if (delivery.type !== 'crm.push' || delivery.session_id === null) return;
    const { url, ...entry } = facts;
    const line: IntegrationLogEntry = { kind: 'push', at: this.nowIso(), url_host: hostOf(url), ...entry };
    try {
      await this.parts.noteIntegration(delivery.session_id, line);
    } catch (error) {
      // The delivery log has the attempt; the message itself is settled and must not be sent again.
      this.parts.logger.warn(
        { session_id: delivery.session_id, err: describeError(error) },
        'a push cannot be noted on its call record',
      );
    }
  }

  private async prune(): Promise<void> {
    const nowMs = this.parts.clock.nowMs();
    if (nowMs < this.nextPruneMs) return;
    this.nextPruneMs = nowMs + PRUNE_EVERY_MS;
    while ((await this.parts.deliveries.prune(nowMs)) > 0 && !this.stopping.signal.aborted);
  }

  private nowIso(): string {
    return new Date(this.parts.clock.nowMs()).toISOString();
  }
}

function rotated(endpoints: readonly string[], behind: string): readonly string[] {
  const at = endpoints.findIndex((endpoint) => endpoint > behind);
  return at <= 0 ? endpoints : [...endpoints.slice(at), ...endpoints.slice(0, at)];
}

const UNUSABLE = 'the receiver cannot be put together; look at its secrets and at the key file';

function tried(delivery: Delivery, status: number | null, error: string | null): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts + 1,
    attempts_total: delivery.attempts_total + 1,
    last_status: status,
    last_error: error,
  };
}

function factsOf({ id, endpoint_id, type, session_id, attempts_total }: Delivery) {
  return { delivery_id: id, endpoint_id, type, session_id, attempts: attempts_total };
}
