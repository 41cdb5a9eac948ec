import t from 'tap';
import { Check } from 'typebox/value';
import {
  CRM_PREFETCH_EXAMPLE,
  CrmPrefetchConfig,
  POST_CALL_PUSH_EXAMPLE,
  PostCallPush,
} from '../../../src/contracts/crm.ts';
import { afterCallVariables, renderPush } from '../../../src/control/calls/after-call.ts';
import { createCrmPrefetch } from '../../../src/control/crm/prefetch.ts';
import { systemVariables } from '../../../src/control/runtime-config/variables.ts';
import { testResults } from '../../harness/control.ts';
import { startReceiver, status } from '../../harness/receiver.ts';
import { until } from '../../harness/wait.ts';
import { settled, startWebhooks, untilWithTime } from '../../harness/webhooks-harness.ts';

t.test('R40 the examples of pre-fetch and push are valid, and a host from a variable is not', async (t) => {
  t.ok(Check(CrmPrefetchConfig, CRM_PREFETCH_EXAMPLE));
  t.ok(Check(PostCallPush, POST_CALL_PUSH_EXAMPLE));
  for (const push_url of [
    'https://{{crm.host}}/x',
    'https://a.example{{crm.tail}}/x',
    'https://user:pass@crm.example/',
    'https://user@crm.example/',
    'https://crm.example\\@evil.example/',
    'ftp://crm.example/',
    'javascript:alert(1)',
    '',
  ]) {
    t.notOk(Check(PostCallPush, { enabled: true, push_url }), push_url);
  }
  t.ok(Check(PostCallPush, { enabled: true, push_url: 'https://crm.example/{{crm.id}}?a={{call.city}}' }));
});

t.test('R153 after a call its CRM gets what the mapper says, signed, and the record shows it', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  f.secrets.token = 'swordfish';
  f.pushes.set('clinic', {
    enabled: true,
    push_url: `http://crm.example.test:${receiver.port}/calls/{{call.city}}`,
    headers: { authorization: 'Bearer {{secret.token}}' },
    key_mapper: {
      who: '{{crm.CUSTOMERNAME}}',
      first_due: '{{crm.loans}}',
      seconds: '{{results.call_duration_seconds}}',
      words: '{{results.transcript}}',
      sip: '{{results.end_detail.sip_code}}',
      intent: '{{analysis.intent.name}}',
      text: '{{bot.name}}: {{results.disconnected_by}} {{crm.unknown}}',
      on: '{{system.current_date}}',
      fixed: 3,
      list: ['{{call.city}}', { deep: '{{call.caller_id}}' }],
    },
  });
  await f.startCall('s1');
  await f.endCall('s1', {
    post_call_analysis: { intent: { name: 'renewal' } },
    end_detail: { sip_code: 200 },
  });
  await until(async () => ((await f.calls.get('s1'))?.integration_log.length ?? 0) > 0);
  t.equal(receiver.seen.length, 1);
  const [seen] = receiver.seen;
  t.equal(seen?.path, '/calls/Pune');
  t.equal(seen?.headers.authorization, 'Bearer swordfish');
  t.match(seen?.headers, { 'webhook-id': /^msg_/, 'webhook-signature': /^v1,/ });
  t.same(JSON.parse(seen?.body ?? ''), {
    who: 'Asha',
    first_due: [{ due: 1200 }],
    seconds: 12.5,
    words: testResults('s1').transcript,
    sip: 200,
    intent: 'renewal',
    text: 'Clinic: customer {{crm.unknown}}',
    on: '2026-03-01',
    fixed: 3,
    list: ['Pune', { deep: '+911234567890' }],
  });
  t.match((await f.calls.get('s1'))?.integration_log, [
    { kind: 'push', url_host: `crm.example.test:${receiver.port}`, status: 200, attempt: 1, error: null },
  ]);
});

t.test('R95 without a mapper the CRM gets the call results payload', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${receiver.port}/` });
  await f.startCall('s1');
  await f.endCall('s1');
  await until(() => receiver.seen.length === 1);
  t.match(JSON.parse(receiver.seen[0]?.body ?? ''), testResults('s1') as unknown as Record<string, unknown>);
});

t.test('R86 a call with _skip_post_push is not pushed, its neighbour is', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver();
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  f.pushes.set('clinic', {
    enabled: true,
    push_url: `http://crm.example.test:${receiver.port}/`,
    key_mapper: { id: '{{results.session_id}}' },
  });
  await f.startCall('silent', { skip_post_push: true });
  await f.startCall('told');
  await f.endCall('silent');
  await f.endCall('told');
  await until(() => receiver.seen.length === 1);
  await settled();
  t.same(
    receiver.seen.map((seen) => seen.body),
    ['{"id":"told"}'],
  );
});

