import type { FailureClass } from '../contract/provider-error.ts';
import { rateLimitWaitMs } from './rate-limit-wait.ts';

/** Before the first, second and third attempt at one provider (docs/providers.md, "When a provider fails"). */
export const RECONNECT_DELAYS_MS = [0, 250, 1_000] as const;
export const RECONNECT_BUDGET_MS = 5_000;
const JITTER = 0.2;

export interface ReconnectStep {
  index: number;
  delayMs: number;
  /** Counted from 1 within one outage of one provider. */
  attempt: number;
  /** The delay is one that the vendor asked for. */
  isAskedFor: boolean;
}

/**
 * Which provider to dial next while nobody listens: the present one, up to three times and for up to 5 s, then the
 * others by the same rule. One that the host leaves alone waits until the others have had their turn; where there are
 * none, a wait that it names is waited out and counts as no attempt. Plain bookkeeping; it knows neither sockets nor
 * timers.
 */
export class ReconnectPolicy {
  private readonly random: () => number;
  private current: number | null = null;
  /** Attempts of this outage, by provider. */
  private readonly tries = new Map<number, { attempts: number; sinceMs: number }>();
  private readonly spent = new Set<number>();
  /** The only provider is asked too much: since when in this outage, how often it said so, and until when to wait. */
  private limit: { sinceMs: number; times: number; untilMs: number } | null = null;

  constructor(random: () => number) {
    this.random = random;
  }

  /** Null when everybody has had a turn. `order` is who to ask, best first; `admits` whether the host asks it at all. */
  next(nowMs: number, order: readonly number[], admits: (index: number) => boolean): ReconnectStep | null {
    const open = order.filter((index) => this.isOpen(index, nowMs));
    const stays = this.current !== null && open.includes(this.current) && admits(this.current);
    const index = stays ? this.current : (open.find(admits) ?? open[0]);
    if (index === undefined || index === null) return null;
    this.current = index;
    const waitMs = Math.max(0, (this.limit?.untilMs ?? 0) - nowMs);
    const tries = this.tries.get(index) ?? { attempts: 0, sinceMs: nowMs + waitMs };
    this.tries.set(index, tries);
    const spread = 1 + (this.random() * 2 - 1) * JITTER;
    const delayMs = Math.round((RECONNECT_DELAYS_MS[tries.attempts] ?? 0) * spread);
    tries.attempts += 1;
    return {
      index,
      delayMs: Math.max(delayMs, waitMs),
      attempt: tries.attempts,
      isAskedFor: waitMs > 0,
    };
  }

  /** The present provider failed: dialling it again may be no use while there are others, or no use yet. */
  failed(
    kind: FailureClass,
    error: unknown,
    { nowMs, hasOthers }: { nowMs: number; hasOthers: boolean },
  ): void {
    if (this.current === null) return;
    const isFinal = kind === 'config' || kind === 'auth' || kind === 'quota' || kind === 'content';
    if (isFinal || (hasOthers && kind === 'rate_limit')) this.spent.add(this.current);
    else if (kind === 'rate_limit') this.leaveAlone(this.current, error, nowMs);
  }

  /** Somebody else is to be asked, where there is anybody. */
  leave(hasOthers: boolean): void {
    if (this.current !== null && hasOthers) this.spent.add(this.current);
  }

  /** The present provider has shown that it works: the next outage begins anew. */
  works(): void {
    if (this.tries.size > 0) this.tries.clear();
    if (this.spent.size > 0) this.spent.clear();
    this.limit = null;
  }

  private leaveAlone(index: number, error: unknown, nowMs: number): void {
    const { sinceMs, times } = this.limit ?? { sinceMs: nowMs, times: 0 };
    const waitMs = rateLimitWaitMs(error, nowMs - sinceMs, times, this.random);
    if (waitMs === null) {
      this.spent.add(index);
      return;
    }
    this.limit = { sinceMs, times: times + 1, untilMs: nowMs + waitMs };
    this.tries.delete(index);
  }

  private isOpen(index: number, nowMs: number): boolean {
    if (this.spent.has(index)) return false;
    const tries = this.tries.get(index);
    if (!tries) return true;
    return tries.attempts < RECONNECT_DELAYS_MS.length && nowMs - tries.sinceMs < RECONNECT_BUDGET_MS;
  }
}
