/**
 * The header `Retry-After` (RFC 9110 section 10.2.3), seconds or a date, as ms from `nowMs`. A wait beyond `maximumMs`
 * is taken as that; null where the header says nothing usable.
 */
export function retryAfterMs(
  header: string | string[] | null | undefined,
  maximumMs: number,
  nowMs: number = Date.now(),
): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  // Dates begin with the name of a weekday; of other texts, Date.parse makes something up.
  const isDate = /^[a-z]{3,}, /i.test(text);
  const waitMs = isSeconds ? Number(text) * 1_000 : isDate ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isFinite(waitMs) ? Math.min(Math.max(0, Math.round(waitMs)), maximumMs) : null;
}

/** The wait that an answer of 429 or 503 asks for, in ms; null where it asks for none, or not in a usable way. */
export function askedRetryMs(
  answer: { status: number; headers: Readonly<Record<string, string | string[] | undefined>> },
  nowMs: number,
): number | null {
  const mayAsk = answer.status === 429 || answer.status === 503;
  return mayAsk ? retryAfterMs(answer.headers['retry-after'], Number.POSITIVE_INFINITY, nowMs) : null;
}