t.test('R153 a changed URL counts for what waits already, and takes back a disabling by 410', async (t) => {
  const f = startWebhooks();
  const gone = await startReceiver(status(410));
  const moved = await startReceiver();
  t.teardown(() => Promise.all([f.close(), gone.close(), moved.close()]));
  f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${gone.port}/` });
  await f.startCall('s1');
  await f.endCall('s1');
  await until(() => f.webhookService.endpoints.get('bot:clinic')?.enabled === false);
  await f.startCall('s2');
  await f.endCall('s2');
  await until(async () => (await f.calls.get('s2'))?.integration_log.length === 1);
  t.match((await f.calls.get('s2'))?.integration_log, [{ kind: 'push', attempt: 0, error: /410/ }]);
  t.equal(gone.seen.length, 1, 'a disabled push asks nobody');

  gone.answer = status(500);
  f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${gone.port}/v2` });
  await f.startCall('s3');
  await f.endCall('s3');
  await until(() => gone.seen.length === 2);
  await until(async () => (await f.calls.get('s3'))?.integration_log.length === 1);
  f.pushes.set('clinic', { enabled: true, push_url: `http://crm.example.test:${moved.port}/v3` });
  await untilWithTime(f.clock, () => moved.seen.length === 1);
  await until(async () => (await f.calls.get('s3'))?.integration_log.length === 2);
  t.match(
    (await f.calls.get('s3'))?.integration_log.map((line) => line.status ?? null),
    [500, 200],
  );
});

t.test('R153 what becomes of unknown variables is the choice of the mapper', async (t) => {
  const f = startWebhooks();
  t.teardown(f.close);
  await f.startCall('s1');
  await f.endCall('s1');
  const call = await f.calls.get('s1');
  if (!call) throw new Error('the call has no record');
  const variables = afterCallVariables(call, systemVariables, '2026-03-01T08:00:00.000Z');
  const key_mapper = {
    a: '{{crm.no}}',
    b: 'x {{crm.no}}',
    c: ['{{crm.no}}', '{{call.city}}'],
    d: { e: '{{no}}' },
  };
  const render = (missing: 'literal' | 'null' | 'omit') =>
    renderPush(
      { enabled: true, push_url: 'https://crm.example.test/', key_mapper, missing },
      call,
      variables,
    );
  t.same(render('literal').body, { ...key_mapper, c: ['{{crm.no}}', 'Pune'] });
  t.same(render('null').body, { a: null, b: null, c: [null, 'Pune'], d: { e: null } });
  t.same(render('omit').body, { c: ['Pune'], d: {} });
  t.same(render('omit').missing, ['crm.no', 'no']);
});

t.test('R40 the examples of the API docs work on a real call', async (t) => {
  const f = startWebhooks();
  const receiver = await startReceiver(
    status(200, {}, JSON.stringify({ customer: { name: 'Asha' }, loans: [] })),
  );
  t.teardown(() => Promise.all([f.close(), receiver.close()]));
  const here = (url: string) =>
    url.replace('https://crm.example.com', `http://crm.example.test:${receiver.port}`);
  const prefetch = createCrmPrefetch({
    http: f.webhookService.http,
    secretsOf: async () => ({ crm_token: 'swordfish' }),
    nowIso: () => '2026-03-01T08:00:00.000Z',
  });
  const { data, entry } = await prefetch(
    { bot_id: 'clinic', crm_prefetch: { ...CRM_PREFETCH_EXAMPLE, url: here(CRM_PREFETCH_EXAMPLE.url) } },
    { call: { caller_id: '+911234' } },
    new AbortController().signal,
  );
  t.same(data, { CUSTOMERNAME: 'Asha' });
  t.match(entry.error, /nothing for due_amount/);
  f.pushes.set('clinic', { ...POST_CALL_PUSH_EXAMPLE, push_url: here(POST_CALL_PUSH_EXAMPLE.push_url) });
  await f.startCall('s1');
  await f.endCall('s1', { post_call_analysis: { intent: 'renewal' } });
  await until(() => receiver.seen.length === 2);
  t.same(JSON.parse(receiver.seen[1]?.body ?? ''), {
    phone: '+911234567890',
    customer: 'Asha',
    seconds: 12.5,
    outcome: 'customer',
    intent: 'renewal',
    note: 'Call s1 by Clinic',
  });
});
