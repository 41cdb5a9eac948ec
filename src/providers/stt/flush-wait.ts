import type { ProviderClock } from '../contract/provider-clock.ts';

/**
 * Waits for the vendor's answer to "finish this turn": until it comes, until the vendor had its time, until the caller
 * of `flush` gives up, or until the session breaks. One wait at a time; a second one ends the first as expired.
 */
export class FlushWait {
  private readonly clock: ProviderClock;
  private end: ((how: 'answered' | 'expired') => void) | undefined;
  private failWait: ((reason: unknown) => void) | undefined;

  constructor(clock: ProviderClock) {
    this.clock = clock;
  }

  get isPending(): boolean {
    return this.end !== undefined;
  }

  /** Rejects with the signal's reason, or with the error of `fail`. */
  async wait(limitMs: number, signal: AbortSignal): Promise<'answered' | 'expired'> {
    signal.throwIfAborted();
    this.end?.('expired');
    const waiting = Promise.withResolvers<'answered' | 'expired'>();
    const onAbort = () => waiting.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = this.clock.after(limitMs, () => waiting.resolve('expired'));
    this.end = waiting.resolve;
    this.failWait = waiting.reject;
    try {
      return await waiting.promise;
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
      if (this.end === waiting.resolve) this.forget();
    }
  }

  /** The next message of the vendor is no answer any more, even before the waiting code has gone on. */
  answer(): void {
    this.end?.('answered');
    this.forget();
  }

  fail(error: Error): void {
    this.failWait?.(error);
    this.forget();
  }

  private forget(): void {
    this.end = undefined;
    this.failWait = undefined;
  }
}
