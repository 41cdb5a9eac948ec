import { AppError } from '../../platform/app-error.ts';

/** The entity tag of a resource that counts its changes. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * Throws `version_mismatch` (412) where the request names a version that is not the standing one (RFC 9110 section
 * 13.1.1). Without `If-Match` the request goes through: who does not ask is not protected.
 */
export function requireMatch(headers: Readonly<Record<string, string>>, version: number): void {
  const wanted = headers['if-match'];
  if (wanted === undefined) return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(etagOf(version))) return;
  throw new AppError(
    'version_mismatch',
    `the resource stands at version ${version}; read it again, then change it`,
    {
      details: { version },
    },
  );
}
