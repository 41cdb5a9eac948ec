/** A media server that is away for longer has taken the call with it. */
export const BREAK_BOUND_MS = 20_000;
/** The SDK has so long to take up a connection that broke; then we join anew ourselves. */
const SDK_TURN_MS = 6_000;

export interface BreakHooks {
  /** The SDK did not take the connection up in its time. */
  onOverdue(): void;
  onGivenUp(): void;
}

/** The clock of a break: from when the connection broke until it stands again, by whatever means. */
export class BreakWatch {
  private readonly hooks: BreakHooks;
  private bound: NodeJS.Timeout | undefined;
  private turn: NodeJS.Timeout | undefined;

  constructor(hooks: BreakHooks) {
    this.hooks = hooks;
  }

  /** The connection broke. Again within the same break: its bound goes on. */
  broke(): void {
    if (this.bound) return;
    this.bound = setTimeout(() => {
      this.stop();
      this.hooks.onGivenUp();
    }, BREAK_BOUND_MS);
    this.turn = setTimeout(() => this.hooks.onOverdue(), SDK_TURN_MS);
  }

  /** The connection stands again, or nobody waits for it any more. */
  stop(): void {
    clearTimeout(this.bound);
    clearTimeout(this.turn);
    this.bound = undefined;
  }
}
