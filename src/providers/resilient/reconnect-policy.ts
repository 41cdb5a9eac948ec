import type { FailureClass } from '../contract/provider-error.ts';

/** Before the first, second and third attempt at one provider (docs/providers.md, "When a provider fails"). */
export const RECONNECT_DELAYS_MS = [0, 250, 1_000] as const;
export const RECONNECT_BUDGET_MS = 5_000;
const JITTER = 0.2;

export interface ReconnectStep {
  index: number;
  delayMs: number;
  /** Counted from 1 within one outage of one provider. */
  attempt: number;
}

/**
 * Which provider to dial next while nobody listens: the present one, up to three times and for up to 5 s, then the
 * others by the same rule. One that the host leaves alone waits until the others have had their turn. Plain
 * bookkeeping; it knows neither sockets nor timers.
 */
export class ReconnectPolicy {
  private readonly random: () => number;
  private current: number | null = null;
  /** Attempts of this outage, by provider. */
  private readonly tries = new Map<number, { attempts: number; sinceMs: number }>();
  private readonly spent = new Set<number>();

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
    const tries = this.tries.get(index) ?? { attempts: 0, sinceMs: nowMs };
    this.tries.set(index, tries);
    const spread = 1 + (this.random() * 2 - 1) * JITTER;
    const delayMs = Math.round((RECONNECT_DELAYS_MS[tries.attempts] ?? 0) * spread);
    tries.attempts += 1;
    return { index, delayMs, attempt: tries.attempts };
  }

  /** The present provider failed so that dialling it again is no use while there are others. */
  failed(kind: FailureClass, hasOthers: boolean): void {
    if (this.current === null) return;
    const isFinal = kind === 'config' || kind === 'auth' || kind === 'quota' || kind === 'content';
    if (isFinal || (hasOthers && kind === 'rate_limit')) this.spent.add(this.current);
  }

  /** Somebody else is to be asked, where there is anybody. */
  leave(hasOthers: boolean): void {
    if (this.current !== null && hasOthers) this.spent.add(this.current);
  }

  /** The present provider has shown that it works: the next outage begins anew. */
  works(): void {
    if (this.tries.size > 0) this.tries.clear();
    if (this.spent.size > 0) this.spent.clear();
  }

  private isOpen(index: number, nowMs: number): boolean {
    if (this.spent.has(index)) return false;
    const tries = this.tries.get(index);
    if (!tries) return true;
    return tries.attempts < RECONNECT_DELAYS_MS.length && nowMs - tries.sinceMs < RECONNECT_BUDGET_MS;
  }
}
