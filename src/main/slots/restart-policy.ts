/** Wait before the second quick failure in a row is answered with a new process; it doubles from there. */
export const FIRST_DELAY_MS = 500;
/** The wait never grows beyond this, so a repaired machine is back within half a minute. */
export const MAX_DELAY_MS = 30_000;
/** A process that lived this long was healthy: the next failure counts as the first again. */
export const HEALTHY_AFTER_MS = 60_000;

/** How often in a row the process of one place failed quickly. Plain data; one per place. */
export interface RestartState {
  quickFailures: number;
}

export function freshRestartState(): RestartState {
  return { quickFailures: 0 };
}

/**
 * Notes that a process ended after `livedMs` and says how long the next one waits, in ms. The first failure after a
 * healthy minute is restarted at once: a single crash should not cost capacity.
 */
export function delayAfterFailure(state: RestartState, livedMs: number): number {
  state.quickFailures = livedMs >= HEALTHY_AFTER_MS ? 1 : state.quickFailures + 1;
  if (state.quickFailures === 1) return 0;
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(state.quickFailures - 2, 20));
}
