import { join } from 'node:path';
import type { Accounts } from '../../src/control/accounts/accounts.ts';
import { createAccounts } from '../../src/control/accounts/create-accounts.ts';
import { createAuditLog, type TransactionalAuditLog } from '../../src/control/audit/audit-log.ts';
import { auditRoutes } from '../../src/control/audit/audit-routes.ts';
import { type AnyRoute, route } from '../../src/control/http/route.ts';
import { type KeyedSecretBox, openSecretBox } from '../../src/control/settings/secret-box.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { type Answer, type CallOptions, serveApi } from './served-api.ts';
import { tempFolder } from './temp-folder.ts';

export const PASSWORD = 'correct horse battery';
export const START_MS = Date.parse('2026-03-01T12:00:00.000Z');

/** The real accounts behind the real route table and HTTP server, on a store of their own and with a clock to turn. */
export interface RunningAccounts {
  accounts: Accounts;
  audit: TransactionalAuditLog;
  store: KeyValueStore;
  secretBox: KeyedSecretBox;
  dataDir: string;
  url: string;
  clock: { nowMs: number };
  /** Token of the link that the start would print. */
  setupToken: string | null;
  /** `as` is a client of {@link loggedIn}. */
  call(method: string, path: string, options?: CallOptions & { as?: Client }): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Client {
  headers: Record<string, string>;
}

export async function runAccounts(options: { baseUrl?: string } = {}): Promise<RunningAccounts> {
  const dataDir = tempFolder();
  const store = openKeyValueStore(join(dataDir, 'store'));
  const clock = { nowMs: START_MS };
  const nowIso = () => new Date(clock.nowMs).toISOString();
  const audit = createAuditLog(store, nowIso);
  let url = '';
  const baseUrl = () => options.baseUrl ?? url;
  const secretBox = await openSecretBox(dataDir, store, nowIso);
  const logger = createLogger({ level: 'silent', role: 'test' });
  const accounts = createAccounts({ store, audit, logger, secretBox, dataDir, baseUrl, nowIso });
  const api = await serveApi([...accounts.routes, ...auditRoutes(audit), ...probes()], {
    store,
    authenticator: accounts.authenticator,
    coreSecrets: ['the core secret'],
    baseUrl,
    nowMs: () => clock.nowMs,
  });
  url = api.url;
  const { setupUrl } = await accounts.open(url);
  return {
    accounts,
    audit,
    store,
    secretBox,
    dataDir,
    url,
    clock,
    setupToken: setupUrl && new URLSearchParams(new URL(setupUrl).hash.slice(1)).get('token'),
    call: (method, path, { as, headers, ...asked } = {}) =>
      api.call(method, path, { ...asked, headers: { ...as?.headers, ...headers } }),
    async stop() {
      await api.close();
      await store.close();
    },
  };
}

/** Sets the installation up with its first admin and logs that one in. */
export async function firstAdmin(run: RunningAccounts, email = 'asha@example.org'): Promise<Client> {
  const made = await run.call('POST', '/api/v1/auth/setup', {
    body: { token: run.setupToken, email, name: 'Asha Rao', password: PASSWORD },
  });
  if (made.status !== 201) throw new Error(`setup: ${JSON.stringify(made.json)}`);
  return loggedIn(run, email);
}

/** A browser with a session. */
export async function loggedIn(run: RunningAccounts, email: string, password = PASSWORD): Promise<Client> {
  const answer = await run.call('POST', '/api/v1/auth/login', { body: { email, password } });
  if (answer.status !== 200) throw new Error(`login: ${JSON.stringify(answer.json)}`);
  return { headers: { cookie: cookieOf(answer), 'x-csrf-token': answer.json.csrf_token } };
}

/** A machine with tokens. */
export async function withTokens(
  run: RunningAccounts,
  email: string,
): Promise<Client & { access: string; refresh: string }> {
  const answer = await run.call('POST', '/api/v1/auth/login', {
    body: { email, password: PASSWORD, mode: 'token' },
  });
  const { access_token: access, refresh_token: refresh } = answer.json;
  return { headers: { authorization: `Bearer ${access}` }, access, refresh };
}

/** A user with a password, made by `admin`. */
export async function addUser(
  run: RunningAccounts,
  admin: Client,
  email: string,
  role: string,
): Promise<string> {
  const made = await run.call('POST', '/api/v1/users', {
    as: admin,
    body: { email, name: email, role, password: PASSWORD },
  });
  if (made.status !== 201) throw new Error(`user: ${JSON.stringify(made.json)}`);
  return made.json.user.id;
}

export function cookieOf(answer: Answer): string {
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Routes that show what a credential opens. */
function probes(): AnyRoute[] {
  const common = { tag: 'test', summary: 'A probe', responses: { 200: { description: 'Who calls' } } };
  return [
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/probe/calls',
      operationId: 'probeCalls',
      auth: { kind: 'api_key', scope: 'calls:write' },
      handler: async ({ actor }) => ({ status: 200, json: actor }),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/api/v1/probe/records',
      operationId: 'probeRecords',
      auth: { kind: 'users', roles: ['admin', 'supervisor'], scopes: ['records:read'] },
      handler: async ({ actor }) => ({ status: 200, json: actor }),
    }),
  ];
}
