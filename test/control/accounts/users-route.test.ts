import t from 'tap';
import {
  addUser,
  firstAdmin,
  loggedIn,
  PASSWORD,
  runAccounts,
  withTokens,
} from '../../harness/accounts-harness.ts';

t.test('a user is created, changed under If-Match, listed and removed', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const made = await run.call('POST', '/api/v1/users', {
    as: admin,
    body: { email: 'Ravi@example.org', name: ' Ravi ', role: 'agent', skills: ['billing'] },
  });
  t.equal(made.status, 201);
  t.match(made.json.user, { email: 'ravi@example.org', name: 'Ravi', state: 'invited', skills: ['billing'] });
  t.match(made.json.password_url, /\/choose-password#token=tko_/);
  const path = `/api/v1/users/${made.json.user.id}`;
  t.equal((await run.call('GET', path, { as: admin })).headers.get('etag'), '"1"');

  const patch = (body: unknown, headers = {}) => run.call('PATCH', path, { as: admin, body, headers });
  t.match(await patch({ role: 'supervisor' }, { 'if-match': '"1"' }), {
    status: 200,
    json: { role: 'supervisor', version: 2 },
  });
  t.equal((await patch({ name: 'Other' }, { 'if-match': '"1"' })).status, 412);
  t.equal((await patch({})).status, 422);
  t.equal((await patch({ role: 'owner' })).status, 422);
  t.equal((await patch({ password_hash: 'x' })).status, 422);
  t.equal((await patch({ email: 'ASHA@example.org' })).status, 409, 'the address of another user');
  t.equal((await patch({ email: 'ravi.iyer@example.org' })).status, 200);
  const again = await run.call('POST', '/api/v1/users', {
    as: admin,
    body: { email: 'ravi@example.org', name: 'Another', role: 'agent' },
  });
  t.equal(again.status, 201, 'the old address is free');

  const first = await run.call('GET', '/api/v1/users?limit=2', { as: admin });
  t.equal(first.json.items.length, 2);
  t.equal(first.json.has_more, true);
  const rest = await run.call('GET', `/api/v1/users?limit=2&cursor=${first.json.next_cursor}`, { as: admin });
  const ids = [...first.json.items, ...rest.json.items].map((user: { id: string }) => user.id);
  t.equal(new Set(ids).size, 3);
  t.equal(rest.json.next_cursor, null);
  t.equal((await run.call('GET', '/api/v1/users?cursor=xyz', { as: admin })).status, 422);

  t.equal((await run.call('DELETE', path, { as: admin, headers: { 'if-match': '"2"' } })).status, 412);
  t.equal((await run.call('DELETE', path, { as: admin })).status, 204);
  t.equal((await run.call('GET', path, { as: admin })).status, 404);
  t.equal((await run.call('DELETE', path, { as: admin })).status, 404);
});

t.test('the last active admin can be neither demoted, disabled nor removed', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const id = (await run.call('GET', '/api/v1/auth/me', { as: admin })).json.user.id as string;
  const path = `/api/v1/users/${id}`;
  // One who has been invited only and one who is disabled open nothing.
  await run.call('POST', '/api/v1/users', {
    as: admin,
    body: { email: 'invited@example.org', name: 'I', role: 'admin' },
  });
  const off = await addUser(run, admin, 'off@example.org', 'admin');
  await run.call('PATCH', `/api/v1/users/${off}`, { as: admin, body: { disabled: true } });
  for (const body of [{ role: 'agent' }, { disabled: true }]) {
    t.match(await run.call('PATCH', path, { as: admin, body }), { status: 409, json: { code: 'conflict' } });
  }
  t.equal((await run.call('DELETE', path, { as: admin })).status, 409);
  t.equal((await run.call('PATCH', path, { as: admin, body: { name: 'Still here' } })).status, 200);

  const second = await addUser(run, admin, 'second@example.org', 'admin');
  const both = await Promise.all([
    run.call('PATCH', path, { as: admin, body: { role: 'agent' } }),
    run.call('PATCH', `/api/v1/users/${second}`, { as: admin, body: { role: 'agent' } }),
  ]);
  t.equal(both.filter(({ status }) => status === 200).length, 1, 'of two at once one is demoted');
  t.equal(await run.accounts.users.hasActiveAdmin(), true);
});

