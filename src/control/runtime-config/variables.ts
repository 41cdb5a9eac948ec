import type { Variables } from './render-template.ts';

/**
 * The merged dictionary of a call (interface.md, Variable namespaces). `crm.*` is the connected event overridden by
 * `_mock_crm`.
 */
export function callVariables(
  fields: Readonly<Record<string, unknown>>,
  mockCrm: Readonly<Record<string, unknown>>,
  timezone: string,
  nowIso: string,
): Variables {
  return {
    system: systemVariables(timezone, nowIso),
    call: fields,
    crm: { ...fields, ...mockCrm },
  };
}

/** The zone itself, or UTC for one that does not exist (interface.md, Bot: "bot timezone"). */
export function usableTimezone(timezone: string): { timezone: string; known: boolean } {
  return formatter(timezone) ? { timezone, known: true } : { timezone: 'UTC', known: false };
}

function systemVariables(timezone: string, nowIso: string): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const { type, value } of (formatter(timezone) ?? UTC).formatToParts(new Date(nowIso)))
    parts[type] = value;
  const date = `${parts.year}-${parts.month}-${parts.day}`;
  const time = `${parts.hour}:${parts.minute}`;
  return {
    current_date: date,
    current_time: time,
    current_datetime: `${date} ${time}`,
    timezone,
  };
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
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
}
