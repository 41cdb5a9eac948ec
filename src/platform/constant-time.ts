import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether `given` is one of `secrets`. Both sides are hashed first and every candidate is compared, so neither the
 * content, the length nor the place of the matching one shows in the time it takes. An empty secret matches nothing, and
 * neither does a header that was sent twice.
 */
export function matchesAnySecret(
  given: string | readonly string[] | undefined,
  secrets: readonly string[],
): boolean {
  const offered = digest(typeof given === 'string' ? given : '');
  let found = false;
  for (const secret of secrets) {
    const equal = timingSafeEqual(offered, digest(secret));
    found = (equal && secret !== '') || found;
  }
  return found && typeof given === 'string';
}

/** {@link matchesAnySecret} for one secret. */
export function equalsSecret(given: string | undefined, secret: string): boolean {
  return matchesAnySecret(given, [secret]);
}

/** In one call: a hash object per request costs more in garbage collection than the hash itself. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
