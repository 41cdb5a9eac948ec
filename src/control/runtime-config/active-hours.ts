import { Temporal } from 'temporal-polyfill';
import type { ActiveHours } from '../../contracts/bot/operation.ts';
import { localTime, usableTimezone } from '../../platform/local-time.ts';

/** Whether a bot takes calls now; where it does not, when it does again. */
export type GateAnswer =
  | { open: true }
  | {
      open: false;
      /** Local moment and hours in words, for the `detail` of the refusal. */
      reason: string;
      /** ISO 8601 UTC; null where the window opens on none of the next eight days. */
      opensAt: string | null;
    };

/**
 * The active-hours gate (R35 to R38). Open when the hours are not enabled, or when the local
 * weekday of this moment is among the days and the local time is in the window. `epochMs` is UTC.
 */
export function checkActiveHours(
  hours: ActiveHours | null | undefined,
  timezone: string,
  epochMs: number,
): GateAnswer {
  if (!hours?.enabled || isOpen(hours, timezone, epochMs)) return { open: true };
  const local = localTime(timezone, epochMs);
  const zone = usableTimezone(timezone).timezone;
  const opensAt = nextOpening(hours, zone, epochMs);
  return {
    open: false,
    reason: `it is ${local.weekday} ${local.time} in ${zone}, and the hours are ${hours.start_time} to ${hours.end_time} on ${describeDays(hours)}`,
    opensAt: opensAt === null ? null : new Date(opensAt).toISOString(),
  };
}

/** Seconds until a moment, for `Retry-After`: at least 1, rounded up. */
export function secondsUntil(iso: string, epochMs: number): number {
  return Math.max(1, Math.ceil((Date.parse(iso) - epochMs) / 1000));
}

function isOpen(hours: ActiveHours, timezone: string, epochMs: number): boolean {
  const { weekday, time } = localTime(timezone, epochMs);
  if (hours.days && !hours.days.includes(weekday)) return false;
  const { start_time: start, end_time: end } = hours;
  // Two-digit hours and minutes sort as text.
  if (start === end) return true;
  return start < end ? time >= start && time < end : time >= start || time < end;
}

const DAYS_AHEAD = 8;

/**
 * A window opens at its start, at midnight (the weekday changes), or where the clock is changed. Each of these moments
 * is tried; a local time that a change of the clock shows twice or never is tried on both sides of the change.
 */
function nextOpening(hours: ActiveHours, timezone: string, epochMs: number): number | null {
  const now = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timezone);
  const horizonMs = now.add({ days: DAYS_AHEAD }).epochMilliseconds;
  const moments = new Set<number>();
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    const date = now.toPlainDate().add({ days: day });
    for (const time of ['00:00', hours.start_time]) {
      const local = date.toPlainDateTime(Temporal.PlainTime.from(time));
      for (const disambiguation of ['earlier', 'later'] as const) {
        moments.add(local.toZonedDateTime(timezone, { disambiguation }).epochMilliseconds);
      }
    }
  }
  let change = now.getTimeZoneTransition('next');
  while (change && change.epochMilliseconds <= horizonMs) {
    moments.add(change.epochMilliseconds);
    change = change.getTimeZoneTransition('next');
  }
  const openings = [...moments].filter((at) => at > epochMs && isOpen(hours, timezone, at));
  return openings.length === 0 ? null : Math.min(...openings);
}

function describeDays(hours: ActiveHours): string {
  const { days } = hours;
  return !days || new Set(days).size === 7 ? 'every day' : days.join(', ');
}
