import { createHash, createHmac } from 'node:crypto';

/** Fields whose text never reaches the log, whatever resource they belong to. */
const SECRET_NAME =
  /password|secret|token|api_?key|private_?key|access_?key|authorization|cookie|credential|recovery/i;
/** A larger state is kept as its size and hash: the log says that it changed, the versions of the resource say how. */
const MAX_STATE_BYTES = 32_768;
const MAX_DEPTH = 12;
/** Enough to see that two values differ, too little to search for the value behind it. */
const HASH_CHARS = 16;

/**
 * A state as the audit log may keep it: texts in fields with a secret's name become a keyed hash, so that one sees that
 * a secret was changed, but can neither read it nor try guesses without `key`.
 */
export function hideSecrets(state: unknown, key: string): unknown {
  if (state === undefined || state === null) return null;
  const text = JSON.stringify(state);
  if (text === undefined) return null;
  if (Buffer.byteLength(text) > MAX_STATE_BYTES) {
    return {
      omitted: 'larger than the audit log keeps',
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  }
  return hidden(JSON.parse(text), key, false, 0);
}

function hidden(value: unknown, key: string, secret: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) return 'nested too deeply for the audit log';
  if (typeof value === 'string') return secret && value !== '' ? keyed(value, key) : value;
  if (Array.isArray(value)) return value.map((item) => hidden(item, key, secret, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      hidden(inner, key, secret || SECRET_NAME.test(name), depth + 1),
    ]),
  );
}

function keyed(value: string, key: string): string {
  return `hash:${createHmac('sha256', key).update(value).digest('hex').slice(0, HASH_CHARS)}`;
}
