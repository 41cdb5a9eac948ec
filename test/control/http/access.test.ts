import t from 'tap';
import {
  operation,
  type PlaneUnderTest,
  planeUnderTest,
  ROLES,
  SCOPES,
} from '../../harness/plane-harness.ts';
import type { Operation } from './walks/api-document.ts';

/** Whether the API document says that the credential opens the operation. */
function opens(operation: Operation, credential: string): boolean {
  const [kind = '', ...rest] = credential.split(' ');
  const name = rest.join(' ');
  const lists = (scheme: string) => operation.security.flatMap((security) => security[scheme] ?? []);
  if (kind === 'core') return operation.security.some((security) => 'coreSecret' in security);
  if (kind === 'key') return lists('apiKey').includes(name);
  if (kind === 'bearer') return lists('bearer').includes(name);
  if (kind !== 'session') return false;
  const role = rest.at(-1) ?? '';
  const reads = operation.method === 'GET';
  return lists('session').includes(role) && (reads || rest.length === 1);
}

/** Ends the session that asks, so it comes last for each credential. */
const LAST = ['logOut'];

async function statusFor(plane: PlaneUnderTest, operation: Operation, credential: string): Promise<number> {
  const answer = await plane.send(operation, { headers: plane.credentials.get(credential) ?? {} });
  return answer.status;
}

const plane = await planeUnderTest();
t.teardown(() => plane.stop());

t.test('every credential opens exactly the routes that the API document says', async (t) => {
  const closed = plane.operations.filter((operation) => operation.security.length > 0);
  const ordered = [
    ...closed.filter((operation) => !LAST.includes(operation.id)),
    ...closed.filter((operation) => LAST.includes(operation.id)),
  ];
  t.ok(ordered.length > 20, `${ordered.length} routes ask who is calling`);
  let asked = 0;
  // Good sessions last: the others of the same person must not be ended by them.
  const credentials = [...plane.credentials.keys()].sort((a, b) => b.split(' ').length - a.split(' ').length);
  for (const credential of credentials) {
    for (const operation of ordered) {
      const status = await statusFor(plane, operation, credential);
      asked++;
      const refused = status === 401 || status === 403;
      if (refused === opens(operation, credential)) {
        t.fail(`${credential} at ${operation.id}: ${status}`);
      }
    }
  }
  t.equal(asked, ordered.length * (6 + 4 * ROLES.length + SCOPES.length));
});

t.test('a public route asks for nothing', async (t) => {
  for (const operation of plane.operations.filter((one) => one.security.length === 0)) {
    const answer = await plane.send(operation);
    t.not(answer.status, 403, operation.id);
  }
});

t.test('every route that changes something is closed, but for those that open the ingress', async (t) => {
  const open = plane.operations
    .filter((operation) => operation.security.length === 0 && operation.method !== 'GET')
    .map((operation) => operation.id)
    .sort();
  t.same(open, [
    'choosePassword',
    'createWidgetToken',
    'logIn',
    'postCallResults',
    'refreshTokens',
    'setUpFirstAdmin',
  ]);
});

t.test('a session that was logged out opens nothing any more', async (t) => {
  const me = plane.operations.find((operation) => operation.id === 'whoAmI');
  if (!me) throw new Error('whoAmI is gone');
  for (const role of ROLES) t.equal(await statusFor(plane, me, `session ${role}`), 401, role);
});

t.test('behind a trusted proxy the client is the one that the proxy names', async (t) => {
  const behind = await planeUnderTest({
    env: { TRUSTED_PROXIES: '127.0.0.0/8' },
    requestsPerMinute: 3,
    bare: true,
  });
  t.teardown(() => behind.stop());
  const document = operation(behind, 'getOpenApi');
  const from = async (client: string) =>
    (await behind.send(document, { headers: { 'x-forwarded-for': client } })).status;
  for (let i = 0; i < 3; i++) t.equal(await from('203.0.113.9'), 200);
  t.equal(await from('203.0.113.9'), 429);
  t.equal(await from('203.0.113.10'), 200, 'another client has a quota of its own');
  t.equal(await from('6.6.6.6, 203.0.113.9'), 429, 'what a client writes itself does not count');
});

t.test('a proxy that is no network stops the start with a sentence', async (t) => {
  await t.rejects(planeUnderTest({ env: { TRUSTED_PROXIES: 'somewhere' }, bare: true }), {
    code: 'bad_setting',
    message: /TRUSTED_PROXIES/,
  });
});
