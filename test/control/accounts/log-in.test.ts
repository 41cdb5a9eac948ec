import t, { type Test } from 'tap';
import {
  addUser,
  cookieOf,
  firstAdmin,
  loggedIn,
  PASSWORD,
  type RunningAccounts,
  runAccounts,
  withTokens,
} from '../../harness/accounts-harness.ts';

const MINUTE_MS = 60_000;

async function fresh(t: Test, options?: { baseUrl?: string }): Promise<RunningAccounts> {
  const run = await runAccounts(options);
  t.teardown(() => run.stop());
  return run;
}

t.test('the first admin is made with the printed token, once', async (t) => {
  const run = await fresh(t);
  t.match(run.setupToken, /^tko_[\w-]{43}$/);
  const body = { token: run.setupToken, email: 'Asha@Example.org', name: 'Asha', password: PASSWORD };
  const setup = (change: object = {}) =>
    run.call('POST', '/api/v1/auth/setup', { body: { ...body, ...change } });
  t.match(await setup({ token: 'tko_wrong' }), { status: 401, json: { code: 'unauthorized' } });
  t.match(await setup({ password: 'short' }), { status: 422, json: { errors: [{ pointer: '/password' }] } });

  const both = await Promise.all([setup(), setup({ email: 'other@example.org' })]);
  t.same(both.map((answer) => answer.status).sort(), [201, 409], 'of two at once one wins');
  t.equal((await setup({ email: 'third@example.org' })).status, 401, 'the token is used up');
  t.equal((await run.accounts.users.list({ limit: 9 })).length, 1);
  t.same(await run.accounts.open(run.url), { setupUrl: null }, 'a later start prints no link');
});

t.test('a printed token is good for 24 hours, and a new start replaces it', async (t) => {
  const run = await fresh(t);
  const { setupUrl } = await run.accounts.open(run.url);
  const second = new URLSearchParams(new URL(setupUrl ?? '').hash.slice(1)).get('token');
  const body = { email: 'a@example.org', name: 'A', password: PASSWORD };
  const setup = (token: string | null) =>
    run.call('POST', '/api/v1/auth/setup', { body: { ...body, token } });
  t.equal((await setup(run.setupToken)).status, 401);
  run.clock.nowMs += 24 * 60 * MINUTE_MS;
  t.equal((await setup(second)).status, 401);
  run.clock.nowMs -= 1;
  t.equal((await setup(second)).status, 201);
});

t.test('a login sets a cookie that scripts cannot read, and its csrf token opens changes', async (t) => {
  const run = await fresh(t);
  const admin = await firstAdmin(run);
  const login = await run.call('POST', '/api/v1/auth/login', {
    body: { email: ' ASHA@example.org', password: PASSWORD },
  });
  t.equal(login.status, 422, 'an address with a space is none');
  const answer = await run.call('POST', '/api/v1/auth/login', {
    body: { email: 'ASHA@example.org', password: PASSWORD },
  });
  const cookie = answer.headers.get('set-cookie') ?? '';
  t.match(cookie, /^trunkline_session=tks_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/);
  t.equal(answer.headers.get('cache-control'), 'no-store');

  const me = await run.call('GET', '/api/v1/auth/me', { headers: { cookie: admin.headers.cookie ?? '' } });
  t.match(me.json, { user: { email: 'asha@example.org', role: 'admin' } });
  t.equal(me.json.csrf_token, admin.headers['x-csrf-token'], 'a reloaded page gets its token again');
  t.notMatch(JSON.stringify(me.json), /argon2|password_hash|secret/);

  const create = (headers: Record<string, string>) =>
    run.call('POST', '/api/v1/users', {
      body: { email: 'x@example.org', name: 'X', role: 'agent' },
      headers: { cookie: admin.headers.cookie ?? '', ...headers },
    });
  t.equal((await create({})).status, 403, 'without the token');
  t.equal((await create({ 'x-csrf-token': answer.json.csrf_token })).status, 403, 'of another session');
  t.equal((await run.accounts.users.list({ limit: 9 })).length, 1, 'nothing was written');
  t.equal((await create({ 'x-csrf-token': admin.headers['x-csrf-token'] ?? '' })).status, 201);
});

t.test('behind https the cookie is bound to this host by its name', async (t) => {
  const run = await fresh(t, { baseUrl: 'https://calls.example.org' });
  await firstAdmin(run);
  const answer = await run.call('POST', '/api/v1/auth/login', {
    body: { email: 'asha@example.org', password: PASSWORD },
  });
  t.match(answer.headers.get('set-cookie'), /^__Host-trunkline_session=.*; Path=\/; .*SameSite=Lax; Secure/);
  const me = await run.call('GET', '/api/v1/auth/me', { headers: { cookie: cookieOf(answer) } });
  t.equal(me.status, 200);
});

