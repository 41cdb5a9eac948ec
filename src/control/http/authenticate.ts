import { AppError } from '../../platform/app-error.ts';
import { isLoopbackHost } from '../../platform/origins.ts';
import type { CoreSecretGuard } from './core-secret-guard.ts';

export type Role = 'admin' | 'supervisor' | 'agent' | 'analyst';
export type Scope = 'calls:write' | 'records:read' | 'campaigns:write' | 'kb:write';

/** Who may call a route. */
export type Auth =
  | { kind: 'public' }
  /** `X-Core-Secret`; without a configured secret local callers need none (core-secret-guard.ts). */
  | { kind: 'core_secret' }
  /** A person or a machine: session cookie, bearer token, an API key that holds one of `scopes`, the core secret. */
  | { kind: 'users'; roles: readonly Role[]; scopes?: readonly Scope[]; orCoreSecret?: boolean }
  /** `X-API-Key` only. */
  | { kind: 'api_key'; scope: Scope };

/** For routes that only people who administer the installation may call. */
export const ADMIN = { kind: 'users', roles: ['admin'] } as const;

/** Who is calling, as the audit log names it. */
export type Actor =
  | { type: 'public' }
  | { type: 'core' }
  | { type: 'user'; id: string; name: string; role: Role; sessionId: string | null }
  | {
      type: 'api_key';
      id: string;
      name: string;
      scopes: readonly Scope[];
      /** What an admin allows this key; none: what the route says (D-21). */
      requestsPerMinute?: number | null;
    };

/**
 * Turns a credential into the one who holds it; null where the credential is wrong, expired or revoked. Implemented by
 * the accounts. `session` gets the value of the session cookie and the `X-CSRF-Token` header, which a request that
 * changes something must carry; it throws `forbidden` where only that token is missing or wrong.
 */
export interface Authenticator {
  session(cookie: string, csrf: string | undefined, isMutation: boolean): Promise<Actor | null>;
  bearer(token: string): Promise<Actor | null>;
  apiKey(key: string): Promise<Actor | null>;
}

/** What finds out who calls. */
export interface AuthContext {
  authenticator: Authenticator;
  guard: CoreSecretGuard;
  /** Where the console lives: pages of other sites may not use its cookie. */
  baseUrl: () => string;
}

/** The second name is for plain http: browsers take `__Host-` only from https (RFC 6265bis section 4.1.3.2). */
export const SESSION_COOKIE_NAMES = ['__Host-trunkline_session', 'trunkline_session'] as const;
export const CSRF_HEADER = 'x-csrf-token';
export const API_KEY_HEADER = 'x-api-key';

/** A longer credential is none of ours; it is not even hashed. */
const MAX_CREDENTIAL_CHARS = 512;

interface Credentials {
  method: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * The one who calls, allowed to. Throws `unauthorized` where credentials are missing or wrong and `forbidden` where
 * they are right and not enough. A wrong credential is never passed over for another one in the same request.
 */
export async function authenticate(
  auth: Auth,
  request: Credentials,
  authContext: AuthContext,
): Promise<Actor> {
  const { authenticator, guard } = authContext;
  switch (auth.kind) {
    case 'public':
      return { type: 'public' };
    case 'core_secret':
      guard.check(request);
      return { type: 'core' };
    case 'api_key':
      return withScope(await byApiKey(request, authenticator), [auth.scope]);
    case 'users':
      return await oneOfUsers(auth, request, authContext);
  }
}

async function oneOfUsers(
  auth: Extract<Auth, { kind: 'users' }>,
  request: Credentials,
  authContext: AuthContext,
): Promise<Actor> {
  const { authenticator, guard, baseUrl } = authContext;
  const { headers } = request;
  if (headers[API_KEY_HEADER] !== undefined) {
    return withScope(await byApiKey(request, authenticator), auth.scopes ?? []);
  }
  if (headers.authorization !== undefined) {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization)?.[1];
    const actor = token === undefined || tooLong(token) ? null : await authenticator.bearer(token);
    if (actor === null) throw new AppError('unauthorized', 'the bearer token is wrong or has expired');
    return withRole(actor, auth.roles);
  }
  if (auth.orCoreSecret && guard.isOffered(request)) {
    guard.check(request);
    return { type: 'core' };
  }
  const cookie = sessionCookie(headers.cookie);
  if (cookie !== null) {
    const isMutation = request.method !== 'GET' && request.method !== 'HEAD';
    if (isMutation) requireOwnOrigin(headers, baseUrl());
    const actor = tooLong(cookie)
      ? null
      : await authenticator.session(cookie, headers[CSRF_HEADER], isMutation);
    if (actor === null) throw new AppError('unauthorized', 'the session is over; log in again');
    return withRole(actor, auth.roles);
  }
  if (auth.orCoreSecret) {
    guard.check(request);
    return { type: 'core' };
  }
  throw new AppError('unauthorized', 'this route needs a session, a bearer token or an API key');
}

async function byApiKey(request: Credentials, authenticator: Authenticator): Promise<Actor> {
  const key = request.headers[API_KEY_HEADER];
  const actor = key === undefined || tooLong(key) ? null : await authenticator.apiKey(key);
  if (actor === null) throw new AppError('unauthorized', 'the header X-API-Key is missing or wrong');
  return actor;
}

function withRole(actor: Actor, roles: readonly Role[]): Actor {
  if (actor.type === 'user' && roles.includes(actor.role)) return actor;
  throw new AppError('forbidden', `this route is for ${roles.join(', ')}`);
}

function withScope(actor: Actor, scopes: readonly Scope[]): Actor {
  if (actor.type === 'api_key' && actor.scopes.some((scope) => scopes.includes(scope))) return actor;
  throw new AppError(
    'forbidden',
    scopes.length === 0
      ? 'this route takes no API key'
      : `this route needs an API key with the scope ${scopes.join(' or ')}`,
  );
}

export function sessionCookie(header: string | undefined): string | null {
  for (const pair of header?.split(/[;,]/) ?? []) {
    const [name = '', ...value] = pair.trim().split('=');
    if ((SESSION_COOKIE_NAMES as readonly string[]).includes(name)) return value.join('=');
  }
  return null;
}

function tooLong(credential: string): boolean {
  return credential.length > MAX_CREDENTIAL_CHARS;
}

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
