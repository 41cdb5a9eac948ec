import { createHash, randomBytes } from 'node:crypto';

/** 256 bits: beyond guessing, so a plain SHA-256 of it is a safe way to keep it. */
const SECRET_BYTES = 32;
const ID_BYTES = 12;

/** A new secret with a prefix that tells people and secret scanners what it is: `tk_` and 43 characters of base64url. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The form in which a secret of {@link newSecret} is kept. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** An id of the API (D-28): `usr_` and 24 hexadecimal digits. */
export function newId(prefix: string): string {
  return `${prefix}${randomBytes(ID_BYTES).toString('hex')}`;
}
