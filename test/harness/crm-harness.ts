import { createAuditLog } from '../../src/control/audit/audit-log.ts';
import { crmSecretRoutes } from '../../src/control/crm/crm-secret-routes.ts';
import { createCrmSecrets } from '../../src/control/crm/crm-secrets.ts';
import { createCrmPrefetch } from '../../src/control/crm/prefetch.ts';
import { pushRoutes } from '../../src/control/crm/push-routes.ts';
import { pushTrialRoutes } from '../../src/control/crm/trial-routes.ts';
import type { Role } from '../../src/control/http/authenticate.ts';
import { webhookRoutes } from '../../src/control/webhooks/webhook-routes.ts';
import { localHttp } from './receiver.ts';
import { type Answer, serveApi } from './served-api.ts';
import { startWebhooks, testBox, type WebhooksHarness } from './webhooks-harness.ts';

export interface ServedRoutes extends WebhooksHarness {
  /** As this role; the answer with its JSON. */
  ask: (
    method: string,
    path: string,
    body?: unknown,
    options?: { role?: Role; headers?: Record<string, string> },
  ) => Promise<Answer>;
  /** Actions that the audit log holds, oldest first. */
  audited: () => Promise<{ action: string; text: string }[]>;
}

/** The routes of webhooks and CRM on a server of their own; the bearer token names the role. */
export async function serveCrmRoutes(): Promise<ServedRoutes> {
  const f = startWebhooks();
  const nowIso = () => new Date(f.clock.nowMs()).toISOString();
  const audit = createAuditLog(f.store, nowIso);
  const secrets = createCrmSecrets(f.store, testBox, nowIso);
  f.webhookService.secretsOf = (botId) => secrets.valuesOf(botId);
  const prefetch = createCrmPrefetch({ http: localHttp(), secretsOf: (id) => secrets.valuesOf(id), nowIso });
  const bot = async (id: string) => (id === 'clinic' ? { bot_id: id, timezone: 'Asia/Kolkata' } : null);
  const crm = { webhookService: f.webhookService, prefetch, secrets, bot, audit };
  const api = await serveApi(
    [
      ...webhookRoutes({ webhookService: f.webhookService, audit }),
      ...crmSecretRoutes(crm),
      ...pushRoutes(crm),
      ...pushTrialRoutes(crm),
    ],
    { store: f.store, nowMs: Date.now, limiterMs: () => performance.now() },
  );
  return {
    ...f,
    ask: (method, path, body, { role = 'admin', headers } = {}) =>
      api.call(method, `/api/v1${path}`, {
        body,
        headers: { authorization: `Bearer ${role}`, ...headers },
      }),
    async audited() {
      const { items } = await audit.list({ limit: 100 });
      return items.reverse().map((entry) => ({ action: entry.action, text: JSON.stringify(entry) }));
    },
    async close() {
      await api.close();
      await f.close();
    },
  };
}
