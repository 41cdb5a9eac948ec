import { AppError } from '../app-error.ts';
import type { HttpRoute } from './http-types.ts';

/** What a route is found by. */
type Findable = Pick<HttpRoute, 'method' | 'path' | 'headers'>;

export interface RouteTable<R extends Findable> {
  /** Throws `not_found`, `method_not_allowed` (with `details.allow`) and `bad_request` for a path that does not decode. */
  match(method: string, path: string): { route: R; params: Record<string, string> };
  /** What every answer at this path carries, also one to a request that is refused before its route is looked for. */
  headersAt(path: string): Readonly<Record<string, string>> | undefined;
}

/** Finds the routes of a server by the parts of their paths; literal parts win over named ones. */
export function routeTable<R extends Findable>(routes: readonly R[]): RouteTable<R> {
  const literal = new Map<string, R[]>();
  const patterns: { parts: string[]; routes: R[] }[] = [];
  for (const route of routes) {
    if (!route.path.includes('{')) {
      literal.set(route.path, [...(literal.get(route.path) ?? []), route]);
      continue;
    }
    const known = patterns.find((pattern) => pattern.parts.join('/') === route.path);
    if (known) known.routes.push(route);
    else patterns.push({ parts: route.path.split('/'), routes: [route] });
  }
  const headers = new Map(
    [...literal].map(([path, known]) => [
      path,
      headersOf(known.filter(({ method }) => method !== 'OPTIONS')),
    ]),
  );
  return {
    headersAt: (path) => headers.get(path),
    match(method, path) {
      const exact = literal.get(path);
      if (exact) return { route: choose(exact, method), params: {} };
      const parts = path.split('/');
      for (const pattern of patterns) {
        const params = fit(pattern.parts, parts);
        if (params) return { route: choose(pattern.routes, method), params };
      }
      throw new AppError('not_found', 'there is nothing at this path');
    },
  };
}

function choose<R extends Findable>(routes: readonly R[], method: string): R {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = routes.find((route) => route.method === wanted);
  if (found) return found;
  const allow = routes
    .flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]))
    .join(', ');
  const headers = headersOf(routes);
  throw new AppError('method_not_allowed', `this path takes ${allow}`, { details: { allow, headers } });
}

function headersOf(routes: readonly Findable[]): Record<string, string> {
  return Object.assign({}, ...routes.map((route) => route.headers));
}

function fit(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (wanted.startsWith('{')) {
      if (part === '') return null;
      params[wanted.slice(1, -1)] = decode(part);
    } else if (wanted !== part) return null;
  }
  return params;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new AppError('bad_request', 'the path is not percent-encoded UTF-8', { cause });
  }
}
