import { connect } from 'node:net';
import t from 'tap';
import { ERRORS } from '../../../src/contracts/error-catalogue.ts';
import { type Answer, openers, operation, planeUnderTest } from '../../harness/plane-harness.ts';
import { CORE_SECRET } from '../../harness/served-api.ts';
import { badRequests } from './walks/bad-requests.ts';

const plane = await planeUnderTest({ requestsPerMinute: 1_000_000 });
t.teardown(() => plane.stop());

/** What makes an answer an error of this product: the form, a known code with its status, and an id for the log. */
function issuesOf(answer: Answer): string[] {
  if (!answer.headers.get('content-type')?.startsWith('application/problem+json')) return ['no problem+json'];
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  const known = ERRORS[problem.code as keyof typeof ERRORS];
  return [
    known?.status === answer.status ? '' : `code ${problem.code} with status ${answer.status}`,
    problem.status === answer.status ? '' : 'another status in the body',
    typeof problem.detail === 'string' && problem.detail !== '' ? '' : 'no detail',
    problem.request_id === answer.headers.get('x-request-id') ? '' : 'another request id in the body',
    problem.code !== 'validation_error' || Array.isArray(problem.errors) ? '' : 'no errors',
  ].filter((mistake) => mistake !== '');
}

t.test(
  'whatever is wrong with a request, it is refused in the same form and nothing is written',
  async (t) => {
    // The first use of a credential may be noted; what comes after must leave no trace.
    for (const headers of plane.credentials.values())
      await plane.send(operation(plane, 'listUsers'), { headers });
    let sent = 0;
    for (const operation of plane.operations) {
      for (const { what, status, parts } of badRequests(operation, openers(plane, operation))) {
        const before = plane.writes();
        const answer = await plane.send(operation, parts);
        sent++;
        const name = `${operation.id}, ${what}`;
        if (answer.status !== status) t.fail(`${name}: ${answer.status} for ${status} ${answer.text}`);
        else for (const mistake of issuesOf(answer)) t.fail(`${name}: ${mistake}`);
        if (!operation.statuses.includes(answer.status))
          t.fail(`${name}: ${answer.status} is not documented`);
        if (plane.writes() !== before) t.fail(`${name}: something was written`);
      }
    }
    t.ok(sent > plane.operations.length * 3, `${sent} bad requests were refused`);
  },
);

t.test('a body over the limit of its route is refused before it is read', async (t) => {
  const huge = `{"x":"${'y'.repeat(8 * 1_048_576)}"}`;
  for (const operation of plane.operations) {
    if (operation.body?.type !== 'application/json') continue;
    const answer = await plane.send(operation, { body: huge, headers: openers(plane, operation) });
    t.equal(answer.status, 413, operation.id);
    t.same(issuesOf(answer), []);
  }
});

t.test('a method that a path does not have is refused with those that it has', async (t) => {
  const paths = new Map<string, string[]>();
  for (const { path, method } of plane.operations) paths.set(path, [...(paths.get(path) ?? []), method]);
  for (const [path, methods] of paths) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (methods.includes(method)) continue;
      const answer = await fetch(plane.url(path.replaceAll(/\{\w+\}/g, 'nosuch')), { method });
      t.equal(answer.status, 405, `${method} ${path}`);
      const allow = (answer.headers.get('allow') ?? '').split(', ');
      for (const own of methods) t.ok(allow.includes(own), `${path} allows ${own}`);
      await answer.text();
    }
  }
});

t.test('a path that is written in another way leads nowhere', async (t) => {
  const tricks = (path: string) => [
    `${path}/`,
    `/${path}`,
    path.replace('/api', '/api/.'),
    path.replace('/v1', '/V1'),
    `${path}%00`,
    `${path}/%2e%2e/healthz`,
    `${path}%2f..%2fhealthz`,
    `${path};x=1`,
    path.replace('/v1/', '/v1//'),
    path.replace('/v1/', '/v1/%ff/'),
  ];
  for (const { path } of plane.operations.filter(
    (one) => one.path.startsWith('/api') && !one.path.includes('{'),
  )) {
    for (const trick of tricks(path)) {
      const { status } = await raw(
        `GET ${trick} HTTP/1.1\r\nHost: a\r\nX-Core-Secret: ${CORE_SECRET}\r\n\r\n`,
      );
      // With an id in the last place a trick can be an id, which nothing has; a guarded route says so even before that.
      t.ok([400, 401, 403, 404, 405].includes(status), `${trick}: ${status}`);
    }
  }
});

t.test('framing that two parsers could read differently is refused on every route', async (t) => {
  for (const operation of plane.operations) {
    if (operation.method === 'GET') continue;
    const path = operation.path.replaceAll(/\{\w+\}/g, 'nosuch');
    const head = `${operation.method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
    const { status, closed } = await raw(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`);
    t.equal(status, 400, operation.id);
    t.ok(closed, `${operation.id} ends the connection`);
  }
});

t.test('after all of it the plane serves as before', async (t) => {
  t.equal((await fetch(plane.url('/readyz'))).status, 200);
  t.same(plane.mismatches, [], 'every reply fits its declaration');
});

function raw(bytes: string): Promise<{ status: number; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(plane.control.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const done = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ status: Number(text.slice(9, 12)), closed });
    };
    // A refused request ends its connection; another is answered at once, and nothing more is awaited then.
    const timer = setTimeout(() => done(false), 2_000);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (!text.startsWith('HTTP/1.1 400')) done(false);
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
  });
}
