import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { crmRoutes } from '../../../src/control/crm/crm-routes.ts';
import { createCrmSecrets } from '../../../src/control/crm/crm-secrets.ts';
import { createCrmPrefetch } from '../../../src/control/crm/prefetch.ts';
import type { Actor, Authenticator, Role } from '../../../src/control/http/authenticate.ts';
import { createCoreSecretGuard } from '../../../src/control/http/core-secret-guard.ts';
import { createIdempotencyStore } from '../../../src/control/http/idempotency.ts';
import { createIdempotencyGuard } from '../../../src/control/http/idempotency-guard.ts';
import { RateLimiter } from '../../../src/control/http/rate-limit.ts';
import { serveRoutes } from '../../../src/control/http/serve-routes.ts';
import { webhookRoutes } from '../../../src/control/webhooks/webhook-routes.ts';
import { createHttpServer } from '../../../src/platform/http-server.ts';
import { localHttp } from './local-http.ts';
import { type OutboundFixture, outboundFixture, testBox } from './outbound-fixture.ts';

export interface ServedRoutes extends OutboundFixture {
  /** As this role; the answer with its JSON. */
  ask: (
    method: string,
    path: string,
    body?: unknown,
    options?: { role?: Role; headers?: Record<string, string> },
  ) => Promise<{ status: number; headers: Headers; json: Record<string, unknown> }>;
  /** Actions that the audit log holds, oldest first. */
  audited: () => Promise<{ action: string; text: string }[]>;
}

/** The routes of webhooks and CRM on a server of their own; the bearer token names the role. */
export async function serveCrmRoutes(): Promise<ServedRoutes> {
  const f = outboundFixture();
  const nowIso = () => new Date(f.clock.now).toISOString();
  const audit = createAuditLog(f.store, nowIso);
  const secrets = createCrmSecrets(f.store, testBox, nowIso);
  f.outbound.secretsOf = (botId) => secrets.valuesOf(botId);
  const prefetch = createCrmPrefetch({ http: localHttp(), secretsOf: (id) => secrets.valuesOf(id), nowIso });
  const bot = async (id: string) => (id === 'clinic' ? { bot_id: id, timezone: 'Asia/Kolkata' } : null);
  const server = createHttpServer({
    routes: serveRoutes(
      [
        ...webhookRoutes({ outbound: f.outbound, audit }),
        ...crmRoutes({ outbound: f.outbound, prefetch, secrets, bot, audit }),
      ],
      {
        authenticator: byRole,
        guard: createCoreSecretGuard(['secret'], 'http://127.0.0.1'),
        baseUrl: () => 'http://127.0.0.1',
        limiter: new RateLimiter(() => performance.now()),
        once: createIdempotencyGuard(createIdempotencyStore(f.store), Date.now),
      },
    ),
    onError: (error) => {
      throw error;
    },
  });
  const { port } = await server.listen('127.0.0.1', 0);
  return {
    ...f,
    async ask(method, path, body, options = {}) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${options.role ?? 'admin'}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
    },
    async audited() {
      const { items } = await audit.list({ limit: 100 });
      return items.reverse().map((entry) => ({ action: entry.action, text: JSON.stringify(entry) }));
    },
    async close() {
      await server.close();
      await f.close();
    },
  };
}

const byRole: Authenticator = {
  session: async () => null,
  apiKey: async () => null,
  bearer: async (token): Promise<Actor> => ({
    type: 'user',
    id: `usr_${token}`,
    name: token,
    role: token as Role,
    sessionId: null,
  }),
};
