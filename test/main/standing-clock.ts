import type { QueueClock } from '../../src/platform/delivery-queue.ts';

/** A clock that stands still until it is moved. Alarms count what passes, whatever the wall clock is set to. */
export function standingClock(
  startMs = Date.now(),
): QueueClock & { pass(ms: number): void; setBack(ms: number): void; nextInMs(): number | null } {
  let passedMs = 0;
  let zeroMs = startMs;
  let alarms: { atMs: number; action: () => void }[] = [];
  return {
    nowMs: () => zeroMs + passedMs,
    random: () => 1,
    after(ms, action) {
      const alarm = { atMs: passedMs + ms, action };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((each) => each !== alarm);
      };
    },
    pass(ms) {
      passedMs += ms;
      const due = alarms.filter((alarm) => alarm.atMs <= passedMs);
      alarms = alarms.filter((alarm) => alarm.atMs > passedMs);
      for (const { action } of due) action();
    },
    setBack(ms) {
      zeroMs -= ms;
    },
    nextInMs: () => (alarms.length === 0 ? null : Math.min(...alarms.map((alarm) => alarm.atMs)) - passedMs),
  };
}
