import type { DeliveryClock } from '../../src/main/outbox/delivery-loop.ts';

/** A clock that stands still until it is moved. */
export function standingClock(
  startMs = Date.now(),
): DeliveryClock & { pass(ms: number): void; nextInMs(): number | null } {
  let nowMs = startMs;
  let alarms: { atMs: number; action: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    random: () => 1,
    after(ms, action) {
      const alarm = { atMs: nowMs + ms, action };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((each) => each !== alarm);
      };
    },
    pass(ms) {
      nowMs += ms;
      const due = alarms.filter((alarm) => alarm.atMs <= nowMs);
      alarms = alarms.filter((alarm) => alarm.atMs > nowMs);
      for (const { action } of due) action();
    },
    nextInMs: () => (alarms.length === 0 ? null : Math.min(...alarms.map((alarm) => alarm.atMs)) - nowMs),
  };
}
