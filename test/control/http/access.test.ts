import t from 'tap';
import type { Operation } from './support/api-document.ts';
import { type PlaneUnderTest, planeUnderTest, ROLES, SCOPES } from './support/plane-under-test.ts';

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

t.test('every route that changes something is closed, but for those that open the door', async (t) => {
  const open = plane.operations
    .filter((operation) => operation.security.length === 0 && operation.method !== 'GET')
    .map((operation) => operation.id)
    .sort();
  t.same(open, ['choosePassword', 'logIn', 'postCallResults', 'refreshTokens', 'setUpFirstAdmin']);
});

t.test('a session that was logged out opens nothing any more', async (t) => {
  const me = plane.operations.find((operation) => operation.id === 'whoAmI');
  if (!me) throw new Error('whoAmI is gone');
  for (const role of ROLES) t.equal(await statusFor(plane, me, `session ${role}`), 401, role);
});
