import { describeError } from '../../platform/app-error.ts';
import { numberOrNull, recordOf } from '../../platform/json-shapes.ts';

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

/** A number that a vendor writes now as 429, now as "429". */
export function statusOf(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : numberOrNull(value);
}

/** A share from 0 to 1, null where the vendor gave none. */
export function confidenceOf(value: unknown): number | null {
  const number = numberOrNull(value);
  return number === null ? null : Math.min(1, Math.max(0, number));
}