t.test('a page of another site cannot log anybody in', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  const login = (headers: Record<string, string>) =>
    run.call('POST', '/api/v1/auth/login', {
      headers,
      body: { email: 'asha@example.org', password: PASSWORD },
    });
  t.equal((await login({ origin: 'https://evil.example' })).status, 403);
  t.equal((await login({ origin: 'null' })).status, 403);
  t.equal((await login({ 'sec-fetch-site': 'cross-site' })).status, 403);
  t.equal((await login({ origin: run.url })).status, 200);
});

t.test('what is wrong about a login is not told', async (t) => {
  const run = await fresh(t);
  const admin = await firstAdmin(run);
  const id = await addUser(run, admin, 'off@example.org', 'agent');
  await run.call('PATCH', `/api/v1/users/${id}`, { as: admin, body: { disabled: true } });
  const login = (email: string, password: string) =>
    run.call('POST', '/api/v1/auth/login', { body: { email, password } });
  const answers = [
    await login('nobody@example.org', PASSWORD),
    await login('asha@example.org', 'a wrong password'),
    await login('off@example.org', PASSWORD),
  ];
  for (const answer of answers) {
    t.equal(answer.status, 401);
    t.equal(answer.json.detail, answers[0]?.json.detail);
  }
});

t.test('an unknown address takes as long as a wrong password', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  const tookMs: Record<string, number[]> = { known: [], unknown: [] };
  for (let round = 0; round < 9; round++) {
    for (const [kind, email] of [
      ['known', 'asha@example.org'],
      ['unknown', 'nobody@example.org'],
    ] as const) {
      run.clock.nowMs += 60 * MINUTE_MS;
      const startMs = performance.now();
      const answer = await run.call('POST', '/api/v1/auth/login', { body: { email, password: 'wrong one' } });
      tookMs[kind]?.push(performance.now() - startMs);
      t.equal(answer.status, 401);
    }
  }
  const median = (kind: string) => tookMs[kind]?.sort((a, b) => a - b)[4] ?? 0;
  const ratio = median('known') / median('unknown');
  t.comment(`known ${median('known').toFixed(1)} ms, unknown ${median('unknown').toFixed(1)} ms`);
  // Without the decoy an unknown address answers some twenty times faster.
  t.ok(ratio > 0.3 && ratio < 3, `ratio ${ratio.toFixed(2)}`);
});

t.test('a session ends after 12 hours, and for admins after 30 idle minutes', async (t) => {
  const run = await fresh(t);
  const admin = await firstAdmin(run);
  await addUser(run, admin, 'agent@example.org', 'agent');
  const agent = await loggedIn(run, 'agent@example.org');
  const me = async (as: typeof admin) => (await run.call('GET', '/api/v1/auth/me', { as })).status;
  for (let minute = 0; minute < 60; minute += 20) {
    run.clock.nowMs += 20 * MINUTE_MS;
    t.equal(await me(admin), 200, 'work keeps it alive');
  }
  run.clock.nowMs += 30 * MINUTE_MS;
  t.equal(await me(admin), 401, 'idle');
  run.clock.nowMs -= 30 * MINUTE_MS;
  t.equal(await me(admin), 401, 'it stays over, also when the clock is set back');
  t.equal(await me(agent), 200);
  run.clock.nowMs += 11 * 60 * MINUTE_MS - 1;
  t.equal(await me(agent), 200);
  run.clock.nowMs += 1;
  t.equal(await me(agent), 401, '12 hours');
});

t.test('a logout ends the session at the server', async (t) => {
  const run = await fresh(t);
  const admin = await firstAdmin(run);
  const answer = await run.call('POST', '/api/v1/auth/logout', { as: admin });
  t.equal(answer.status, 204);
  t.match(answer.headers.get('set-cookie'), /^trunkline_session=; .*Max-Age=0$/);
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: admin })).status, 401);
});

t.test('guessing is held down, by account and by address, longer each time', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  const login = (email: string, password = 'a wrong password') =>
    run.call('POST', '/api/v1/auth/login', { body: { email, password } });
  const guesses = await Promise.all(Array.from({ length: 25 }, () => login('asha@example.org')));
  const tried = guesses.filter((answer) => answer.status === 401).length;
  t.equal(tried, 10, 'ten are tried, however many come at once');
  const refused = guesses.find((answer) => answer.status === 429);
  t.match(refused?.json, { code: 'rate_limited' });
  t.ok(Number(refused?.headers.get('retry-after')) > 0);
  t.equal((await login('asha@example.org', PASSWORD)).status, 429, 'the right password waits, too');
  t.equal((await login('other@example.org')).status, 429, 'and the address');
  run.clock.nowMs += MINUTE_MS;
  for (let i = 0; i < 10; i++) t.equal((await login('asha@example.org')).status, 401);
  run.clock.nowMs += MINUTE_MS;
  t.equal((await login('asha@example.org')).status, 429, 'the second time lasts two minutes');
  run.clock.nowMs += MINUTE_MS;
  t.equal((await login('asha@example.org', PASSWORD)).status, 200);
});

