import { Compile } from 'typebox/compile';
import type { AnyRoute } from '../../src/control/http/route.ts';
import type { GuardedHttp } from '../../src/platform/guarded-http.ts';
import type { HttpReply } from '../../src/platform/http-server.ts';
import { type Operation, readOperations } from '../control/http/walks/api-document.ts';
import { type RunningControl, runControl } from './control.ts';
import { CORE_SECRET } from './served-api.ts';

export const ROLES = ['admin', 'supervisor', 'agent', 'analyst'] as const;
export const SCOPES = ['calls:write', 'records:read', 'campaigns:write', 'kb:write'] as const;
export type RoleName = (typeof ROLES)[number];

export interface PlaneUnderTest extends RunningControl {
  operations: Operation[];
  /** Statuses that were seen, by operation. */
  seen: Map<string, Set<number>>;
  /** Replies that do not fit what their route declares, one sentence each. */
  mismatches: string[];
  /** Durable writes since the start, in transactions. */
  writes: () => number;
  /** Headers of each credential, by a name like `bearer admin`. */
  credentials: Map<string, Record<string, string>>;
  userIds: Map<RoleName, string>;
  send: (operation: Operation, parts?: RequestParts) => Promise<Answer>;
}

export interface RequestParts {
  params?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface PlaneOptions {
  env?: Record<string, string>;
  requestsPerMinute?: number;
  outboundHttp?: GuardedHttp;
  /** Without people and keys, where the test needs none. */
  bare?: boolean;
}

/** A control plane with a person of every role and a key of every scope, reached through its API only. */
export async function planeUnderTest(options: PlaneOptions = {}): Promise<PlaneUnderTest> {
  const mismatches: string[] = [];
  const run = await runControl({ CORE_SECRET, ...options.env }, undefined, {
    onReply: (route, reply) => mismatches.push(...replyIssues(route, reply)),
    ...(options.outboundHttp === undefined ? {} : { outboundHttp: options.outboundHttp }),
    ...(options.requestsPerMinute === undefined ? {} : { requestsPerMinute: options.requestsPerMinute }),
  });
  let writes = 0;
  const { transaction } = run.store;
  run.store.transaction = (action) => {
    writes++;
    return transaction.call(run.store, action) as ReturnType<typeof transaction<never>>;
  };
  const document = (await (await fetch(run.url('/api/v1/openapi.json'))).json()) as Record<string, unknown>;
  const seen = new Map<string, Set<number>>();
  const plane: PlaneUnderTest = {
    ...run,
    operations: readOperations(document),
    seen,
    mismatches,
    writes: () => writes,
    credentials: new Map(),
    userIds: new Map(),
    async send(operation, parts = {}) {
      const answer = await sendTo(run.url(''), operation, parts);
      const statuses = seen.get(operation.id) ?? new Set();
      seen.set(operation.id, statuses.add(answer.status));
      return answer;
    },
  };
  if (!options.bare) await peopleAndKeys(plane);
  return plane;
}

export async function sendTo(origin: string, operation: Operation, parts: RequestParts): Promise<Answer> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      parts.params?.[name] ?? operation.params.find((one) => one.name === name)?.sample ?? 'nosuch',
    ),
  );
  const body = parts.json === undefined ? parts.body : JSON.stringify(parts.json);
  const answer = await fetch(`${origin}${path}${parts.query ? `?${parts.query}` : ''}`, {
    method: operation.method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': operation.body?.type ?? 'application/json' }),
      ...parts.headers,
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    ...(parts.signal ? { signal: parts.signal } : {}),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** The first of these that the operation takes opens it. */
export function openers(plane: PlaneUnderTest, operation: Operation): Record<string, string> {
  for (const security of operation.security) {
    const [[scheme, needed] = ['', []]] = Object.entries(security);
    const name =
      scheme === 'bearer' && needed.includes('admin')
        ? 'bearer admin'
        : scheme === 'bearer'
          ? `bearer ${needed[0]}`
          : scheme === 'apiKey'
            ? `key ${needed[0]}`
            : scheme === 'coreSecret'
              ? 'core'
              : '';
    const headers = plane.credentials.get(name);
    if (headers) return headers;
  }
  return {};
}

export function operation(plane: Pick<PlaneUnderTest, 'operations'>, id: string): Operation {
  const found = plane.operations.find((one) => one.id === id);
  if (!found) throw new Error(`the API has no operation ${id}`);
  return found;
}

export const passwordOf = (role: RoleName) => `a long sentence of the ${role}`;
export const emailOf = (role: RoleName) => `${role}@example.org`;

async function peopleAndKeys(plane: PlaneUnderTest): Promise<void> {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(plane.url(`/api/v1${path}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Record<string, unknown>;
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`);
    return { json, headers: answer.headers };
  };
  const token = new URLSearchParams(new URL(plane.control.setupUrl ?? '').hash.slice(1)).get('token');
  const person = (role: RoleName) => ({ email: emailOf(role), name: role, password: passwordOf(role) });
  const first = await post('/auth/setup', { token, ...person('admin') });
  plane.userIds.set('admin', String(first.json.id));
  plane.credentials.set('none', {});
  plane.credentials.set('core', { 'x-core-secret': CORE_SECRET });
  plane.credentials.set('wrong core', { 'x-core-secret': `${CORE_SECRET}r` });
  plane.credentials.set('wrong key', { 'x-api-key': 'tk_nosuchkey' });
  plane.credentials.set('wrong bearer', { authorization: 'Bearer tka_nosuchtoken' });
  plane.credentials.set('wrong session', { cookie: 'trunkline_session=nosuch', 'x-csrf-token': 'x' });
  let admin: Record<string, string> = {};
  for (const role of ROLES) {
    if (role !== 'admin') {
      const made = await post('/users', { ...person(role), role }, admin);
      plane.userIds.set(role, String((made.json.user as { id: string }).id));
    }
    const login = { email: emailOf(role), password: passwordOf(role) };
    const tokens = await post('/auth/login', { ...login, mode: 'token' });
    const bearer = { authorization: `Bearer ${tokens.json.access_token}` };
    if (role === 'admin') admin = bearer;
    const session = await post('/auth/login', { ...login, mode: 'cookie' });
    const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    plane.credentials.set(`bearer ${role}`, bearer);
    plane.credentials.set(`session ${role}`, { cookie, 'x-csrf-token': String(session.json.csrf_token) });
    plane.credentials.set(`session without CSRF ${role}`, { cookie });
    plane.credentials.set(`session of another site ${role}`, {
      cookie,
      'x-csrf-token': String(session.json.csrf_token),
      origin: 'https://evil.example',
    });
  }
  for (const scope of SCOPES) {
    const key = await post('/api-keys', { name: scope, scopes: [scope] }, admin);
    plane.credentials.set(`key ${scope}`, { 'x-api-key': String(key.json.secret ?? key.json.key) });
  }
}

const checks = new Map<unknown, ReturnType<typeof Compile>>();

/** A reply must have a declared status and fit the schema that stands there. */
function replyIssues(route: AnyRoute, reply: HttpReply): string[] {
  const name = `${route.operationId} ${reply.status}`;
  const declared = route.responses[reply.status];
  if (!declared) return [`${name} is not declared`];
  if (!declared.schema || reply.json === undefined) return [];
  let check = checks.get(declared.schema);
  if (!check) {
    check = Compile(declared.schema);
    checks.set(declared.schema, check);
  }
  // What travels is the JSON, where a field that is undefined is none.
  const value: unknown = JSON.parse(JSON.stringify(reply.json));
  if (check.Check(value)) return [];
  return check
    .Errors(value)
    .slice(0, 3)
    .map((error) => `${name}: ${error.instancePath || '/'} ${error.message}`);
}
