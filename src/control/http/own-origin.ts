import { AppError } from '../../platform/app-error.ts';
import { isLoopbackHost } from '../../platform/origins.ts';

/**
 * Throws `forbidden` for a request that a page of another site has sent (by `Origin`, or by `Sec-Fetch-Site` where a
 * browser leaves `Origin` out). Clients that are no browsers send neither. Beside the origin of `BASE_URL` the loopback
 * names are own, so that a person on the machine may type either.
 */
export function requireOwnOrigin(headers: Readonly<Record<string, string>>, baseUrl: string): void {
  if (isOwnOrigin(headers, baseUrl)) return;
  throw new AppError(
    'forbidden',
    'this request comes from a page of another site; open the console at BASE_URL',
  );
}

function isOwnOrigin(headers: Readonly<Record<string, string>>, baseUrl: string): boolean {
  const { origin } = headers;
  if (origin === undefined) return headers['sec-fetch-site'] !== 'cross-site';
  if (!URL.canParse(origin)) return false;
  const sender = new URL(origin);
  if (sender.origin === new URL(baseUrl).origin) return true;
  return sender.host === headers.host && isLoopbackHost(sender.hostname);
}
