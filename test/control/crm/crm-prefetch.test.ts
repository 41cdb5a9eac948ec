import fc from 'fast-check';
import t from 'tap';
import type { CrmPrefetchConfig } from '../../../src/contracts/crm.ts';
import { createCrmPrefetch, skippedPrefetch } from '../../../src/control/crm/prefetch.ts';
import { renderHeaders, renderUrl } from '../../../src/platform/render-values.ts';
import { localHttp, type Receiver, startReceiver, status } from '../../harness/receiver.ts';

const AT = '2026-03-01T08:00:00.000Z';
const VARIABLES = {
  system: { timezone: 'Asia/Kolkata' },
  call: { caller_id: '+91 12/34&x=1', city: 'पुणे' },
  crm: { id: 7 },
};

const prefetch = createCrmPrefetch({
  http: localHttp(),
  secretsOf: async (botId) => ({ token: `of-${botId}` }),
  nowIso: () => AT,
});
const never = new AbortController().signal;

function ask(receiver: Receiver, config: Partial<CrmPrefetchConfig>, signal: AbortSignal = never) {
  return prefetch(
    {
      bot_id: 'clinic',
      crm_prefetch: {
        enabled: true,
        url: `http://crm.example.test:${receiver.port}/who?phone={{call.caller_id}}`,
        ...config,
      },
    },
    VARIABLES,
    signal,
  );
}

const answer = (value: unknown): Receiver['answer'] => status(200, {}, JSON.stringify(value));

t.test('R154 the answer of the CRM becomes flat fields, and the log says what was asked', async (t) => {
  const receiver = await startReceiver(
    answer({ customer: { name: 'Asha', tags: ['a', 'b'] }, due: 12.5, vip: true, note: null }),
  );
  t.teardown(receiver.close);
  const { data, entry } = await ask(receiver, { headers: { Authorization: 'Bearer {{secret.token}}' } });
  t.same(data, {
    'customer.name': 'Asha',
    'customer.tags.0': 'a',
    'customer.tags.1': 'b',
    due: 12.5,
    vip: true,
    note: null,
  });
  t.match(receiver.seen, [
    {
      method: 'GET',
      path: '/who?phone=%2B91%2012%2F34%26x%3D1',
      headers: { authorization: 'Bearer of-clinic', accept: 'application/json' },
    },
  ]);
  t.match(entry, { kind: 'prefetch', at: AT, status: 200, attempt: 1, error: null });
  t.equal(entry.url_host, `crm.example.test:${receiver.port}`);
  t.notMatch(JSON.stringify(entry), /phone=|of-clinic/);
});

t.test('R40 R154 a mapping picks fields by their place, a POST sends a rendered body', async (t) => {
  const receiver = await startReceiver(answer({ loans: [{ due: 900 }], person: { full: 'Asha Rao' } }));
  t.teardown(receiver.close);
  const { data, entry } = await ask(receiver, {
    method: 'POST',
    body: { id: '{{crm.id}}', city: '{{call.city}}', about: 'caller {{call.caller_id}}' },
    mapping: { CUSTOMERNAME: 'person.full', due: 'loans.0.due', all: 'loans', absent: 'loans.4.due' },
  });
  t.same(data, { CUSTOMERNAME: 'Asha Rao', due: 900, all: '[{"due":900}]' });
  t.match(entry, { status: 200, error: /nothing for absent/ });
  t.equal(receiver.seen[0]?.method, 'POST');
  t.same(JSON.parse(receiver.seen[0]?.body ?? ''), { id: 7, city: 'पुणे', about: 'caller +91 12/34&x=1' });
});

t.test('R154 whatever goes wrong, the call goes on and the log says why', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const cases: [string, Receiver['answer'], Partial<CrmPrefetchConfig>, RegExp, number | null][] = [
    ['500', status(500), {}, /answered 500/, 500],
    ['redirect', status(302, { location: '/' }), {}, /redirects are not followed/, 302],
    ['no JSON', status(200, {}, '<html>'), {}, /not JSON/, 200],
    ['no object', status(200, {}, '"text"'), {}, /no JSON object/, 200],
    ['too large', status(200, {}, `"${'x'.repeat(300_000)}"`), {}, /larger than/, null],
    ['silence', () => undefined, { timeout_ms: 100 }, /no answer within 100 ms/, null],
    ['broken off', (request) => request.socket.destroy(), {}, /broke off/, null],
    ['loopback', status(200), { url: 'http://127.0.0.1/' }, /loopback/, null],
    ['unknown name', status(200), { url: 'https://crm.invalid/' }, /no usable address/, null],
  ];
  for (const [name, behaviour, config, error, code] of cases) {
    receiver.answer = behaviour;
    const outcome = await ask(receiver, config);
    t.same(outcome.data, {}, name);
    t.match(outcome.entry, { kind: 'prefetch', at: AT, error }, name);
    t.equal(outcome.entry.status, code, name);
  }
  const leaving = new AbortController();
  receiver.answer = () => leaving.abort();
  t.match((await ask(receiver, {}, leaving.signal)).entry, { status: null, error: /called off/ });
});

t.test('R155 a URL whose variable the call does not have is not asked, and the log names it', async (t) => {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const { data, entry } = await ask(receiver, {
    url: 'https://crm.example.test/{{call.account}}/{{crm.id}}',
  });
  t.same(data, {});
  t.match(entry, { attempt: 0, status: null, error: /needs call\.account, which/ });
  t.same(receiver.seen, []);
});

t.test('R86 a call that skips the pre-fetch has a line that says so', async (t) => {
  t.match(skippedPrefetch(AT), { kind: 'prefetch', at: AT, attempt: 0, error: /_skip_prefetch/ });
});

t.test('no value can leave its place in a URL or begin a header', async (t) => {
  const values = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('\r\nx: y', '../../admin', '?a=b#c', '@evil.example', '\ud800', '%0d%0a'),
  );
  fc.assert(
    fc.property(values, (value) => {
      const variables = { call: { v: value } };
      const { url } = renderUrl('https://crm.example.test/a/{{call.v}}/b?q={{call.v}}', variables);
      const parsed = new URL(url);
      const header = renderHeaders({ 'X-V': 'v {{call.v}}' }, variables)['x-v'] ?? '';
      return (
        parsed.host === 'crm.example.test' &&
        parsed.hash === '' &&
        [...parsed.searchParams.keys()].join() === 'q' &&
        parsed.searchParams.get('q') === value.toWellFormed() &&
        /^[\x20-\x7e]*$/.test(header)
      );
    }),
    { seed: 8, numRuns: 3_000 },
  );
  t.same(renderHeaders({ Host: 'a', 'Content-Length': '1', 'webhook-id': 'x', 'X-A': 'b' }, {}), {
    'x-a': 'b',
  });
});
