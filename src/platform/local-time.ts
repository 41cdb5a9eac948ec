import type { Weekday } from '../contracts/bot/operation.ts';

/** A moment as the clock on the wall of some time zone shows it. */
export interface LocalTime {
  /** `2026-03-01` */
  date: string;
  /** `09:05`, 24 hours */
  time: string;
  weekday: Weekday;
}

/** Throws nothing: an unknown zone is read as UTC (R38). */
export function localTime(timezone: string, epochMs: number): LocalTime {
  const parts: Record<string, string> = {};
  for (const { type, value } of (formatter(timezone) ?? UTC).formatToParts(epochMs)) parts[type] = value;
  return {
    date: `${parts.year}-${parts.month}-${parts.day}`,
    time: `${parts.hour}:${parts.minute}`,
    weekday: (parts.weekday ?? '').toLowerCase() as Weekday,
  };
}

/** The zone itself, or UTC for one that does not exist (R38). */
export function usableTimezone(timezone: string): { timezone: string; known: boolean } {
  return formatter(timezone) ? { timezone, known: true } : { timezone: 'UTC', known: false };
}

/** Formatters are slow to make and few: one per zone that some bot uses. Beyond the bound they are made anew. */
const MAX_FORMATTERS = 64;
const formatters = new Map<string, Intl.DateTimeFormat>();
const UTC = newFormatter('UTC');

function formatter(timezone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(timezone);
  if (known) return known;
  try {
    const made = newFormatter(timezone);
    if (formatters.size < MAX_FORMATTERS) formatters.set(timezone, made);
    return made;
  } catch {
    return null;
  }
}

function newFormatter(timezone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    hourCycle: 'h23',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
}
