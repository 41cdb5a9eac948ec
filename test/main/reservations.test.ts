import t, { type Test } from 'tap';
import { MEDIA_ENV, ordersIn, post, SECRET } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { fleetHealth, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const PATH = '/reservations';

async function worker(t: Test, options: { env?: Record<string, string>; reservationMs?: number } = {}) {
  const dataDir = tempFolder();
  const { reservationMs = 60_000 } = options;
  const main = await startWorker(dataDir, { ...MEDIA_ENV, ...options.env }, { reservationMs });
  const port = main.fleetPort ?? 0;
  const made: string[] = [];
  t.teardown(async () => {
    // A stop waits for reservations; this test has no patience for those that it left.
    for (const id of made) await ended(port, id).catch(() => undefined);
    await main.stop();
  });
  const reserve = async (): Promise<string> => {
    const id: string = (await post(port, PATH, {})).json.reservation_id;
    made.push(id);
    return id;
  };
  return { main, dataDir, port, reserve };
}

const ended = (port: number, id: string) =>
  post(port, `${PATH}/${id}`, undefined, { 'x-core-secret': SECRET }, 'DELETE');

t.test('R166 a reservation keeps a slot from everybody else until it is given back', async (t) => {
  const { port, reserve } = await worker(t);
  t.match(await post(port, PATH, {}, {}), { status: 403, json: { error: 'Unauthorized' } });
  t.equal((await post(port, PATH, { more: 1 })).status, 422);
  const made = await post(port, PATH, { campaign_id: 'cmp_1', bot_id: 'clinic' });
  t.match(made, { status: 201, json: { reservation_id: String, expires_at: String } });
  t.ok(Date.parse(made.json.expires_at) > Date.now());
  t.teardown(() => ended(port, made.json.reservation_id).catch(() => undefined));
  await reserve();
  t.match(await fleetHealth(port), { fleet_available: 0, fleet_reserved: 2, fleet_busy: 0 });
  const { workers = [] } = await fleetHealth(port, { 'x-core-secret': SECRET });
  t.same(
    workers.map(({ state }) => state),
    ['reserved', 'reserved'],
  );
  t.match(await post(port, PATH, {}), { status: 429, json: { error: 'At capacity' } });
  t.match(
    await post(port, '/rtc/dialout', { bot_id: 'clinic', to_number: '+911150000001' }),
    { status: 429 },
    'nor does a dialout get it',
  );
  t.equal((await ended(port, made.json.reservation_id)).status, 200);
  t.equal((await ended(port, made.json.reservation_id)).status, 200, 'twice is once');
  t.match(await fleetHealth(port), { fleet_available: 1, fleet_reserved: 1 });
});

t.test('a reservation that nobody renews expires, and one that is renewed does not', async (t) => {
  const { port, reserve } = await worker(t, { reservationMs: 4_000 });
  const [renewed, left] = [await reserve(), await reserve()];
  let renewals = 0;
  let free = 0;
  // The one is renewed until the other has gone, and then for longer than it would have lived.
  for (const goOnUntil = Date.now() + 5_000; Date.now() < goOnUntil || free === 0; ) {
    const answer = await post(port, `${PATH}/${renewed}/renew`, {});
    t.equal(answer.status, 200);
    renewals += 1;
    free = (await fleetHealth(port)).fleet_available;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  t.ok(renewals > 5);
  t.match(await fleetHealth(port), { fleet_available: 1, fleet_reserved: 1 });
  t.match(await post(port, `${PATH}/${left}/renew`, {}), {
    status: 410,
    json: { code: 'reservation_expired' },
  });
  t.equal((await ended(port, left)).status, 200);
  await until(async () => (await fleetHealth(port)).fleet_reserved === 0);
});

t.test('a reserved slot that dies is replaced by a free one, or the reservation is over', async (t) => {
  const { main, port, reserve } = await worker(t);
  const kept = await reserve();
  const reserved = () => main.health()?.workers?.find(({ state }) => state === 'reserved')?.pid ?? 0;
  const first = reserved();
  process.kill(first, 'SIGKILL');
  await until(() => reserved() !== 0 && reserved() !== first);
  t.equal((await post(port, `${PATH}/${kept}/renew`, {})).status, 200);
  await until(async () => (await fleetHealth(port)).fleet_available === 1);
  const other = await reserve();
  const second = reserved();
  process.kill(second, 'SIGKILL');
  await until(async () => (await fleetHealth(port)).fleet_available === 1);
  const renewals = await Promise.all(
    [kept, other].map(async (id) => (await post(port, `${PATH}/${id}/renew`, {})).status),
  );
  t.same(renewals.sort(), [200, 410], 'the one whose slot died had no other to go to');
});

t.test('a draining host makes and renews no reservation, and waits for those it made', async (t) => {
  const { main, port, reserve } = await worker(t);
  const id = await reserve();
  let stopped = false;
  const stop = main.stop().then(() => {
    stopped = true;
  });
  t.match(await post(port, PATH, {}), { status: 503, json: { error: 'Draining', code: 'draining' } });
  t.match(await post(port, `${PATH}/${id}/renew`, {}), { status: 503, json: { code: 'draining' } });
  await until(async () => (await fleetHealth(port)).workers?.length !== 2);
  t.notOk(stopped);
  t.equal((await fleetHealth(port)).fleet_reserved, 1);
  t.equal((await ended(port, id)).status, 200);
  await stop;
});

t.test('attaching to a reservation that has expired is 410, and takes no other slot', async (t) => {
  const { port, dataDir } = await worker(t);
  const answer = await post(port, '/attach', {
    room_name: 'call-1',
    bot_id: 'clinic',
    session_id: 'session-1',
    to_number: '+911150000001',
    customer_identity: 'sip-1',
    lease_id: 'b2f6a1de-0000-4000-8000-000000000000',
  });
  t.match(answer, { status: 410, json: { code: 'reservation_expired' } });
  t.same(ordersIn(dataDir), []);
});

t.test('other paths and methods under /reservations are refused by name', async (t) => {
  const { port } = await worker(t);
  const secret = { 'x-core-secret': SECRET };
  t.equal((await post(port, PATH, undefined, secret, 'GET')).status, 405);
  t.equal((await post(port, `${PATH}/abc`, {}, secret, 'POST')).status, 405);
  t.equal((await post(port, `${PATH}/abc/renew`, {}, secret, 'DELETE')).status, 405);
  t.equal((await post(port, `${PATH}/a/b/c`, {})).status, 404);
  t.equal((await post(port, `${PATH}/`, {})).status, 404);
});
