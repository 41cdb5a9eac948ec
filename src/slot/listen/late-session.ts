import type { SttSession } from '../../providers/speech-to-text.ts';

/** Audio kept for an engine that is still connecting; beyond it the oldest is dropped, as in the replay ring (RT-57). */
const MAX_WAITING_SECONDS = 10;

/**
 * A session that is still being opened. The call need not wait for it with its first words: what the caller says
 * meanwhile is kept and fed once the engine is there.
 */
export class LateSession implements SttSession {
  private readonly opening: Promise<SttSession>;
  private readonly maxWaitingSamples: number;
  private session: SttSession | undefined;
  private waiting: Int16Array[] = [];
  private waitingSamples = 0;
  private closed = false;

  /** `rateHz` is the rate of the audio that will be fed. */
  constructor(opening: Promise<SttSession>, rateHz: number) {
    this.opening = opening;
    this.maxWaitingSamples = MAX_WAITING_SECONDS * rateHz;
    opening.then(
      (session) => this.opened(session),
      () => undefined,
    );
  }

  feed(samples: Int16Array): void {
    if (this.session) {
      this.session.feed(samples);
      return;
    }
    this.waiting.push(samples.slice());
    this.waitingSamples += samples.length;
    while (this.waitingSamples > this.maxWaitingSamples) {
      this.waitingSamples -= this.waiting.shift()?.length ?? 0;
    }
  }

  speechHeard(ms: number): void {
    this.session?.speechHeard?.(ms);
  }

  /** Rejects with what opening failed with, or with the signal's reason. */
  async flush(signal: AbortSignal) {
    const session = this.session ?? (await untilOpen(this.opening, signal));
    return session.flush(signal);
  }

  discard(): void {
    this.waiting = [];
    this.waitingSamples = 0;
    this.session?.discard();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.session?.close();
  }

  private opened(session: SttSession): void {
    if (this.closed) {
      void session.close();
      return;
    }
    this.session = session;
    for (const samples of this.waiting) session.feed(samples);
    this.waiting = [];
  }
}

function untilOpen(opening: Promise<SttSession>, signal: AbortSignal): Promise<SttSession> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
