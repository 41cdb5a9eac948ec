import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import { AppError } from '../../platform/app-error.ts';
import { matchesAnySecret } from '../../platform/constant-time.ts';
import type { HttpRequest } from '../../platform/http-server.ts';
import { isLoopbackHost } from '../../platform/origins.ts';

/** Who may use the routes that the core worker and the operator use. */
export interface CoreSecretGuard {
  /** Throws `forbidden` unless the request carries the core secret, or none is configured and the caller is local. */
  check(request: Pick<HttpRequest, 'headers'>): void;
  /** Whether the request carries a core secret at all, right or wrong. */
  isOffered(request: Pick<HttpRequest, 'headers'>): boolean;
}

function isOffered(request: Pick<HttpRequest, 'headers'>): boolean {
  return request.headers[CORE_SECRET_HEADER] !== undefined;
}

/**
 * Without a configured secret the plane listens on loopback only (settings.ts refuses the rest), and then a caller needs
 * none. Three ways still lead from outside to a loopback ingress, and all are closed here: a reverse proxy in front of it,
 * which gives itself away by its forwarding header (D-54), a web page whose own name was pointed at 127.0.0.1,
 * which gives itself away by the Host header, and a page of another site that sends a form here, which gives itself away
 * by the Origin header.
 */
export function createCoreSecretGuard(coreSecrets: readonly string[], baseUrl: string): CoreSecretGuard {
  if (coreSecrets.length === 0) {
    const ownHost = new URL(baseUrl).hostname;
    return { isOffered, check: (request) => checkLocal(request.headers, ownHost) };
  }
  return {
    isOffered,
    check(request) {
      if (matchesAnySecret(request.headers[CORE_SECRET_HEADER], coreSecrets)) return;
      throw new AppError('forbidden', 'the header X-Core-Secret is missing or does not match CORE_SECRET');
    },
  };
}

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

function checkLocal(headers: Readonly<Record<string, string>>, ownHost: string): void {
  if (FORWARDING_HEADERS.some((name) => headers[name] !== undefined)) {
    throw new AppError(
      'forbidden',
      'this request came through a proxy, and without CORE_SECRET only local callers are served; set CORE_SECRET',
    );
  }
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (!isLoopbackHost(host) && host !== ownHost) {
    throw new AppError(
      'forbidden',
      'without CORE_SECRET only requests to a loopback name or to the host of BASE_URL are served; set CORE_SECRET',
    );
  }
  const { origin } = headers;
  if (origin === undefined) return;
  const site = URL.canParse(origin) ? new URL(origin).hostname : '';
  if (!isLoopbackHost(site) && site !== ownHost) {
    throw new AppError(
      'forbidden',
      'without CORE_SECRET requests from pages of other sites are not served; set CORE_SECRET',
    );
  }
}
