import { maskNumber } from '../../platform/logger.ts';

/**
 * A copy for people who may read records but no telephone numbers (D-56, role `analyst`): the number
 * fields are masked whole, and so is everything in the texts that reads like a telephone number.
 */
export function maskNumbers<T>(value: T): T {
  return mask(value, null, 0) as T;
}

const NUMBER_FIELDS = new Set([
  'caller_id',
  'from_number',
  'to_number',
  'transfer_destination',
  'transfer_target',
]);

/** Ids, names of files and times are full of digits and say nothing about the caller. */
const LEFT_ALONE = /^(id|.*_id|.*_at|.*_key|.*_sha256|sha256|version)$/;
/** The same names inside what callers and their systems sent are not ours, and nothing is left alone there. */
const FOREIGN = new Set([
  'connected_event',
  'sip_context',
  'crm_data',
  'post_call_analysis',
  'results_extra',
  'transcript',
  'callback',
  'end_detail',
]);

/** It may let in whoever has it, and those who see no numbers hear no recordings. */
const HIDDEN = 'recording_url';

/** Seven digits or more, with the signs that people put between them. */
const TELEPHONE = /\+?\d(?:[\s().-]{0,2}\d){6,}/g;
const MAX_DEPTH = 40;

function mask(value: unknown, name: string | null, depth: number, foreign = false): unknown {
  if (!foreign && name === HIDDEN) return null;
  if (typeof value === 'string') {
    if (name !== null && NUMBER_FIELDS.has(name)) return maskNumber(value);
    if (!foreign && name !== null && LEFT_ALONE.test(name)) return value;
    return value.replace(TELEPHONE, (number) => maskNumber(number));
  }
  if (typeof value === 'number' && foreign && Number.isInteger(value) && Math.abs(value) >= 1e6) {
    return maskNumber(String(value));
  }
  if (typeof value !== 'object' || value === null) return value;
  // What lies deeper than any real record is left out rather than shown unread.
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((inner) => mask(inner, name, depth + 1, foreign));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      foreign ? key.replace(TELEPHONE, (number) => maskNumber(number)) : key,
      mask(inner, key, depth + 1, foreign || FOREIGN.has(key)),
    ]),
  );
}
