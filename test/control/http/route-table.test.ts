import t from 'tap';
import { Type } from 'typebox';
import { type AnyRoute, route } from '../../../src/control/http/route.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { serveTable } from '../../harness/route-table-harness.ts';
import { CORE_SECRET } from '../../harness/served-api.ts';

const seen: unknown[] = [];
const base = { operationId: 'op', summary: 's', tag: 't', responses: { 200: { description: 'd' } } };
const Thing = Type.Object(
  { name: Type.String({ minLength: 1 }), size: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
const routes: AnyRoute[] = [
  route({
    ...base,
    method: 'GET',
    path: '/things/{id}',
    auth: { kind: 'public' },
    params: Type.Object({ id: Type.String({ pattern: '^[a-z]{1,8}$' }) }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      deep: Type.Optional(Type.Boolean()),
      ratio: Type.Optional(Type.Number()),
      tag: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    }),
    handler: async ({ params, query, actor }) => ({ status: 200, json: { params, query, actor } }),
  }),
  route({
    ...base,
    method: 'POST',
    path: '/things',
    auth: { kind: 'users', roles: ['admin'], scopes: ['records:read'], orCoreSecret: true },
    body: { schema: Thing, maxBytes: 2_000 },
    handler: async ({ body, actor }) => {
      seen.push(body);
      return { status: 200, json: { body, actor: actor.type } };
    },
  }),
  route({
    ...base,
    method: 'DELETE',
    path: '/things/{id}',
    auth: { kind: 'users', roles: ['admin', 'analyst'] },
    params: Type.Object({ id: Type.String() }),
    handler: async ({ actor, body }) => ({ status: 200, json: { actor, body: body ?? null } }),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/core',
    auth: { kind: 'core_secret' },
    handler: async ({ actor }) => ({ status: 200, json: actor }),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/key',
    auth: { kind: 'api_key', scope: 'calls:write' },
    handler: async ({ actor }) => ({ status: 200, json: actor }),
  }),
  route({
    ...base,
    method: 'POST',
    path: '/widget',
    auth: { kind: 'public' },
    cors: true,
    rateLimit: 2,
    body: { schema: Thing },
    handler: async () => {
      throw new AppError('conflict', 'no widget today');
    },
  }),
  route({
    ...base,
    method: 'POST',
    path: '/bytes',
    auth: { kind: 'public' },
    body: { schema: Type.Unsafe<Buffer>(Type.String()), contentType: 'text/csv' },
    handler: async ({ body }) => ({ status: 200, json: { bytes: body.length } }),
  }),
];
const table = await serveTable(routes);
t.teardown(() => table.stop());

const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  fetch(table.url(path), {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
const admin = { authorization: 'Bearer admin' };

t.test('a handler gets values of the declared types, and public callers need nothing', async (t) => {
  const answer = await ask('GET', '/things/abc?limit=7&deep=true&ratio=-0.5&tag=a&tag=b');
  t.equal(answer.status, 200);
  t.same(await answer.json(), {
    params: { id: 'abc' },
    query: { limit: 7, deep: true, ratio: -0.5, tag: ['a', 'b'] },
    actor: { type: 'public' },
  });
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
});

t.test('a query that does not fit is refused with the name of the field', async (t) => {
  const cases: [string, string, string][] = [
    ['limit=0', 'limit', 'minimum'],
    ['limit=07', 'limit', 'type'],
    ['limit=7.0', 'limit', 'type'],
    ['limit=%207', 'limit', 'type'],
    ['limit=1e1', 'limit', 'type'],
    ['limit=', 'limit', 'type'],
    ['limit=1&limit=2', 'limit', 'value'],
    ['deep=1', 'deep', 'type'],
    ['deep=TRUE', 'deep', 'type'],
    ['ratio=.5', 'ratio', 'type'],
    ['ratio=NaN', 'ratio', 'type'],
    ['unknown=1', 'unknown', 'unknown_field'],
    ['__proto__=1', '__proto__', 'unknown_field'],
    ['constructor=1', 'constructor', 'unknown_field'],
    ['tag=1&tag=2&tag=3&tag=4', 'tag', 'maxItems'],
  ];
  for (const [query, name, type] of cases) {
    const answer = await ask('GET', `/things/abc?${query}`);
    t.equal(answer.status, 422, query);
    t.match(await answer.json(), {
      code: 'validation_error',
      errors: [{ loc: ['query', name], pointer: `/${name}`, type, msg: String }],
    });
  }
  t.equal((await ask('GET', `/things/abc?${'tag=1&'.repeat(500)}`)).status, 422);
});

t.test('a part of the path that cannot name anything is a 404', async (t) => {
  for (const id of ['ABC', 'toolongname', '%00', '..%2f', 'a%20b']) {
    t.equal((await ask('GET', `/things/${id}`)).status, 404, id);
  }
});

t.test(
  'a body that does not fit is refused with the place of every mistake, and nothing happens',
  async (t) => {
    seen.length = 0;
    const errorsOf = async (body: string) => {
      const answer = await ask('POST', '/things', admin, body);
      t.equal(answer.status, 422, body);
      return ((await answer.json()) as { errors: { pointer: string; type: string; loc: unknown[] }[] })
        .errors;
    };
    t.match(await errorsOf('{}'), [{ pointer: '/name', type: 'missing', loc: ['body', 'name'] }]);
    t.match(await errorsOf('{"name":1,"size":"x","more/of~it":true}'), [
      { pointer: '/more~1of~0it', type: 'unknown_field', loc: ['body', 'more/of~it'] },
      { pointer: '/name', type: 'type' },
      { pointer: '/size', type: 'type' },
    ]);
    for (const body of ['null', '[]', '"x"', '7', '{"name":""}', '{"name":"a","__proto__":{}}'])
      await errorsOf(body);
    const statuses = async (body: string | Uint8Array<ArrayBuffer> | undefined, type: string | undefined) =>
      (
        await fetch(table.url('/things'), {
          method: 'POST',
          headers: { ...admin, ...(type === undefined ? {} : { 'content-type': type }) },
          ...(body === undefined ? {} : { body }),
        })
      ).status;
    t.equal(await statuses(undefined, 'application/json'), 400);
    t.equal(await statuses('{"name":"a"', 'application/json'), 400);
    t.equal(await statuses('{"name":"a","name":"b"}', 'application/json'), 400);
    t.equal(await statuses(new Uint8Array([0x7b, 0xff]), 'application/json'), 400);
    t.equal(await statuses('{"name":"a"}', 'text/plain'), 415);
    t.equal(await statuses(`{"name":"${'x'.repeat(2_000)}"}`, 'application/json'), 413);
    t.same(seen, [], 'no handler saw any of it');
    t.equal(await statuses('{"name":"a"}', 'application/json'), 200);
  },
);

t.test('who calls is found out before anything is read, by the first credential that is sent', async (t) => {
  const post = async (headers: Record<string, string>) =>
    (await ask('POST', '/things', headers, '{"name":"a"}')).status;
  t.equal(await post(admin), 200);
  t.equal(await post({ 'x-api-key': 'reader' }), 200);
  t.equal(await post({ 'x-core-secret': CORE_SECRET }), 200);
  t.equal(await post({ cookie: 'other=1; trunkline_session=admin', 'x-csrf-token': 'csrf' }), 200);
  t.equal(await post({ cookie: '__Host-trunkline_session=admin', 'x-csrf-token': 'csrf' }), 200);
  t.equal(await post({ cookie: 'trunkline_session=admin' }), 403, 'no CSRF token');
  t.equal(await post({ authorization: 'Bearer analyst' }), 403, 'role too low');
  t.equal(await post({ authorization: 'Bearer nobody' }), 401);
  t.equal(await post({ authorization: 'Basic admin' }), 401);
  t.equal(await post({ authorization: `Bearer ${'a'.repeat(5_000)}` }), 401);
  t.equal(await post({ 'x-api-key': 'wrong', ...admin }), 401, 'a wrong credential is not passed over');
  t.equal(await post({ cookie: 'trunkline_session=old', 'x-csrf-token': 'csrf' }), 401);
  t.equal(await post({ 'x-core-secret': 'wrong' }), 403);
  t.equal(await post({}), 403);
  t.equal(
    (await ask('POST', '/things', {}, 'not json')).status,
    403,
    'an outsider learns nothing about the body',
  );

  const remove = async (headers: Record<string, string>) =>
    (await ask('DELETE', '/things/a', headers)).status;
  t.equal(await remove({ authorization: 'Bearer analyst' }), 200);
  t.equal(await remove({ 'x-api-key': 'reader' }), 403, 'a route without scopes takes no key');
  t.equal(await remove({ 'x-core-secret': CORE_SECRET }), 401, 'nor the core secret');
  t.equal(await remove({}), 401);

  t.equal((await ask('GET', '/core', { 'x-core-secret': CORE_SECRET })).status, 200);
  t.equal((await ask('GET', '/core', admin)).status, 403);
  t.equal((await ask('GET', '/key')).status, 401);
  t.equal((await ask('GET', '/key', admin)).status, 401);
  t.equal((await ask('GET', '/key', { 'x-api-key': 'reader' })).status, 403, 'another scope');
});

t.test('without a secret local callers are served, and pages of other sites are not', async (t) => {
  const open = await serveTable(routes, { coreSecrets: [] });
  t.teardown(() => open.stop());
  const status = async (headers: Record<string, string>) =>
    (await fetch(open.url('/core'), { headers })).status;
  t.equal(await status({}), 200);
  t.equal(await status({ origin: 'http://127.0.0.1:8080' }), 200);
  t.equal(await status({ origin: 'https://evil.example' }), 403);
  t.equal(await status({ origin: 'null' }), 403);
  t.equal(await status({ 'x-forwarded-for': '203.0.113.9' }), 403);
});

t.test('a route that takes no body takes an empty object and nothing else', async (t) => {
  t.same((await (await ask('DELETE', '/things/a', admin, '{}')).json()) as object, {
    actor: { type: 'user', id: 'admin', name: 'admin', role: 'admin', sessionId: 's' },
    body: null,
  });
  t.equal((await ask('DELETE', '/things/a', admin, '{"a":1}')).status, 422);
  t.equal((await ask('DELETE', '/things/a', admin, '[')).status, 400);
  t.equal((await ask('DELETE', '/things/a', { ...admin, 'content-type': 'text/plain' }, '{}')).status, 415);
  t.equal((await ask('DELETE', '/things/a', admin, `{"a":"${'x'.repeat(2_000)}"}`)).status, 413);
});

t.test('a body of another type reaches its handler as bytes', async (t) => {
  const send = (type: string) =>
    fetch(table.url('/bytes'), { method: 'POST', headers: { 'content-type': type }, body: 'a,b\n1,2\n' });
  t.same(await (await send('text/csv; charset=utf-8')).json(), { bytes: 8 });
  t.equal((await send('application/json')).status, 415);
});

t.test('pages of any origin may read every answer of a route for them, errors included', async (t) => {
  const preflight = await ask('OPTIONS', '/widget');
  t.equal(preflight.status, 204);
  t.equal(preflight.headers.get('access-control-allow-methods'), 'POST');
  for (const answer of [
    preflight,
    await ask('POST', '/widget', {}, '{"name":"a"}'),
    await ask('POST', '/widget', {}, '{'),
    await ask('POST', '/widget', {}, '{"name":"a"}'),
    await ask('PUT', '/widget'),
  ]) {
    t.equal(answer.headers.get('access-control-allow-origin'), '*', String(answer.status));
    await answer.text();
  }
  t.equal((await ask('GET', '/things/abc')).headers.get('access-control-allow-origin'), null);
  t.equal((await ask('OPTIONS', '/things/abc')).status, 405);
});

t.test('each credential has its own quota, which comes back after a minute', async (t) => {
  table.pass(60_000);
  const first = await ask('POST', '/widget', {}, '{"name":"a"}');
  t.equal(first.status, 409);
  t.equal(first.headers.get('ratelimit-policy'), '"op";q=2;w=60');
  t.equal(first.headers.get('ratelimit'), '"op";r=1;t=60');
  t.equal((await ask('POST', '/widget', {}, '{')).status, 400, 'a bad request counts too');
  const over = await ask('POST', '/widget', {}, '{"name":"a"}');
  t.equal(over.status, 429);
  t.equal(over.headers.get('retry-after'), '60');
  t.equal(over.headers.get('ratelimit'), '"op";r=0;t=60');
  t.match(await over.json(), {
    code: 'rate_limited',
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'violated-policies': [{ name: 'op', quota: 2 }],
  });
  const other = await ask('GET', '/things/abc');
  t.equal(
    other.headers.get('ratelimit-policy'),
    '"default";q=600;w=60',
    'other routes have a quota of their own',
  );
  t.equal((await ask('GET', '/core', { 'x-core-secret': CORE_SECRET })).headers.get('ratelimit'), null);
  table.pass(60_000);
  t.equal((await ask('POST', '/widget', {}, '{"name":"a"}')).status, 409);
});
