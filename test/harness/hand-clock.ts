interface HandTimer {
  dueMs: number;
  action: () => void;
}

/** Rounds of the event loop that each step of `advance` leaves to sockets on the loopback. */
const ROUNDS_PER_STEP = 6;

/** A clock that stands still until a test moves it: waits and idle rules without any race against the machine's load. */
export class HandClock {
  private ms: number;
  private readonly chance: number;
  private readonly timers = new Set<HandTimer>();

  /** `chance` is what `random` answers: at 0.5 a jitter that spreads around its middle is none. */
  constructor(startMs = 0, chance = 0.5) {
    this.ms = startMs;
    this.chance = chance;
  }

  nowMs(): number {
    return this.ms;
  }

  random(): number {
    return this.chance;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.ms + ms, action };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = () => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  move(ms: number): void {
    this.moveTo(this.ms + ms);
  }

  /** Every due timer fires in order and at its own moment, those that another one sets on the way too. */
  moveTo(targetMs: number): void {
    for (;;) {
      const next = [...this.timers]
        .filter((timer) => timer.dueMs <= targetMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (!next) break;
      this.timers.delete(next);
      this.ms = Math.max(this.ms, next.dueMs);
      next.action();
    }
    this.ms = Math.max(this.ms, targetMs);
  }

  /** The process did not run for so long, or the clock was set: no timer fires meanwhile. */
  jump(ms: number): void {
    this.ms += ms;
  }

  /** Somebody sets the wall clock back: it shows less, and what waits still waits as long. */
  setBack(ms: number): void {
    this.ms -= ms;
    for (const timer of this.timers) timer.dueMs -= ms;
  }

  /**
   * Moves in steps. Between them the event loop turns, so that what a timer sent mostly arrives before the next one
   * fires; a test that needs it for sure waits for the frame.
   */
  async advance(ms: number, stepMs = Math.max(1, ms / 10)): Promise<void> {
    const endMs = this.ms + ms;
    await settle();
    while (this.ms < endMs) {
      this.moveTo(Math.min(endMs, this.ms + Math.min(stepMs, this.nextInMs() ?? stepMs)));
      await settle();
    }
  }

  /** How far away the next timer is; null where none waits. */
  nextInMs(): number | null {
    if (this.timers.size === 0) return null;
    return Math.max(0, Math.min(...[...this.timers].map((timer) => timer.dueMs)) - this.ms);
  }

  /** Timers that wait, so that a test can assert that a closed client left none. */
  get pendingTimers(): number {
    return this.timers.size;
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < ROUNDS_PER_STEP; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
