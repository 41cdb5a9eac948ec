import { isRecord } from '../../platform/json-shapes.ts';

/**
 * Reads what the carrier says on `/partner/{bot_id}` (docs/partner-protocol.md). Its documents and helpers disagree
 * about names and types, so this is the one place that knows the variations: `stream_sid` and `streamSid`,
 * capitalised keys and event names, numbers as strings, fields beside their object instead of inside it (RT-80).
 */
export type PartnerInbound =
  | { kind: 'connected' }
  | { kind: 'start'; start: PartnerStart }
  | { kind: 'audio'; payload: string; chunk: number | null; timestampMs: number | null }
  | { kind: 'dtmf'; digit: string }
  | { kind: 'mark'; name: string }
  | { kind: 'clear' }
  | { kind: 'stop'; reason: string }
  /** Known event, unusable content. */
  | { kind: 'bad'; what: 'bad_media' | 'bad_field' }
  | { kind: 'unknown_event' }
  | { kind: 'malformed' };

export interface PartnerStart {
  streamSid: string;
  callSid: string;
  accountSid: string;
  from: string;
  to: string;
  customParameters: Record<string, unknown>;
  /** Of `media_format`, in Hz; null where it is missing or no number. */
  sampleRate: number | null;
}

/** Longest identifier, number or reason that is kept; the rest is cut off. */
const MAX_TEXT = 200;

/** Never throws, whatever the text is. */
export function readPartner(text: string): PartnerInbound {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  if (!isRecord(value)) return { kind: 'malformed' };
  const event = field(value, 'event');
  if (typeof event !== 'string') return { kind: 'malformed' };
  switch (event.trim().toLowerCase()) {
    case 'media':
      return readMedia(within(value, 'media'));
    case 'connected':
      return { kind: 'connected' };
    case 'start':
      return { kind: 'start', start: readStart(value) };
    case 'dtmf': {
      const digit = textOf(field(within(value, 'dtmf'), 'digit')).toUpperCase();
      return /^[0-9A-D*#]$/.test(digit) ? { kind: 'dtmf', digit } : { kind: 'bad', what: 'bad_field' };
    }
    case 'mark': {
      const name = textOf(field(within(value, 'mark'), 'name'));
      return name === '' ? { kind: 'bad', what: 'bad_field' } : { kind: 'mark', name };
    }
    case 'clear':
      return { kind: 'clear' };
    case 'stop':
      return { kind: 'stop', reason: textOf(field(within(value, 'stop'), 'reason')) };
    default:
      return { kind: 'unknown_event' };
  }
}

function readMedia(media: Record<string, unknown>): PartnerInbound {
  const payload = field(media, 'payload');
  if (typeof payload !== 'string') return { kind: 'bad', what: 'bad_media' };
  return {
    kind: 'audio',
    payload,
    chunk: numberOf(field(media, 'chunk')),
    timestampMs: numberOf(field(media, 'timestamp')),
  };
}

function readStart(message: Record<string, unknown>): PartnerStart {
  const start = within(message, 'start');
  const format = field(start, 'media_format');
  const callSid = textOf(field(start, 'call_sid'));
  return {
    streamSid: textOf(field(start, 'stream_sid')) || textOf(field(message, 'stream_sid')) || callSid,
    callSid,
    accountSid: textOf(field(start, 'account_sid')),
    from: textOf(field(start, 'from')),
    to: textOf(field(start, 'to')),
    customParameters: readCustom(field(start, 'custom_parameters')),
    sampleRate: numberOf(field(isRecord(format) ? format : start, 'sample_rate')),
  };
}

/** An object, the same as a JSON string, a query string, or nothing. */
function readCustom(given: unknown): Record<string, unknown> {
  if (isRecord(given)) return withoutPrototype(given);
  if (typeof given !== 'string' || given.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(given);
    if (isRecord(value)) return withoutPrototype(value);
  } catch {
    // It is no JSON; a query string is the other form that has been seen.
  }
  return given.includes('=') ? withoutPrototype(Object.fromEntries(new URLSearchParams(given))) : {};
}

/** `__proto__` as a name would not stay a plain field in every place that copies it. */
function withoutPrototype(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '__proto__'));
}

/** The object of this name, or the message itself where the fields stand beside it. */
function within(message: Record<string, unknown>, name: string): Record<string, unknown> {
  const inner = field(message, name);
  return isRecord(inner) ? inner : message;
}

/** A field by its documented name, else by the same letters in another spelling. */
function field(record: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name];
  const wanted = letters(name);
  for (const key of Object.keys(record)) if (letters(key) === wanted) return record[key];
  return undefined;
}

function letters(name: string): string {
  return name.replaceAll('_', '').replaceAll('-', '').toLowerCase();
}

function textOf(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' ? value.trim().slice(0, MAX_TEXT) : '';
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() === '') return null;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : null;
}
