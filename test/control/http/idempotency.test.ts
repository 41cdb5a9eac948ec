import t from 'tap';
import { Type } from 'typebox';
import { route } from '../../../src/control/http/route.ts';
import { AppError } from '../../../src/platform/app-error.ts';
import { serveTable } from '../../harness/route-table-harness.ts';

let made = 0;
let release: () => void = () => undefined;
const table = await serveTable([
  route({
    method: 'POST',
    path: '/things',
    operationId: 'makeThing',
    summary: 's',
    tag: 't',
    auth: { kind: 'users', roles: ['admin', 'analyst'] },
    idempotent: true,
    body: {
      schema: Type.Object({ name: Type.String(), wait: Type.Optional(Type.Boolean()) }),
    },
    responses: { 201: { description: 'Made' } },
    async handler({ body }) {
      if (body.name === 'taken') throw new AppError('conflict', 'there is one already');
      if (body.wait) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      made++;
      return { status: 201, headers: { location: `/things/${made}` }, json: { id: made, name: body.name } };
    },
  }),
]);
t.teardown(() => table.stop());

const post = (key: string | null, body: object, who = 'admin') =>
  fetch(table.url('/things'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${who}`,
      ...(key === null ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });

t.test(
  'the same request under the same key is done once and answered the same, also after a restart',
  async (t) => {
    made = 0;
    const first = await post('key-1', { name: 'a' });
    t.equal(first.status, 201);
    t.equal(first.headers.get('idempotency-replayed'), null);
    const again = await post('key-1', { name: 'a' });
    t.equal(again.status, 201);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(again.headers.get('location'), '/things/1');
    t.same(await again.json(), await first.json());
    await table.restart();
    t.equal((await post('key-1', { name: 'a' })).headers.get('idempotency-replayed'), 'true');
    t.equal(made, 1);
  },
);

t.test('another request under the same key is refused, and another caller has keys of its own', async (t) => {
  const other = await post('key-1', { name: 'b' });
  t.equal(other.status, 422);
  t.match(await other.json(), { code: 'idempotency_mismatch' });
  t.equal((await post('key-1', { name: 'b' }, 'analyst')).headers.get('idempotency-replayed'), null);
});

t.test('a repeat while the first is at work is told to wait', async (t) => {
  made = 0;
  const first = post('key-2', { name: 'a', wait: true });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = await post('key-2', { name: 'a', wait: true });
  t.equal(second.status, 409);
  t.equal(second.headers.get('retry-after'), '1');
  t.match(await second.json(), { code: 'idempotency_in_progress' });
  release();
  t.equal((await first).status, 201);
  t.equal(made, 1);
});

t.test('a refusal is not kept: it has changed nothing', async (t) => {
  t.equal((await post('key-3', { name: 'taken' })).status, 409);
  t.equal((await post('key-3', { name: 'free' })).status, 201);
});

t.test('a kept answer is forgotten after a day', async (t) => {
  made = 0;
  await post('key-4', { name: 'a' });
  table.pass(24 * 3_600_000 + 1);
  t.equal((await post('key-4', { name: 'other' })).status, 201);
  t.equal(made, 2);
});

t.test('a key that is no key is refused, and without one every request is done', async (t) => {
  made = 0;
  for (const key of ['x'.repeat(256), 'with space', '\u00e9']) {
    const answer = await post(key, { name: 'a' });
    t.equal(answer.status, 422, key.slice(0, 20));
    t.match(await answer.json(), { errors: [{ loc: ['header', 'Idempotency-Key'] }] });
  }
  await post(null, { name: 'a' });
  await post(null, { name: 'a' });
  t.equal(made, 2);
});
