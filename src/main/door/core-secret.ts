import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a request carries the core secret. Both sides are hashed first, so neither content nor length shows in the
 * time it takes. An unset secret matches nothing.
 */
export function isCoreSecret(given: string | string[] | undefined, secret: string): boolean {
  if (secret === '' || typeof given !== 'string') return false;
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