t.test('a person who was invited chooses a password with the link, once', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const made = await run.call('POST', '/api/v1/users', {
    as: admin,
    body: { email: 'ravi@example.org', name: 'Ravi', role: 'agent' },
  });
  const token = new URLSearchParams(new URL(made.json.password_url).hash.slice(1)).get('token');
  await t.rejects(loggedIn(run, 'ravi@example.org'), 'no password, no login');
  const choose = (password: string) =>
    run.call('POST', '/api/v1/auth/choose-password', { body: { token, password } });
  t.equal((await choose('ravi')).status, 422, 'a bad one does not use the link up');
  const answers = await Promise.all([choose(PASSWORD), choose(`${PASSWORD} two`)]);
  t.same(answers.map(({ status }) => status).sort(), [200, 401]);
  const chosen = answers[0]?.status === 200 ? PASSWORD : `${PASSWORD} two`;
  await loggedIn(run, 'ravi@example.org', chosen);
  t.equal((await choose(PASSWORD)).status, 401);
});

t.test('a reset stops the old password, every session and every token at once', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const id = await addUser(run, admin, 'ravi@example.org', 'supervisor');
  const ravi = await loggedIn(run, 'ravi@example.org');
  const machine = await withTokens(run, 'ravi@example.org');
  const reset = await run.call('POST', `/api/v1/users/${id}/reset`, { as: admin });
  t.equal(reset.json.user.state, 'reset');
  for (const as of [ravi, machine]) t.equal((await run.call('GET', '/api/v1/auth/me', { as })).status, 401);
  await t.rejects(loggedIn(run, 'ravi@example.org'));
  const token = new URLSearchParams(new URL(reset.json.password_url).hash.slice(1)).get('token');
  run.clock.nowMs += 24 * 3_600_000;
  const choose = () =>
    run.call('POST', '/api/v1/auth/choose-password', { body: { token, password: 'quite another sentence' } });
  t.equal((await choose()).status, 401, 'the link lasts 24 hours');
  run.clock.nowMs -= 1;
  t.equal((await choose()).status, 200);
  await loggedIn(run, 'ravi@example.org', 'quite another sentence');
});

t.test('a role that is taken away is gone with the next request; disabling ends sessions', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const id = await addUser(run, admin, 'second@example.org', 'admin');
  const second = await loggedIn(run, 'second@example.org');
  t.equal((await run.call('GET', '/api/v1/users', { as: second })).status, 200);
  await run.call('PATCH', `/api/v1/users/${id}`, { as: admin, body: { role: 'analyst' } });
  t.equal((await run.call('GET', '/api/v1/users', { as: second })).status, 403);
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: second })).status, 200);
  await run.call('PATCH', `/api/v1/users/${id}`, { as: admin, body: { disabled: true } });
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: second })).status, 401);
  await run.call('PATCH', `/api/v1/users/${id}`, { as: admin, body: { disabled: false } });
  t.equal((await run.call('GET', '/api/v1/auth/me', { as: second })).status, 401, 'enabled, it stays over');
});

t.test('R165 users, keys and the audit log are for admins', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const routes = ['/api/v1/users', '/api/v1/api-keys', '/api/v1/audit-log', '/api/v1/audit-log/verify'];
  for (const role of ['supervisor', 'agent', 'analyst']) {
    await addUser(run, admin, `${role}@example.org`, role);
    const as = await loggedIn(run, `${role}@example.org`);
    for (const path of routes) t.equal((await run.call('GET', path, { as })).status, 403, `${role} ${path}`);
  }
  for (const path of routes) {
    t.equal((await run.call('GET', path)).status, 401);
    t.equal((await run.call('GET', path, { headers: { 'x-core-secret': 'the core secret' } })).status, 401);
    t.equal((await run.call('GET', path, { as: admin })).status, 200);
  }
});

t.test('every change is in the audit log with who, what and from where', async (t) => {
  const run = await runAccounts();
  t.teardown(() => run.stop());
  const admin = await firstAdmin(run);
  const id = await addUser(run, admin, 'ravi@example.org', 'agent');
  await run.call('PATCH', `/api/v1/users/${id}`, { as: admin, body: { role: 'analyst' } });
  const page = await run.call('GET', `/api/v1/audit-log?target=user:${id}`, { as: admin });
  t.same(
    page.json.items.map((entry: { action: string }) => entry.action),
    ['user.update', 'user.create'],
  );
  t.match(page.json.items[0], {
    actor: { type: 'user', name: 'Asha Rao', ip: '127.0.0.1' },
    before: { role: 'agent' },
    after: { role: 'analyst', password_hash: /^hash:[0-9a-f]{16}$/ },
    request_id: /./,
  });
  const proof = await run.call('GET', '/api/v1/audit-log/verify', { as: admin });
  t.match(proof.json, { ok: true, problems: [] });
  const { seq, hash } = proof.json.head;
  const anchored = (h: string) =>
    run.call('GET', `/api/v1/audit-log/verify?anchor_seq=${seq}&anchor_hash=${h}`, { as: admin });
  t.equal((await anchored(hash)).json.ok, true);
  t.match((await anchored('a'.repeat(64))).json, { ok: false, problems: [{ kind: 'anchor_differs' }] });
});
