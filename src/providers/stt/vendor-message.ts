import { describeError } from '../../platform/app-error.ts';

/** What a vendor sent, before anything is believed about it. */
export type VendorMessage = Record<string, unknown>;

/**
 * Reads a JSON message. A half or garbled one throws, which ends the socket: a lost final would lose words, while a
 * new session hears them again.
 */
export function readVendorMessage(message: string | Buffer): VendorMessage {
  let value: unknown;
  try {
    value = JSON.parse(typeof message === 'string' ? message : message.toString('utf8'));
  } catch (error) {
    throw new Error(`not JSON (${describeError(error).slice(0, 80)})`);
  }
  return recordOf(value);
}

/** The value as an object; an empty one where it is something else. */
export function recordOf(value: unknown): VendorMessage {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as VendorMessage) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, '' where there is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The number, null where there is none that can be counted with. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A number that a vendor writes now as 429, now as "429". */
export function statusOf(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : numberOf(value);
}

/** A share from 0 to 1, null where the vendor gave none. */
export function confidenceOf(value: unknown): number | null {
  const number = numberOf(value);
  return number === null ? null : Math.min(1, Math.max(0, number));
}
