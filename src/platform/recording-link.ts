import { createHmac } from 'node:crypto';
import { equalsSecret } from './constant-time.ts';

/** What a host needs to sign links to its recordings. Plain data: it goes to a worker thread, too. */
export interface LinkSigner {
  /** Where others reach the recordings of this host: `https://calls.example.org`. */
  baseUrl: string;
  /** Of this host alone; who has it can make links. */
  key: string;
  /** How long a link lets in. */
  lifeSeconds: number;
}

/** The path with an end and a signature over both, as a whole URL. `path` begins with `/` and needs no encoding. */
export function signedLink(signer: LinkSigner, path: string, nowMs: number): string {
  const expires = String(Math.floor(nowMs / 1_000) + signer.lifeSeconds);
  return `${signer.baseUrl}${path}?expires=${expires}&signature=${signatureOf(signer.key, path, expires)}`;
}

/**
 * Whether the query of a link lets in to this path. The signature is looked at before the end, so that nobody learns of
 * a link that they have only guessed; it is compared in constant time.
 */
export function judgeLink(
  key: string,
  path: string,
  query: URLSearchParams,
  nowMs: number,
): 'valid' | 'expired' | 'altered' {
  const expires = query.get('expires') ?? '';
  const isSigned = equalsSecret(query.get('signature') ?? '', signatureOf(key, path, expires));
  if (!isSigned || !/^\d{1,12}$/.test(expires)) return 'altered';
  return Number(expires) * 1_000 > nowMs ? 'valid' : 'expired';
}

/** The two parts cannot run into each other: a path has no line break. */
function signatureOf(key: string, path: string, expires: string): string {
  return createHmac('sha256', key).update(`${path}\n${expires}`).digest('base64url');
}
