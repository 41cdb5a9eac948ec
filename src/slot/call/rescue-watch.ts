/**
 * Silence that the bot owes to a provider: after this much of it the caller is told that it is being worked on. With
 * the pauses of a telephone line it keeps every silence below 4 s.
 */
export const RESCUE_AFTER_MS = 3_000;
/** So often the caller is asked to wait for one answer; then the call ends politely. */
const MAX_LINES = 2;

export type RescueStep = 'rescue' | 'give_up' | null;

/** Counts how long the bot has owed the caller something to hear. */
export class RescueWatch {
  private lines = 0;
  private lastStepMs = Number.NEGATIVE_INFINITY;

  /**
   * Several times a second. `owes`: somebody works on what the caller waits for. `quietSinceMs`: when either side was
   * heard last, a moment in the future while audio is being played out.
   */
  tick(owes: boolean, quietSinceMs: number, nowMs: number): RescueStep {
    if (!owes || nowMs - Math.max(quietSinceMs, this.lastStepMs) < RESCUE_AFTER_MS) return null;
    this.lastStepMs = nowMs;
    this.lines++;
    return this.lines > MAX_LINES ? 'give_up' : 'rescue';
  }

  /** The caller got what was owed. */
  settled(): void {
    this.lines = 0;
  }
}
