import type { HttpRoute } from '../../platform/http-server.ts';
import type { AnyRoute } from './route.ts';

/** Browsers may keep the answer to a preflight for this long. */
const PREFLIGHT_SECONDS = 600;

/** Answers may be read by pages of any origin. Cookies are not meant: with `*` browsers do not send them. */
export function corsHeaders(): Record<string, string> {
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'x-request-id, retry-after, ratelimit, ratelimit-policy',
  };
}

/** A preflight route for every path that has routes for other origins and none of its own. */
export function preflightRoutes(routes: readonly AnyRoute[]): HttpRoute[] {
  const open = routes.filter((route) => route.cors);
  const paths = new Set(open.map((route) => route.path));
  const answered = new Set(routes.filter((route) => route.method === 'OPTIONS').map((route) => route.path));
  return [...paths]
    .filter((path) => !answered.has(path))
    .map((path) => ({
      method: 'OPTIONS',
      path,
      maxBodyBytes: 0,
      headers: {
        ...corsHeaders(),
        'access-control-allow-methods': open
          .filter((route) => route.path === path)
          .map((route) => route.method)
          .join(', '),
        'access-control-allow-headers': 'content-type, authorization, x-api-key, idempotency-key',
        'access-control-max-age': String(PREFLIGHT_SECONDS),
      },
      handler: async () => ({ status: 204 }),
    }));
}