t.test('a bearer token lasts 15 minutes, and a refresh token is good once', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  const machine = await withTokens(run, 'asha@example.org');
  const me = (access: string) =>
    run.call('GET', '/api/v1/auth/me', { headers: { authorization: `Bearer ${access}` } });
  const refresh = (refresh_token: string) =>
    run.call('POST', '/api/v1/auth/refresh', { body: { refresh_token } });
  t.match((await me(machine.access)).json, { csrf_token: null });
  t.equal((await me(machine.refresh)).status, 401, 'a refresh token opens nothing');
  t.equal((await refresh(machine.access)).status, 401, 'an access token refreshes nothing');
  run.clock.nowMs += 15 * MINUTE_MS;
  t.equal((await me(machine.access)).status, 401);

  const next = await refresh(machine.refresh);
  t.match(next.json, { token_type: 'Bearer', expires_in: 900 });
  t.equal((await me(next.json.access_token)).status, 200);
  t.equal((await refresh(machine.refresh)).status, 401, 'the old one comes again: somebody has copied it');
  t.equal((await me(next.json.access_token)).status, 401, 'so the session is over');
  t.equal((await refresh(next.json.refresh_token)).status, 401);
  const told = await run.audit.list({ action: 'auth.refresh_reused', limit: 9 });
  t.equal(told.items.length, 1);
});

t.test('of many refreshes with one token at once exactly one gets new tokens', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  const machine = await withTokens(run, 'asha@example.org');
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      run.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: machine.refresh } }),
    ),
  );
  t.equal(answers.filter((answer) => answer.status === 200).length, 1);
  t.equal(answers.filter((answer) => answer.status === 401).length, 19);
});

t.test('refreshing does not prolong a session beyond 30 days', async (t) => {
  const run = await fresh(t);
  await firstAdmin(run);
  let { refresh } = await withTokens(run, 'asha@example.org');
  for (let day = 0; day < 29; day++) {
    run.clock.nowMs += 24 * 60 * MINUTE_MS;
    const next = await run.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: refresh } });
    t.equal(next.status, 200);
    refresh = next.json.refresh_token;
  }
  run.clock.nowMs += 24 * 60 * MINUTE_MS;
  t.equal((await run.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: refresh } })).status, 401);
});

t.test('a new password ends every other session and keeps this one', async (t) => {
  const run = await fresh(t);
  const here = await firstAdmin(run);
  const elsewhere = await loggedIn(run, 'asha@example.org');
  const machine = await withTokens(run, 'asha@example.org');
  const change = (current_password: string, new_password: string) =>
    run.call('POST', '/api/v1/auth/change-password', { as: here, body: { current_password, new_password } });
  t.equal((await change('wrong', 'quite another sentence')).status, 403);
  t.match(await change(PASSWORD, 'too short'), {
    status: 422,
    json: { errors: [{ pointer: '/new_password' }] },
  });
  t.equal((await change(PASSWORD, 'asha@example.org')).status, 422, 'the address is no password');
  t.equal((await change(PASSWORD, 'quite another sentence')).status, 200);
  const me = async (as: typeof here) => (await run.call('GET', '/api/v1/auth/me', { as })).status;
  t.equal(await me(here), 200);
  t.equal(await me(elsewhere), 401);
  t.equal(await me(machine), 401);
  const old = await run.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: machine.refresh } });
  t.equal(old.status, 401);
  await t.rejects(loggedIn(run, 'asha@example.org'), 'the old password is worth nothing');
  await loggedIn(run, 'asha@example.org', 'quite another sentence');
});

t.test('nothing in the store lets its reader log in', async (t) => {
  const run = await fresh(t);
  const admin = await firstAdmin(run);
  const machine = await withTokens(run, 'asha@example.org');
  const key = await run.call('POST', '/api/v1/api-keys', {
    as: admin,
    body: { name: 'k', scopes: ['calls:write'] },
  });
  const secrets = [
    PASSWORD,
    String(run.setupToken),
    (admin.headers.cookie ?? '').replace('trunkline_session=', ''),
    machine.access,
    machine.refresh,
    key.json.key as string,
  ];
  const kept: string[] = [];
  for (const name of STORED_TABLES) {
    for (const row of run.store.table(name).range({ limit: 1_000 })) kept.push(JSON.stringify(row));
  }
  t.ok(kept.length > 15, `${kept.length} rows were read`);
  const text = kept.join('\n');
  for (const secret of secrets) t.notOk(text.includes(secret), `${secret.slice(0, 4)}…`);
});

const STORED_TABLES = [
  'users',
  'users-by-email',
  'sessions',
  'session-credentials',
  'sessions-by-user',
  'sessions-by-expiry',
  'one-time-tokens',
  'one-time-tokens-by-purpose',
  'api-keys',
  'api-keys-by-hash',
  'audit-log',
];
