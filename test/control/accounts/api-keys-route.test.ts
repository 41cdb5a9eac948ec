import t from 'tap';
import { addUser, firstAdmin, loggedIn, runAccounts } from '../../harness/accounts-harness.ts';

const HOUR_MS = 3_600_000;

t.test('R156 a key is shown once and opens what its scopes say', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const make = (body: object) => run.call('POST', '/api/v1/api-keys', { as: admin, body });
  const made = await make({ name: 'dialler', scopes: ['calls:write', 'calls:write'] });
  t.equal(made.status, 201);
  const key = made.json.key as string;
  t.match(key, /^tk_[\w-]{43}$/);
  t.equal(made.json.prefix, key.slice(0, 10));
  t.same(made.json.scopes, ['calls:write']);
  const list = await run.call('GET', '/api/v1/api-keys', { as: admin });
  t.notOk(JSON.stringify(list.json).includes(key), 'never again');
  t.notMatch(JSON.stringify(list.json), /hash/);

  const calls = (headers: Record<string, string>) => run.call('POST', '/api/v1/probe/calls', { headers });
  t.match(await calls({ 'x-api-key': key }), { status: 200, json: { type: 'api_key', name: 'dialler' } });
  t.equal((await calls({})).status, 401);
  t.equal((await calls({ 'x-api-key': `${key}x` })).status, 401);
  t.equal((await calls({ 'x-api-key': key.toLowerCase() })).status, 401);
  t.equal((await calls({ authorization: `Bearer ${key}` })).status, 401, 'a key is no bearer token');
  t.equal((await calls(admin.headers)).status, 401, 'a person is no key');
  const records = (value: string) =>
    run.call('GET', '/api/v1/probe/records', { headers: { 'x-api-key': value } });
  t.equal((await records(key)).status, 403, 'another scope');
  const reader = await make({ name: 'reader', scopes: ['records:read'] });
  t.equal((await records(reader.json.key)).status, 200);
  t.equal((await run.call('GET', '/api/v1/users', { headers: { 'x-api-key': key } })).status, 403);
});

t.test('a key ends when it expires and when it is archived', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const make = (expires_at?: string) =>
    run.call('POST', '/api/v1/api-keys', {
      as: admin,
      body: { name: 'k', scopes: ['calls:write'], ...(expires_at ? { expires_at } : {}) },
    });
  const opens = async (key: string) =>
    (await run.call('POST', '/api/v1/probe/calls', { headers: { 'x-api-key': key } })).status;
  t.equal((await make('2026-03-01T11:59:59Z')).status, 422, 'in the past');
  t.equal((await make('tomorrow')).status, 422);
  t.equal((await make('2026-02-31T25:00Z')).status, 422);
  const short = await make('2026-03-01T18:30:00+05:30');
  t.equal(short.json.expires_at, '2026-03-01T13:00:00.000Z');
  const long = await make();
  run.clock.nowMs += HOUR_MS - 1;
  t.equal(await opens(short.json.key), 200);
  run.clock.nowMs += 1;
  t.equal(await opens(short.json.key), 401);
  t.equal(await opens(long.json.key), 200);
  const as = await loggedIn(run, 'asha@example.org');
  const archive = () => run.call('POST', `/api/v1/api-keys/${long.json.id}/archive`, { as });
  const first = await archive();
  t.ok(first.json.archived_at);
  t.equal(await opens(long.json.key), 401);
  run.clock.nowMs += 1_000;
  t.equal((await archive()).json.archived_at, first.json.archived_at, 'a second time changes nothing');
  t.equal((await run.call('POST', '/api/v1/api-keys/key_0123/archive', { as })).status, 404);
});

t.test(
  'the last use of a key is right to within a minute, and costs no more than one write in it',
  async (t) => {
    const run = await runAccounts();
    t.teardown(() => run.stop());
    const admin = await firstAdmin(run);
    const made = await run.call('POST', '/api/v1/api-keys', {
      as: admin,
      body: { name: 'k', scopes: ['calls:write'] },
    });
    const use = () =>
      run.call('POST', '/api/v1/probe/calls', { headers: { 'x-api-key': made.json.key as string } });
    const lastUsed = async () =>
      (await run.call('GET', `/api/v1/api-keys/${made.json.id}`, { as: admin })).json.last_used_at;
    t.equal(await lastUsed(), null);
    await use();
    t.equal(await lastUsed(), '2026-03-01T12:00:00.000Z');
    run.clock.nowMs += 59_999;
    await use();
    t.equal(await lastUsed(), '2026-03-01T12:00:00.000Z');
    run.clock.nowMs += 1;
    await use();
    t.equal(await lastUsed(), '2026-03-01T12:01:00.000Z');
  },
);

t.test('keys are for admins to make', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  await addUser(run, admin, 'sup@example.org', 'supervisor');
  const as = await loggedIn(run, 'sup@example.org');
  const made = await run.call('POST', '/api/v1/api-keys', { as, body: { name: 'k', scopes: ['kb:write'] } });
  t.equal(made.status, 403);
  t.equal((await run.call('GET', '/api/v1/api-keys', { as: admin })).json.items.length, 0);
});

t.test('R178 a key has a limit of its own where an admin sets one', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const make = (requests_per_minute?: number) =>
    run.call('POST', '/api/v1/api-keys', {
      as: admin,
      body: { name: 'k', scopes: ['calls:write'], ...(requests_per_minute ? { requests_per_minute } : {}) },
    });
  const limited = (await make(3)).json.key as string;
  const use = (key: string) => run.call('POST', '/api/v1/probe/calls', { headers: { 'x-api-key': key } });
  for (let i = 0; i < 3; i++) t.equal((await use(limited)).status, 200);
  const refused = await use(limited);
  t.match(refused, { status: 429, json: { code: 'rate_limited' } });
  t.equal(refused.headers.get('ratelimit-policy'), '"key";q=3;w=60');
  run.clock.nowMs += 60_000;
  t.equal((await use(limited)).status, 200);
  const generous = await use((await make(5_000)).json.key);
  t.equal(generous.headers.get('ratelimit'), '"key";r=4999;t=60', 'it may be above the default, too');
  t.equal((await make(60_001)).status, 422);
});
