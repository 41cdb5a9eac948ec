import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { startControl } from '../../../src/control/control.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { readSettings } from '../../../src/platform/settings.ts';
import { testBot, testResults } from '../../harness/control.ts';
import { localHttp, type Receiver, startReceiver } from '../../harness/receiver.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { until } from '../../harness/wait.ts';

const PASSWORD = 'four words of nobody else';

/** The real plane with a bot whose CRM is `receiver`, and an admin's way to ask it. */
async function startPlane(t: import('tap').Test, receiver: Receiver) {
  const folder = tempFolder();
  const recordingsFolder = join(folder, 'recordings');
  mkdirSync(recordingsFolder);
  const store = openKeyValueStore(join(folder, 'store'));
  const crm = `http://crm.example.test:${receiver.port}`;
  await createBotStore(store).put(
    testBot({
      system_prompt: 'The caller is {{crm.CUSTOMERNAME}} from {{crm.city}} and owes {{crm.due}}.',
      crm_prefetch: {
        enabled: true,
        url: `${crm}/customers?city={{call.city}}`,
        headers: { authorization: 'Bearer {{secret.crm_token}}' },
        mapping: { CUSTOMERNAME: 'name', due: 'loans.0.due' },
      },
      post_call_push: {
        enabled: true,
        push_url: `${crm}/calls`,
        headers: { authorization: 'Bearer {{secret.crm_token}}' },
        key_mapper: { who: '{{crm.CUSTOMERNAME}}', outcome: '{{results.disconnected_by}}' },
      },
    }),
  );
  const control = await startControl({
    settings: readSettings({ CONTROL_LISTEN: '127.0.0.1:0', DATA_DIR: folder }, folder, folder),
    store,
    logger: createLogger({ level: 'silent', role: 'test' }),
    recordingsFolder,
    outboundHttp: localHttp(),
  });
  t.teardown(async () => {
    await control.close();
    await store.close();
    await receiver.close();
  });
  const ask = async (method: string, path: string, body?: unknown, token?: string) => {
    const response = await fetch(`http://127.0.0.1:${control.port}/api/v1${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  };
  const email = 'asha@example.org';
  const setup = new URLSearchParams(new URL(control.setupUrl ?? '').hash.slice(1)).get('token');
  await ask('POST', '/auth/setup', { token: setup, email, name: 'Asha', password: PASSWORD });
  const login = await ask('POST', '/auth/login', { email, password: PASSWORD, mode: 'token' });
  const token = String(login.access_token);
  return { store, ask, asAdmin: (m: string, path: string, body?: unknown) => ask(m, path, body, token) };
}

t.test(
  'R40 R153 R154 R173 one call: fetched before, pushed after, told to a webhook, all once',
  async (t) => {
    const receiver = await startReceiver((request, response) => {
      const isLookup = request.url?.startsWith('/customers');
      response.end(isLookup ? JSON.stringify({ name: 'Asha Rao', loans: [{ due: 900 }] }) : '{}');
    });
    const { store, ask, asAdmin } = await startPlane(t, receiver);
    await asAdmin('PUT', '/bots/clinic/crm/secrets/crm_token', { value: 'swordfish' });
    const { secret: pushSecret } = await asAdmin('POST', '/bots/clinic/crm/push/rotate-secret');
    const { secret: hookSecret } = await asAdmin('POST', '/webhooks', {
      url: `http://hooks.example.test:${receiver.port}/hook`,
      types: ['call.started', 'call.ended'],
    });

    const event = encodeURIComponent(JSON.stringify({ city: 'Pune' }));
    const config = await ask('GET', `/config/clinic?caller_id=%2B911234&connected_event=${event}`);
    t.equal(config.system_prompt, 'The caller is Asha Rao from Pune and owes 900.');
    t.match(receiver.seen[0], {
      method: 'GET',
      path: '/customers?city=Pune',
      headers: { authorization: 'Bearer swordfish' },
    });
    const sessionId = String(config.session_id);
    await ask('POST', '/call-results', testResults(sessionId));
    await ask('POST', '/call-results', testResults(sessionId));

    const at = (path: string) => receiver.seen.filter((seen) => seen.path === path);
    await until(() => at('/calls').length === 1 && at('/hook').length === 2);
    const [push] = at('/calls');
    t.same(JSON.parse(push?.body ?? ''), { who: 'Asha Rao', outcome: 'customer' });
    new Webhook(String(pushSecret)).verify(push?.body ?? '', push?.headers as Record<string, string>);
    t.same(
      at('/hook').map((seen) => {
        const { type } = new Webhook(String(hookSecret)).verify(
          seen.body,
          seen.headers as Record<string, string>,
        ) as { type: string };
        return type;
      }),
      ['call.started', 'call.ended'],
    );
    const record = async () =>
      (await asAdmin('GET', `/call-records/${sessionId}`)) as { integration_log: { kind: string }[] };
    await until(async () => (await record()).integration_log.length === 2);
    t.match((await record()).integration_log, [
      { kind: 'prefetch', status: 200, attempt: 1, error: null },
      { kind: 'push', status: 200, attempt: 1, error: null },
    ]);
    const rows = JSON.stringify(
      ['crm-secrets', 'webhook-endpoints', 'audit-log', 'delivery-log', 'deliveries'].map((name) =>
        store.table(name).range({ limit: 1_000 }),
      ),
    );
    for (const hidden of ['swordfish', String(pushSecret), String(hookSecret)]) {
      t.notOk(rows.includes(hidden), 'no secret lies in the store in plain text');
    }
  },
);

t.test('R86 _skip_prefetch and _skip_post_push are obeyed and leave their trace', async (t) => {
  const receiver = await startReceiver();
  const { ask, asAdmin } = await startPlane(t, receiver);
  const event = encodeURIComponent(
    JSON.stringify({ city: 'Pune', _skip_prefetch: true, _skip_post_push: true }),
  );
  const config = await ask('GET', `/config/clinic?connected_event=${event}`);
  await ask('POST', '/call-results', testResults(String(config.session_id)));
  const record = await asAdmin('GET', `/call-records/${config.session_id}`);
  t.match(record, {
    status: 'completed',
    integration_log: [{ kind: 'prefetch', attempt: 0, error: /_skip_prefetch/ }],
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.same(receiver.seen, [], 'the CRM has heard nothing');
});
