import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { serveCrmRoutes } from '../../harness/crm-harness.ts';
import { startReceiver, status } from '../../harness/receiver.ts';
import { until } from '../../harness/wait.ts';

interface Created {
  webhook: { id: string; version: number };
  secret: string;
}

t.test('a webhook is added, read, changed and removed; its secret is shown once', async (t) => {
  const s = await serveCrmRoutes();
  t.teardown(s.close);
  const created = await s.ask('POST', '/webhooks', {
    url: 'https://hooks.example.test/in?token=geheim123',
    types: ['call.ended', 'call.started'],
    headers: { Authorization: 'Bearer swordfish' },
    description: 'Archive',
  });
  t.equal(created.status, 201);
  const { webhook, secret } = created.json as unknown as Created;
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(created.headers.get('location'), `/api/v1/webhooks/${webhook.id}`);
  const read = await s.ask('GET', `/webhooks/${webhook.id}`);
  t.match(read.json, { description: 'Archive', header_names: ['authorization'], enabled: true, version: 1 });
  t.equal(read.headers.get('etag'), '"1"');

  const tag = { headers: { 'if-match': '"1"' } };
  t.equal((await s.ask('PATCH', `/webhooks/${webhook.id}`, { types: ['call.ended'] }, tag)).status, 200);
  t.equal((await s.ask('PATCH', `/webhooks/${webhook.id}`, { types: ['call.ended'] }, tag)).status, 412);
  t.match((await s.ask('PATCH', `/webhooks/${webhook.id}`, { enabled: false })).json, {
    enabled: false,
    disabled: { reason: /by an admin/ },
  });
  t.equal((await s.ask('POST', `/webhooks/${webhook.id}/test`)).status, 409);
  t.match((await s.ask('PATCH', `/webhooks/${webhook.id}`, { enabled: true })).json, {
    enabled: true,
    disabled: null,
  });

  const everything = JSON.stringify([
    await s.ask('GET', '/webhooks'),
    read.json,
    (await s.audited()).map((entry) => entry.text),
  ]);
  for (const hidden of ['swordfish', 'geheim123', secret, secret.slice(6)]) {
    t.notOk(everything.includes(hidden), 'nothing secret is shown again');
  }
  t.equal((await s.ask('DELETE', `/webhooks/${webhook.id}`, undefined, tag)).status, 412);
  t.equal((await s.ask('DELETE', `/webhooks/${webhook.id}`)).status, 204);
  t.equal((await s.ask('GET', `/webhooks/${webhook.id}`)).status, 404);
  t.same(
    (await s.audited()).map((entry) => entry.action),
    ['webhook.create', 'webhook.update', 'webhook.update', 'webhook.update', 'webhook.delete'],
  );
});

t.test('what cannot be a webhook is refused with the place of the mistake', async (t) => {
  const s = await serveCrmRoutes();
  t.teardown(s.close);
  const fits = { url: 'https://hooks.example.test/', types: ['call.ended'] };
  const wrong: [unknown, RegExp][] = [
    [{ ...fits, url: 'ftp://hooks.example.test/' }, /\/url/],
    [{ ...fits, url: 'https://a:b@hooks.example.test/' }, /\/url/],
    [{ ...fits, types: [] }, /\/types/],
    [{ ...fits, types: ['call.exploded'] }, /\/types/],
    [{ ...fits, types: ['call.ended', 'call.ended'] }, /\/types/],
    [{ ...fits, surprise: 1 }, /\/surprise/],
    [{ ...fits, headers: { 'x-a': 'b\r\nc: d' } }, /\/headers/],
    [{ ...fits, headers: { 'webhook-id': 'mine' } }, /\/headers/],
    [{ types: ['call.ended'] }, /\/url/],
  ];
  for (const [body, place] of wrong) {
    const { status, json } = await s.ask('POST', '/webhooks', body);
    t.equal(status, 422, JSON.stringify(body));
    t.match(JSON.stringify(json.errors), place);
  }
  for (const role of ['supervisor', 'agent', 'analyst'] as const) {
    t.equal((await s.ask('POST', '/webhooks', fits, { role })).status, 403, role);
    t.equal((await s.ask('GET', '/webhooks', undefined, { role })).status, 403, role);
  }
  t.same((await s.ask('GET', '/webhooks')).json, { items: [] }, 'nothing was written');
});

