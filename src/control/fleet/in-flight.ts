import { within } from '../../platform/clock.ts';

/**
 * Requests that this control plane has sent to a host and that its last health answer may not show yet. A host takes a
 * slot for a call before anything that lasts, so an answer shows the call when it was asked for after the host's yes, or
 * a while after the request left.
 */
export class InFlight {
  private readonly byHost = new Map<string, Set<PreemptiveAnswer>>();
  private readonly nowMs: () => number;
  private waiters: (() => void)[] = [];

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Notes a request; `end` says whether the host has, or may have, taken the call. */
  begin(url: string): { end(taken: boolean): void } {
    const guesses = this.guesses(url);
    const guess: PreemptiveAnswer = { shownFromMs: this.nowMs() + SHOWN_AFTER_MS };
    guesses.add(guess);
    return {
      end: (taken) => {
        if (taken) guess.shownFromMs = Math.min(guess.shownFromMs, this.nowMs());
        else guesses.delete(guess);
        const waiters = this.waiters;
        this.waiters = [];
        for (const wake of waiters) wake();
      },
    };
  }

  /** Calls that an answer asked for at `askedMs` may leave out. */
  unseen(url: string, askedMs: number): number {
    const guesses = this.guesses(url);
    const forgottenMs = this.nowMs() - KEPT_MS;
    let count = 0;
    for (const guess of guesses) {
      if (guess.shownFromMs >= askedMs) count++;
      else if (guess.shownFromMs < forgottenMs) guesses.delete(guess);
    }
    return count;
  }

  /** Resolves when the next request is answered, or once every answer that is asked for now shows all of them. */
  async settled(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.waiters.push(resolve));
    await within(answered, SHOWN_AFTER_MS, undefined);
  }

  private guesses(url: string): Set<PreemptiveAnswer> {
    const known = this.byHost.get(url);
    if (known) return known;
    const made = new Set<PreemptiveAnswer>();
    this.byHost.set(url, made);
    return made;
  }
}

interface PreemptiveAnswer {
  /** Monotonic ms: health answers asked for after it show the call. */
  shownFromMs: number;
}

/** More than a request needs to reach the host and take a slot there. */
const SHOWN_AFTER_MS = 250;
/** No health answer older than this is ever looked at. */
const KEPT_MS = 10_000;
