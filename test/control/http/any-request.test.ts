import fc from 'fast-check';
import t from 'tap';
import { testResults } from '../../harness/control.ts';
import { openers, operation, type PlaneUnderTest, planeUnderTest } from '../../harness/plane-harness.ts';
import { localHttp } from '../../harness/receiver.ts';
import type { Operation } from './walks/api-document.ts';
import { arbitraryRequest } from './walks/arbitrary-request.ts';

/** Requests per operation. More of them find little more; a longer search is a matter of the seed and this number. */
const REQUESTS = 25;
const SEED = 20_260_301;

const plane = await planeUnderTest({ requestsPerMinute: 1_000_000, outboundHttp: localHttp() });
t.teardown(() => plane.stop());

/** Things that exist, so that requests reach what lies behind a 404. People of the test itself are not among them. */
async function makeThings(one: PlaneUnderTest): Promise<Map<string, string[]>> {
  const core = one.credentials.get('core') ?? {};
  const admin = one.credentials.get('bearer admin') ?? {};
  const sessions: string[] = [];
  for (let i = 0; i < 4; i++) {
    const config = await one.send(operation(one, 'getRuntimeConfig'), {
      params: { bot_id: 'demo' },
      headers: core,
    });
    const { session_id } = JSON.parse(config.text) as { session_id: string };
    sessions.push(session_id);
    if (i > 0) await one.send(operation(one, 'postCallResults'), { json: testResults(session_id) });
  }
  const user = await one.send(operation(one, 'createUser'), {
    json: { email: 'extra@example.org', name: 'Extra', role: 'agent' },
    headers: admin,
  });
  const key = await one.send(operation(one, 'createApiKey'), {
    json: { name: 'extra', scopes: ['kb:write'] },
    headers: admin,
  });
  const job = await one.send(operation(one, 'exportCallRecords'), { json: { format: 'csv' }, headers: core });
  const webhook = await one.send(operation(one, 'createWebhook'), {
    json: { url: 'http://hooks.example.test:9/hook', types: ['call.ended'] },
    headers: admin,
  });
  const id = (text: string, ...path: string[]) =>
    path.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | null)?.[name],
      JSON.parse(text),
    );
  return new Map([
    ['bot_id', ['demo']],
    ['session_id', sessions],
    ['user_id', [String(id(user.text, 'user', 'id'))]],
    ['key_id', [String(id(key.text, 'api_key', 'id') ?? id(key.text, 'id'))]],
    ['export_id', [String(id(job.text, 'id') ?? id(job.text, 'export_id'))]],
    ['webhook_id', [String(id(webhook.text, 'webhook', 'id'))]],
    ['version', ['1']],
    ['name', ['crm_token']],
    ['call_id', sessions.map((session) => `call_${session}`)],
    ['key', ['bot:demo', 'system:settings']],
  ]);
}

t.test(
  'no request that the API document can describe is answered with 500 or an undocumented status',
  async (t) => {
    const pools = await makeThings(plane);
    // The session of the driver itself must not end on the way.
    const driver = (one: Operation) =>
      one.id === 'logOut' ? plane.credentials.get('bearer analyst') : openers(plane, one);
    const others = [...plane.credentials.keys()].filter((name) => name !== 'bearer admin');
    // What is gone cannot be asked for any more, so it goes at the end.
    const removes = (one: Operation) => Number(one.method === 'DELETE');
    const ordered = [...plane.operations].sort((a, b) => removes(a) - removes(b));
    let sent = 0;
    const statuses = new Map<number, number>();
    for (const one of ordered) {
      const arbitrary = fc.tuple(arbitraryRequest(one, pools), fc.constantFrom(...others), fc.nat(9));
      await fc.assert(
        fc.asyncProperty(arbitrary, async ([parts, credential, pick]) => {
          const headers = pick === 0 ? plane.credentials.get(credential) : driver(one);
          const answer = await plane.send(one, { ...parts, headers: { ...headers } });
          sent++;
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          if (answer.status === 500) throw new Error(`${one.id}: 500 ${answer.text}`);
          if (!one.statuses.includes(answer.status)) {
            throw new Error(`${one.id}: ${answer.status} is not documented: ${answer.text.slice(0, 300)}`);
          }
          if (answer.status >= 400 && !answer.headers.get('content-type')?.includes('problem+json')) {
            throw new Error(`${one.id}: ${answer.status} without a problem`);
          }
        }),
        { seed: SEED, numRuns: REQUESTS, endOnFailure: true },
      );
    }
    t.comment(`${sent} requests: ${JSON.stringify(Object.fromEntries(statuses))}`);
    t.ok((statuses.get(200) ?? 0) > sent / 10, 'many of them succeed');
    t.same(plane.mismatches, [], 'every success fits its declared schema');
  },
);

t.test('after all of it the plane is ready, and its audit log is whole', async (t) => {
  t.equal((await fetch(plane.url('/readyz'))).status, 200);
  const answer = await plane.send(operation(plane, 'verifyAuditLog'), {
    headers: openers(plane, operation(plane, 'verifyAuditLog')),
  });
  t.equal(answer.status, 200, answer.text);
  t.notMatch(answer.text, /"(ok|valid|intact)":false/);
});
