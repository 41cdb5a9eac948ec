import type { Actor, Authenticator, Role, Scope } from '../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../src/control/http/rate-limit.ts';
import type { AnyRoute } from '../../src/control/http/route.ts';
import { type ServeRoutesParts, serveRoutes } from '../../src/control/http/serve-routes.ts';
import { AppError } from '../../src/platform/app-error.ts';
import { createHttpServer } from '../../src/platform/http-server.ts';
import type { KeyValueStore } from '../../src/platform/key-value-store.ts';

export const CORE_SECRET = 'correct horse battery staple';

const ROLES: readonly string[] = ['admin', 'supervisor', 'agent', 'analyst'];

/**
 * One person for each role, whose bearer token is the role's name, with a number where there are several, and these
 * keys, named after what they are; the accounts of the product have their own tests.
 */
export function namedPeople(
  keys: Record<string, { scopes: readonly Scope[]; requestsPerMinute?: number }> = {},
): Authenticator {
  return {
    session: async () => null,
    async bearer(token): Promise<Actor | null> {
      const role = token.replace(/-\d$/, '');
      if (!ROLES.includes(role)) return null;
      return { type: 'user', id: token, name: token, role: role as Role, sessionId: null };
    },
    async apiKey(key): Promise<Actor | null> {
      const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
      return known ? { type: 'api_key', id: `key_${key}`, name: key, ...known } : null;
    },
  };
}

export interface ServedApi {
  port: number;
  url: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** A text goes as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Null where the answer is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came back.
  json: any;
}

/** Routes behind the real table and server, on a port of their own. */
export async function serveApi(
  routes: readonly AnyRoute[],
  options: {
    store: KeyValueStore;
    nowMs: () => number;
    authenticator?: Authenticator;
    coreSecrets?: string[];
    limiterMs?: () => number;
  } & Partial<Pick<ServeRoutesParts, 'baseUrl' | 'onReply'>> & { onError?: (error: unknown) => void },
): Promise<ServedApi> {
  const server = createHttpServer({
    routes: serveRoutes(routes, {
      authenticator: options.authenticator ?? namedPeople(),
      baseUrl: options.baseUrl ?? (() => 'http://127.0.0.1'),
      guard: createCoreSecretGuard(options.coreSecrets ?? [CORE_SECRET], 'http://127.0.0.1'),
      limiter: new RateLimiter(options.limiterMs ?? options.nowMs),
      once: createIdempotencyGuard(createIdempotencyStore(options.store), options.nowMs),
      ...(options.onReply ? { onReply: options.onReply } : {}),
    }),
    onError: options.onError ?? showError,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    call: (method, path, asked) => callJson(method, `${url}${path}`, asked),
    close: () => server.close(),
  };
}

export async function callJson(
  method: string,
  url: string,
  { body, headers = {}, signal }: CallOptions = {},
): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
}

/** Only what no route meant to answer is worth the eyes of whoever runs the test. */
function showError(error: unknown): void {
  if (!(error instanceof AppError)) process.stderr.write(`${String((error as Error).stack)}\n`);
}
