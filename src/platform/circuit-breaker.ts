/**
 * A circuit breaker as plain data: it watches outcomes and says whether a service may be asked now. Times are
 * milliseconds of any one clock that does not go back.
 *
 * Closed, it opens when most of the latest outcomes failed. Open, it lets nobody through until its time is over. Then
 * it is half open: one trial at a time, and the trial's outcome closes it or opens it for twice as long.
 */
export interface Breaker {
  /** Latest outcomes, oldest first. */
  recent: { atMs: number; failed: boolean }[];
  /** 0 while closed. */
  openUntilMs: number;
  /** Openings since it was last closed: each one doubles the time. */
  openings: number;
  trialSinceMs: number | null;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

/** Outcomes older than this say nothing about now. */
export const BREAKER_WINDOW_MS = 30_000;
/** So many failures within the window open it, where they are also at least half of the outcomes. */
export const BREAKER_FAILURES = 3;
export const BREAKER_OPEN_MS = 10_000;
export const BREAKER_LONGEST_MS = 60_000;
/** A trial that nobody reported on is forgotten after this. */
const TRIAL_MS = 10_000;
const MAX_OUTCOMES = 32;

export function newBreaker(): Breaker {
  return { recent: [], openUntilMs: 0, openings: 0, trialSinceMs: null };
}

export function breakerState(breaker: Breaker, nowMs: number): BreakerState {
  if (breaker.openings === 0) return 'closed';
  return nowMs < breaker.openUntilMs ? 'open' : 'half_open';
}

/** Whether a request may be made now; changes nothing. */
export function admits(breaker: Breaker, nowMs: number): boolean {
  const state = breakerState(breaker, nowMs);
  if (state !== 'half_open') return state === 'closed';
  return breaker.trialSinceMs === null || nowMs - breaker.trialSinceMs >= TRIAL_MS;
}

/** A request begins: half open, it is the trial. */
export function beginRequest(breaker: Breaker, nowMs: number): void {
  if (breakerState(breaker, nowMs) === 'half_open') breaker.trialSinceMs = nowMs;
}

/** A request ended without saying anything about the service. */
export function abandonRequest(breaker: Breaker): void {
  breaker.trialSinceMs = null;
}

export function recordSuccess(breaker: Breaker, nowMs: number): void {
  const state = breakerState(breaker, nowMs);
  // While it is open, a success is one that began before; it says nothing about now.
  if (state === 'open') return;
  if (state === 'half_open') Object.assign(breaker, newBreaker());
  remember(breaker, nowMs, false);
}

export function recordFailure(breaker: Breaker, nowMs: number): void {
  const state = breakerState(breaker, nowMs);
  if (state === 'open') return;
  if (state === 'half_open') {
    openFor(breaker, nowMs, BREAKER_OPEN_MS * 2 ** breaker.openings);
    return;
  }
  remember(breaker, nowMs, true);
  const failures = breaker.recent.filter((outcome) => outcome.failed).length;
  if (failures >= BREAKER_FAILURES && failures * 2 >= breaker.recent.length) {
    openFor(breaker, nowMs, BREAKER_OPEN_MS);
  }
}

/** Opens for a time that the service itself named, or the rules above; never shorter than it is open already. */
export function openFor(breaker: Breaker, nowMs: number, ms: number): void {
  breaker.openings += 1;
  breaker.openUntilMs = Math.max(breaker.openUntilMs, nowMs + Math.min(ms, BREAKER_LONGEST_MS));
  breaker.trialSinceMs = null;
  breaker.recent = [];
}

/** Share of the outcomes within the window that failed, 0 to 1; null without any. */
export function errorRate(breaker: Breaker, nowMs: number): number | null {
  const recent = breaker.recent.filter((outcome) => nowMs - outcome.atMs <= BREAKER_WINDOW_MS);
  if (recent.length === 0) return null;
  return recent.filter((outcome) => outcome.failed).length / recent.length;
}

function remember(breaker: Breaker, atMs: number, failed: boolean): void {
  breaker.recent.push({ atMs, failed });
  breaker.recent = breaker.recent
    .filter((outcome) => atMs - outcome.atMs <= BREAKER_WINDOW_MS)
    .slice(-MAX_OUTCOMES);
}
