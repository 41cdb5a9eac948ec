/** A media server that is away for longer has taken the call with it. */
export const BREAK_BOUND_MS = 20_000;
/** A connection that stands again brings audio within this, or it is made anew. */
const PROOF_MS = 4_000;
const LOOK_MS = 500;

export interface BreakHooks {
  /** Frames heard of everybody who is listened to, so far. */
  framesHeard(): number;
  /** Whether anybody who is listened to is in the room. */
  isAnybodyThere(): boolean;
  /** Makes the connection anew, whatever state it says it is in. */
  makeAnew(): void;
  onGivenUp(): void;
}

/**
 * Watches over a break of the connection until audio flows again, and gives up after 20 s. That the SDK reports the
 * connection as standing is no proof: after a restart of the media server a participant may be joined and yet get no
 * messages and no media. Then the connection is made anew once.
 */
export class BreakWatch {
  private readonly hooks: BreakHooks;
  private bound: NodeJS.Timeout | undefined;
  private look: NodeJS.Timeout | undefined;
  private framesBefore = 0;
  private wasMadeAnew = false;

  constructor(hooks: BreakHooks) {
    this.hooks = hooks;
  }

  /** The connection broke. Again within the same break: its bound goes on. */
  broke(): void {
    clearTimeout(this.look);
    if (this.bound) return;
    this.framesBefore = this.hooks.framesHeard();
    this.wasMadeAnew = false;
    this.bound = setTimeout(() => {
      this.stop();
      this.hooks.onGivenUp();
    }, BREAK_BOUND_MS);
  }

  /** The SDK says that the connection stands again. */
  stands(): void {
    // Who was not heard before the break need not be heard after it.
    if (this.framesBefore === 0) this.stop();
    else this.awaitProof(this.hooks.framesHeard(), 0);
  }

  stop(): void {
    clearTimeout(this.bound);
    clearTimeout(this.look);
    this.bound = undefined;
  }

  private awaitProof(frames: number, waitedMs: number): void {
    clearTimeout(this.look);
    this.look = setTimeout(() => {
      if (this.hooks.framesHeard() > frames) {
        this.stop();
        return;
      }
      if (waitedMs >= PROOF_MS && !this.wasMadeAnew) {
        this.wasMadeAnew = true;
        this.hooks.makeAnew();
      }
      // Whoever is not in the room any more is missed by other means.
      if (waitedMs > PROOF_MS && !this.hooks.isAnybodyThere()) this.stop();
      else this.awaitProof(frames, waitedMs + LOOK_MS);
    }, LOOK_MS);
  }
}
