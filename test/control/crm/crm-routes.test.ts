import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { serveCrmRoutes } from '../../harness/crm-harness.ts';
import { startReceiver, status } from '../../harness/receiver.ts';

const CRM = '/bots/clinic/crm';

t.test('R153 a mapper is previewed on a past call, and nothing is sent', async (t) => {
  const s = await serveCrmRoutes();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([s.close(), receiver.close()]));
  await s.startCall('s1');
  await s.endCall('s1');
  const push = {
    enabled: true,
    push_url: `http://crm.example.test:${receiver.port}/x?who={{crm.CUSTOMERNAME}}`,
    key_mapper: {
      name: '{{crm.CUSTOMERNAME}}',
      seconds: '{{results.call_duration_seconds}}',
      x: '{{crm.no}}',
    },
    missing: 'null',
  };
  t.equal((await s.ask('POST', `${CRM}/push/preview`, { session_id: 's1' })).status, 409, 'no push is saved');
  const { status: code, json } = await s.ask('POST', `${CRM}/push/preview`, { session_id: 's1', push });
  t.equal(code, 200);
  t.same(json, {
    url: `http://crm.example.test:${receiver.port}/x?who=***`,
    body: { name: 'Asha', seconds: 12.5, x: null },
    missing: ['crm.no'],
  });
  t.same(receiver.seen, []);
  t.equal((await s.ask('POST', `${CRM}/push/preview`, { session_id: 'other', push })).status, 422);
  t.equal((await s.ask('POST', '/bots/nobody/crm/push/preview', { session_id: 's1', push })).status, 404);
  await s.startCall('of-sales', { bot_id: 'sales' });
  const foreign = await s.ask('POST', `${CRM}/push/preview`, { session_id: 'of-sales', push });
  t.equal(foreign.status, 422, 'the calls of another bot are not shown');
});

t.test(
  'R153 a push is tried on a past call with the secrets of the bot, which nobody sees again',
  async (t) => {
    const s = await serveCrmRoutes();
    const receiver = await startReceiver((request, response) =>
      response.end(`got ${request.headers['x-key']}`),
    );
    t.teardown(() => Promise.all([s.close(), receiver.close()]));
    s.clock.jump(Date.now() - s.clock.nowMs());
    t.equal((await s.ask('PUT', `${CRM}/secrets/crm_key`, { value: 'swordfish' })).status, 204);
    t.match((await s.ask('GET', `${CRM}/secrets`)).json, { items: [{ name: 'crm_key' }] });
    s.pushes.set('clinic', {
      enabled: true,
      push_url: `http://crm.example.test:${receiver.port}/calls`,
      headers: { 'X-Key': '{{secret.crm_key}}' },
      key_mapper: { leak: '{{secret.crm_key}}', id: '{{results.session_id}}' },
    });
    const { secret } = (await s.ask('POST', `${CRM}/push/rotate-secret`)).json as { secret: string };
    await s.startCall('s1');
    const { json } = await s.ask('POST', `${CRM}/push/test`, { session_id: 's1' });
    t.match(json, {
      delivered: true,
      attempt: { response: { status: 200, body: 'got ***' }, request: { headers: { 'x-key': '***' } } },
    });
    const [seen] = receiver.seen;
    t.equal(seen?.headers['x-key'], 'swordfish');
    t.match(
      new Webhook(secret).verify(seen?.body ?? '', seen?.headers as Record<string, string>),
      { leak: '{{secret.crm_key}}', id: 's1' },
      'a secret fills headers only',
    );
    const shown = JSON.stringify([
      json,
      (await s.ask('GET', `${CRM}/push/deliveries`)).json,
      (await s.audited()).map((entry) => entry.text),
    ]);
    t.notMatch(shown, /swordfish/);
    for (const table of ['crm-secrets', 'webhook-endpoints']) {
      const rows = JSON.stringify(s.store.table(table).range({ limit: 100 }));
      t.notOk(rows.includes('swordfish') || rows.includes(secret), `${table} holds sealed texts only`);
    }
    t.equal((await s.ask('DELETE', `${CRM}/secrets/crm_key`)).status, 204);
    t.equal((await s.ask('DELETE', `${CRM}/secrets/crm_key`)).status, 404);
  },
);

t.test('R153 a push that 410 has disabled is enabled by hand and replayed', async (t) => {
  const s = await serveCrmRoutes();
  const receiver = await startReceiver(status(410));
  t.teardown(() => Promise.all([s.close(), receiver.close()]));
  s.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${receiver.port}/` });
  await s.startCall('s1');
  await s.endCall('s1');
  const dead = async () =>
    ((await s.ask('GET', `${CRM}/push/deliveries?state=dead`)).json as { deliveries: { id: string }[] })
      .deliveries;
  while ((await dead()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  while (s.webhookService.endpoints.get('bot:clinic')?.enabled)
    await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal((await s.ask('POST', `${CRM}/push/test`, { session_id: 's1' })).status, 409);
  receiver.answer = status(200);
  t.same((await s.ask('POST', `${CRM}/push/enable`)).json, { enabled: true });
  t.match((await s.ask('POST', `${CRM}/push/replay`, { delivery_id: (await dead())[0]?.id })).json, {
    replayed: 1,
  });
  while ((await dead()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(receiver.seen.length, 2);
});

t.test('R154 a pre-fetch is tried before it is saved', async (t) => {
  const s = await serveCrmRoutes();
  const receiver = await startReceiver(status(200, {}, '{"name":"Asha","due":5}'));
  t.teardown(() => Promise.all([s.close(), receiver.close()]));
  const prefetch = {
    enabled: true,
    url: `http://crm.example.test:${receiver.port}/c?p={{call.caller_id}}`,
    mapping: { CUSTOMERNAME: 'name' },
  };
  const { json } = await s.ask('POST', `${CRM}/prefetch/test`, {
    prefetch,
    variables: { caller_id: '+91 1' },
  });
  t.match(json, { data: { CUSTOMERNAME: 'Asha' }, entry: { kind: 'prefetch', status: 200, error: null } });
  t.equal(receiver.seen[0]?.path, '/c?p=%2B91%201');
  t.match((await s.ask('POST', `${CRM}/prefetch/test`, {})).json, {
    data: {},
    entry: { attempt: 0, error: /no CRM pre-fetch/ },
  });
  for (const role of ['supervisor', 'agent', 'analyst'] as const) {
    t.equal((await s.ask('POST', `${CRM}/prefetch/test`, { prefetch }, { role })).status, 403, role);
  }
});