t.test('a repeated creation with one key makes one webhook', async (t) => {
  const s = await serveCrmRoutes();
  t.teardown(s.close);
  const options = { headers: { 'idempotency-key': '5b0b6a0e-7f5e-4f3a-9d6c-6a7f4f6f0a11' } };
  const body = { url: 'https://hooks.example.test/', types: ['call.ended'] };
  const first = await s.ask('POST', '/webhooks', body, options);
  const second = await s.ask('POST', '/webhooks', body, options);
  t.same(second.json, first.json);
  t.equal(((await s.ask('GET', '/webhooks')).json.items as unknown[]).length, 1);
});

t.test('a test message arrives, can be verified, and stands in the log', async (t) => {
  const s = await serveCrmRoutes();
  const receiver = await startReceiver(status(418, {}, 'short and stout'));
  t.teardown(() => Promise.all([s.close(), receiver.close()]));
  s.clock.jump(Date.now() - s.clock.nowMs());
  const created = await s.ask('POST', '/webhooks', {
    url: `http://hooks.example.test:${receiver.port}/in`,
    types: ['call.ended'],
  });
  const { webhook, secret } = created.json as unknown as Created;
  t.match((await s.ask('POST', `/webhooks/${webhook.id}/test`)).json, {
    delivered: false,
    attempt: { response: { status: 418, body: 'short and stout' }, error: /answered 418/ },
  });
  const [seen] = receiver.seen;
  const verified = new Webhook(secret).verify(seen?.body ?? '', seen?.headers as Record<string, string>);
  t.match(verified, { type: 'webhook.test' });
  const log = (await s.ask('GET', `/webhooks/${webhook.id}/deliveries`)).json;
  t.match(log, { deliveries: [], attempts: [{ type: 'webhook.test', attempt: 1 }] });
});

t.test('dead letters of a time range are sent again with one request', async (t) => {
  const s = await serveCrmRoutes();
  const receiver = await startReceiver(status(410));
  t.teardown(() => Promise.all([s.close(), receiver.close()]));
  const created = await s.ask('POST', '/webhooks', {
    url: `http://hooks.example.test:${receiver.port}/in`,
    types: ['call.ended'],
  });
  const { webhook } = created.json as unknown as Created;
  await s.startCall('s1');
  await s.endCall('s1');
  await until(() => s.webhookService.endpoints.get(webhook.id)?.enabled === false);
  const path = `/webhooks/${webhook.id}`;
  t.match((await s.ask('GET', `${path}/deliveries?state=dead`)).json, {
    deliveries: [{ state: 'dead', last_status: 410, session_id: 's1' }],
  });
  receiver.answer = status(204);
  await s.ask('PATCH', path, { enabled: true });
  t.same((await s.ask('POST', `${path}/replay`, { to: '2020-01-01T00:00:00Z' })).json, {
    replayed: 0,
    more: false,
  });
  t.same((await s.ask('POST', `${path}/replay`, { from: '2026-01-01T00:00:00Z' })).json, {
    replayed: 1,
    more: false,
  });
  await until(async () => {
    const { deliveries } = (await s.ask('GET', `${path}/deliveries`)).json as {
      deliveries: { state: string }[];
    };
    return deliveries[0]?.state === 'delivered';
  });
  t.equal(receiver.seen.length, 2);
  t.equal((await s.ask('POST', `${path}/replay`, { delivery_id: `msg_${'0'.repeat(32)}` })).status, 404);
  t.equal((await s.ask('POST', `${path}/replay`, { from: 'yesterday' })).status, 422);
});

t.test('a rotated secret is shown once and two are active meanwhile', async (t) => {
  const s = await serveCrmRoutes();
  t.teardown(s.close);
  const created = await s.ask('POST', '/webhooks', {
    url: 'https://hooks.example.test/',
    types: ['call.ended'],
  });
  const { webhook, secret } = created.json as unknown as Created;
  const first = await s.ask('POST', `/webhooks/${webhook.id}/rotate-secret`, { overlap_hours: 2 });
  t.match(first.json, {
    secret: /^whsec_/,
    secrets: [{ retires_at: null }, { retires_at: /^2026-03-01T10/ }],
  });
  t.not(first.json.secret, secret);
  await s.ask('POST', `/webhooks/${webhook.id}/rotate-secret`);
  const { secrets } = (await s.ask('GET', `/webhooks/${webhook.id}`)).json as { secrets: unknown[] };
  t.equal(secrets.length, 2, 'never more than two');
});
