import type { CallbackRequest } from '../../contracts/call-results.ts';
import { localTime, usableTimezone } from '../../platform/local-time.ts';

/** Where neither the caller nor the bot names a time (contracts, `default_delay_minutes`). */
const DEFAULT_DELAY_MINUTES = 60;
const MAX_INSTRUCTIONS_CHARS = 2_000;
/** A wish for later than this was not understood. */
const MAX_AHEAD_MS = 366 * 86_400_000;
const MAX_REASON_CHARS = 500;

/** What the model is told: the same for every call of the bot, so that it may be cached. */
export function callbackPrompt(instructions: unknown): string {
  const own = typeof instructions === 'string' ? instructions.trim().slice(0, MAX_INSTRUCTIONS_CHARS) : '';
  return [
    'You read the transcript of a telephone call and find out whether the caller wants to be called back.',
    'Answer with one JSON object with these keys:',
    '- "requested": true only where the caller asked for another call or agreed to one, else false.',
    '- "at": when, in the local time of the call, as YYYY-MM-DDTHH:MM; null where no time was named.',
    '- "reason": one short sentence why, or null.',
    ...(own === '' ? [] : [`Also: ${own}`]),
  ].join('\n');
}

/** The moment that "tomorrow" and "in an hour" count from, as the model is told it. */
export function localMoment(nowMs: number, timezone: string): string {
  const { timezone: zone } = usableTimezone(timezone);
  const { weekday, date, time } = localTime(zone, nowMs);
  return `${weekday.charAt(0).toUpperCase()}${weekday.slice(1)} ${date} ${time} (${zone})`;
}

/** The wish in its final form, or a sentence about what is wrong with the answer. */
export function readCallbackRequest(
  answer: Record<string, unknown>,
  call: { nowMs: number; timezone: string; defaultDelayMinutes: unknown },
): CallbackRequest | string {
  const { requested, at = null, reason = null } = answer;
  if (typeof requested !== 'boolean') return '"requested" must be true or false';
  if (at !== null && typeof at !== 'string') return '"at" must be a text like 2026-03-02T18:00, or null';
  if (reason !== null && typeof reason !== 'string') return '"reason" must be a text or null';
  const { timezone } = usableTimezone(call.timezone);
  const why = reason === null ? null : reason.slice(0, MAX_REASON_CHARS);
  if (!requested) return { requested, at: null, timezone, job_id: null, reason: why };
  const requestedMs = at === null || at.trim() === '' ? null : momentOf(at.trim(), timezone);
  if (requestedMs !== null && Number.isNaN(requestedMs))
    return '"at" must be a text like 2026-03-02T18:00, or null';
  // What is over already, or far away, was not understood; then the bot's own delay counts.
  const isUsable =
    requestedMs !== null && requestedMs > call.nowMs && requestedMs < call.nowMs + MAX_AHEAD_MS;
  const minutes =
    typeof call.defaultDelayMinutes === 'number' ? call.defaultDelayMinutes : DEFAULT_DELAY_MINUTES;
  const atMs = isUsable ? requestedMs : call.nowMs + minutes * 60_000;
  return { requested, at: new Date(atMs).toISOString(), timezone, job_id: null, reason: why };
}

/** Unix ms of an ISO 8601 text; without an offset it is local time of the zone. NaN where it cannot be read. */
function momentOf(text: string, timezone: string): number {
  const match = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/.exec(
    text,
  );
  if (!match) return Number.NaN;
  if (match[6]) return Date.parse(text.replace(' ', 'T'));
  const [year, month, day, hour, minute] = match.slice(1, 6).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  // The offset at the moment itself, which near a change of the clocks is not the one at the first guess.
  const guess = asUtc - offsetMs(asUtc, timezone);
  return asUtc - offsetMs(guess, timezone);
}

function offsetMs(atMs: number, timezone: string): number {
  const { date, time } = localTime(timezone, atMs);
  return Date.parse(`${date}T${time}Z`) - Math.floor(atMs / 60_000) * 60_000;
}
