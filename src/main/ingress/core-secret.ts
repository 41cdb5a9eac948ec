import { matchesAnySecret } from '../../platform/constant-time.ts';

/**
 * Whether a request carries a core secret that is live (two are while it is being changed). An unset secret matches
 * nothing.
 */
export function isCoreSecret(
  given: string | string[] | undefined,
  secrets: string | readonly string[],
): boolean {
  return matchesAnySecret(given, typeof secrets === 'string' ? [secrets] : secrets);
}
