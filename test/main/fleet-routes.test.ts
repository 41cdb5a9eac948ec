import fc from 'fast-check';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { ERRORS } from '../../src/contracts/error-catalogue.ts';
import { FleetErrorSchema } from '../../src/contracts/fleet-refusals.ts';
import { FLEET_ROUTES } from '../../src/contracts/fleet-routes.ts';
import { openApiDocument } from '../../src/control/api-docs/openapi.ts';
import { type Operation, readOperations } from '../control/http/walks/api-document.ts';
import { arbitraryRequest } from '../control/http/walks/arbitrary-request.ts';
import { badRequests } from '../control/http/walks/bad-requests.ts';
import { type Answer, type RequestParts, sendTo } from '../harness/plane-harness.ts';
import { MEDIA_ENV, ordersIn, SECRET } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { fleetHealth, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(180_000);

/** Requests per operation; a longer search is a matter of the seed and this number. */
const REQUESTS = 25;
const SEED = 20_261_122;

const dataDir = await tempFolder();
const main = await startWorker(dataDir, MEDIA_ENV, { reservationMs: 1_000, joinWithinMs: 1_000 });
const origin = `http://127.0.0.1:${main.fleetPort}`;
t.teardown(async () => {
  for (const { callId } of ordersIn(dataDir)) await order('hangUpCall', { params: { call_id: callId } });
  await main.stop();
});

const document = JSON.parse(
  JSON.stringify(openApiDocument({ routes: [], version: '0', baseUrl: 'http://plane', fleetUrl: origin })),
) as Record<string, unknown>;
const operations = readOperations(document, 'fleet');

function order(id: string, parts: RequestParts): Promise<Answer> {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`the fleet port has no operation ${id}`);
  return send(operation, parts);
}

function send(operation: Operation, parts: RequestParts): Promise<Answer> {
  return sendTo(origin, operation, { ...parts, headers: { 'x-core-secret': SECRET, ...parts.headers } });
}

const fleetError = Compile(FleetErrorSchema);

/** What makes a refusal one of this port: its form, a code of the catalogue, and the wait both times or not at all. */
function issuesOf({ status, headers, text }: Answer): string[] {
  const body = JSON.parse(text) as Record<string, unknown>;
  const wait = body.retry_after_seconds;
  return [
    headers.get('content-type') === 'application/json' ? '' : 'another content type',
    headers.get('cache-control') === 'no-store' ? '' : 'it may be stored',
    fleetError.Check(body) ? '' : 'not the error of this port',
    String(body.code) in ERRORS ? '' : `code ${body.code}`,
    (wait === undefined ? null : String(wait)) === headers.get('retry-after') ? '' : 'another wait',
    status !== 422 || Array.isArray(body.errors) ? '' : 'no errors',
  ].filter((mistake) => mistake !== '');
}

t.test('every route that is declared is in the document, but what is hidden', async (t) => {
  const shown = FLEET_ROUTES.filter(({ hidden }) => !hidden).map(({ operationId }) => operationId);
  t.same(operations.map(({ id }) => id).sort(), shown.sort());
});

t.test('whatever is wrong with the body of an order, it is refused in the same form', async (t) => {
  let sent = 0;
  for (const operation of operations.filter(({ body }) => body !== null)) {
    const bad = badRequests(operation, {}).filter(({ parts }) => parts.query === undefined);
    for (const { what, status, parts } of [...bad, { what: 'too large', status: 413, parts: HUGE }]) {
      const answer = await send(operation, parts);
      sent++;
      const name = `${operation.id}, ${what}`;
      if (answer.status !== status) t.fail(`${name}: ${answer.status} for ${status} ${answer.text}`);
      else for (const mistake of issuesOf(answer)) t.fail(`${name}: ${mistake}`);
      if (!operation.statuses.includes(status)) t.fail(`${name}: ${status} is not documented`);
    }
    const stranger = await send(operation, { json: {}, headers: { 'x-core-secret': 'wrong' } });
    t.equal(stranger.status, 403, `${operation.id} by a stranger, whatever the body`);
  }
  t.ok(sent > operations.length * 5, `${sent} bad requests were refused`);
  t.same(ordersIn(dataDir), [], 'no slot was touched');
});

const HUGE: RequestParts = { body: `{"x":"${'y'.repeat(200_000)}"}` };

t.test('a method that a path does not have is refused with those that it has', async (t) => {
  const paths = Map.groupBy(operations, ({ path }) => path);
  for (const [path, known] of paths) {
    const own = known.map(({ method }) => method);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (own.includes(method)) continue;
      const answer = await fetch(`${origin}${path.replaceAll(/\{\w+\}/g, 'nosuch')}`, { method });
      t.equal(answer.status, 405, `${method} ${path}`);
      const allowed = (answer.headers.get('allow') ?? '').split(', ');
      for (const name of own) t.ok(allowed.includes(name), `${path} allows ${name}`);
      t.same(await answer.json(), { error: 'Method not allowed', code: 'method_not_allowed' });
    }
  }
});

t.test('a path that is written in another way leads nowhere', async (t) => {
  for (const { path } of operations) {
    const own = path.replaceAll(/\{\w+\}/g, 'nosuch');
    for (const trick of [`${own}/`, own.toUpperCase(), `${own}%00`, `${own};x=1`, `${own}%2f..`]) {
      const answer = await fetch(`${origin}${trick}`, {
        method: 'POST',
        headers: { 'x-core-secret': SECRET },
      });
      t.ok([404, 405].includes(answer.status), `${trick}: ${answer.status}`);
      await answer.text();
    }
  }
});

t.test('no request that the document can describe is a defect or answered with another status', async (t) => {
  const successes = new Map(
    FLEET_ROUTES.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { schema }]) =>
        schema ? [[`${operationId} ${status}`, Compile(schema)] as const] : [],
      ),
    ),
  );
  const pools = new Map([['bot_id', ['clinic']]]);
  const seen = new Map<number, number>();
  for (const one of operations) {
    const arbitrary = fc.tuple(
      arbitraryRequest(one, pools),
      fc.constantFrom(SECRET, SECRET, SECRET, 'wrong'),
    );
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([parts, secret]) => {
        const answer = await send(one, { ...parts, headers: { 'x-core-secret': secret } });
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        const told = `${one.id}: ${answer.status} ${answer.text.slice(0, 300)}`;
        if (!one.statuses.includes(answer.status)) throw new Error(`${told} is not documented`);
        const success = successes.get(`${one.id} ${answer.status}`);
        if (success && !success.Check(JSON.parse(answer.text))) throw new Error(`${told} does not fit`);
        if (answer.status >= 400 && issuesOf(answer).length > 0) {
          throw new Error(`${told}: ${issuesOf(answer).join(', ')}`);
        }
      }),
      { seed: SEED, numRuns: REQUESTS, endOnFailure: true },
    );
  }
  t.comment(JSON.stringify(Object.fromEntries(seen)));
  t.ok((seen.get(200) ?? 0) > REQUESTS, 'many of them succeed');
});

t.test('after all of it the host takes calls as before', async (t) => {
  for (const { callId } of ordersIn(dataDir)) await order('hangUpCall', { params: { call_id: callId } });
  await until(async () => (await fleetHealth(main.fleetPort ?? 0)).fleet_available === 2);
  t.match(await fleetHealth(main.fleetPort ?? 0), { fleet_available: 2, accepting: true });
});
