import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';

/** Calls `onIdle` once when nothing touched it for `idleMs` of the emulator's clock. */
export class IdleWatch {
  private readonly clock: ProviderClock;
  private readonly idleMs: number;
  private readonly onIdle: () => void;
  private cancel: () => void = () => undefined;
  private touchedMs = 0;
  private stopped = false;

  constructor(clock: ProviderClock, idleMs: number, onIdle: () => void) {
    this.clock = clock;
    this.idleMs = idleMs;
    this.onIdle = onIdle;
    this.touch();
    this.wait(idleMs);
  }

  touch(): void {
    this.touchedMs = this.clock.nowMs();
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  // One timer that looks again, rather than a new one for each of fifty frames a second.
  private wait(ms: number): void {
    this.cancel = this.clock.after(ms, () => {
      if (this.stopped) return;
      const leftMs = this.touchedMs + this.idleMs - this.clock.nowMs();
      if (leftMs > 0) this.wait(leftMs);
      else this.onIdle();
    });
  }
}
