import type { TimerName, TurnState } from './turn-types.ts';

/** The timers of a turn machine are data: a name and the sample at which it is due. One per name. */
export function arm(state: TurnState, name: TimerName, dueSample: number): void {
  state.timers.set(name, dueSample);
}

export function disarm(state: TurnState, ...names: TimerName[]): void {
  for (const name of names) state.timers.delete(name);
}

export function disarmAllBut(state: TurnState, ...kept: TimerName[]): void {
  for (const name of [...state.timers.keys()]) if (!kept.includes(name)) state.timers.delete(name);
}

/** The timer that is due first, if it is due by `nowSample`; the caller feeds it back as an event. */
export function dueTimer(state: TurnState, nowSample: number): { name: TimerName; dueSample: number } | null {
  let first: { name: TimerName; dueSample: number } | null = null;
  for (const [name, dueSample] of state.timers) {
    if (dueSample <= nowSample && (!first || dueSample < first.dueSample)) first = { name, dueSample };
  }
  return first;
}
