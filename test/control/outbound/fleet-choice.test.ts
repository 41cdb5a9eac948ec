import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFleet, fleetUrls, MAX_PLACING } from '../../../src/control/fleet/place-on-fleet.ts';
import { createOutboundStore } from '../../../src/control/outbound/outbound-store.ts';
import { type KeyValueStore, openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { readSettings } from '../../../src/platform/settings.ts';
import { testBot } from '../../harness/control.ts';
import { type FleetPort, openFaultyHost, openFleetPort } from '../../harness/fleet-port.ts';
import { FLEET_SECRET, type SettingsPlane, startPlane } from '../../harness/settings-harness.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { until } from '../../harness/wait.ts';
import { call as callSocket, fleetHealth, startWorker } from '../../harness/worker.ts';
import { outboundStoreConformance } from './outbound-store-conformance.ts';

const seeds = { sip_outbound_trunk_id: 'ST_trunk', sip_default_from: '+911140000000' };
const HEALTHY = '{"fleet_available": 9}';

async function planeOn(
  t: Test,
  hosts: readonly { url: string; close(): Promise<void> }[],
): Promise<SettingsPlane> {
  const plane = await startPlane({ seeds, fleetUrls: () => hosts.map(({ url }) => url) });
  t.teardown(async () => {
    await plane.stop();
    for (const host of hosts) await host.close();
  });
  await plane.bots.put(testBot());
  return plane;
}

const place = (plane: SettingsPlane) =>
  plane.call('POST', '/api/v1/calls/outbound', {
    headers: plane.as('dialler'),
    body: { bot_id: 'clinic', to_number: '+911140001234' },
  });
const countsOf = (doors: readonly FleetPort[]) => doors.map(({ dialled }) => dialled.length);

t.test('R23 the host with the most free capacity takes the call', async (t) => {
  const doors = [
    await openFleetPort(FLEET_SECRET, 2),
    await openFleetPort(FLEET_SECRET, 5),
    await openFleetPort(FLEET_SECRET, 3),
  ];
  const plane = await planeOn(t, doors);
  for (let turn = 0; turn < 10; turn++) t.equal((await place(plane)).status, 200);
  // 5 3 2 are used down to nothing, always the fullest of them first.
  t.same(countsOf(doors), [2, 5, 3]);
  t.match(await place(plane), { status: 503, json: { code: 'no_fleet', detail: /full/ } });
});

t.test('R163 a burst of calls gets what the fleet has free, and no host is asked for more', async (t) => {
  const doors = [await openFleetPort(FLEET_SECRET, 3), await openFleetPort(FLEET_SECRET, 4)];
  for (const ingress of doors) ingress.dialMs = 50;
  const plane = await planeOn(t, doors);
  const answers = await Promise.all(Array.from({ length: 30 }, () => place(plane)));
  t.equal(answers.filter(({ status }) => status === 200).length, 7);
  t.equal(answers.filter(({ status, json }) => status === 503 && json.code === 'no_fleet').length, 23);
  t.same(countsOf(doors), [3, 4]);
  t.same(
    doors.map(({ late }) => late),
    [0, 0],
    'no host was sent a call that it had no slot for',
  );
});

t.test('calls that come while others are still being dialled find the slots that are left', async (t) => {
  const ingress = await openFleetPort(FLEET_SECRET, 12);
  ingress.dialMs = 700;
  const plane = await planeOn(t, [ingress]);
  const first = Array.from({ length: 8 }, () => place(plane));
  await until(() => ingress.dialled.length === 8);
  const second = Array.from({ length: 6 }, () => place(plane));
  const statuses = (await Promise.all([...first, ...second])).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 200).length, 12);
  t.equal(ingress.late, 0);
});

t.test('requests that look for a host are bounded, and those beyond are told at once', async (t) => {
  const host = await openFaultyHost({ health: 'silent' });
  t.teardown(() => host.close());
  const fleet = createFleet(() => [host.url]);
  const answers = await Promise.all(
    Array.from({ length: MAX_PLACING + 50 }, () => fleet.place(async () => ({ kind: 'unknown' }))),
  );
  const whys = answers.map((answer) => (answer.kind === 'none' ? answer.why : answer.kind));
  t.equal(whys.filter((why) => why === 'busy').length, 50);
  t.equal(whys.filter((why) => why === 'no_host').length, MAX_PLACING);
});

t.test('R163 real hosts are asked by what they say of themselves', async (t) => {
  const env = { CORE_SECRET: FLEET_SECRET, WS_AUTH: 'off', SLOTS: '1' };
  const mains = [await startWorker(tempFolder(), env), await startWorker(tempFolder(), env)];
  t.teardown(async () => {
    for (const main of mains) await main.stop();
  });
  const ports = mains.map(({ fleetPort }) => fleetPort ?? 0);
  const callers = [];
  for (const port of ports) callers.push(await callSocket(port, '/ws/echo'));
  const plane = await planeOn(
    t,
    ports.map((port) => ({ url: `http://127.0.0.1:${port}`, close: async () => undefined })),
  );
  t.match(await place(plane), { status: 503, json: { code: 'no_fleet', detail: /full/ } });
  callers[1]?.socket.end();
  await until(async () => (await fleetHealth(ports[1] ?? 0)).fleet_available === 1);
  const answer = await place(plane);
  t.match(answer, { status: 503, json: { code: 'no_trunk', detail: /SIP/ } }, 'it was asked, and has no SIP');
  callers[0]?.socket.end();
});

t.test('R162 a full host is passed over for the next one, and nothing waits in a queue', async (t) => {
  const stale = await openFaultyHost({
    health: HEALTHY,
    dialout: { status: 429, body: '{"error":"At capacity"}' },
  });
  const ingress = await openFleetPort(FLEET_SECRET, 1);
  const plane = await planeOn(t, [stale, ingress]);
  t.equal((await place(plane)).status, 200);
  t.equal(stale.dialouts, 1, 'it had promised more room');
  t.equal(ingress.dialled.length, 1);
});

t.test('at most three hosts are asked for one call', async (t) => {
  const full = { health: HEALTHY, dialout: { status: 429, body: '{"error":"At capacity"}' } };
  const hosts = [];
  for (let host = 0; host < 5; host++) hosts.push(await openFaultyHost(full));
  const plane = await planeOn(t, hosts);
  const answer = await place(plane);
  t.match(answer, { status: 503, json: { code: 'no_fleet' } });
  t.ok(Number(answer.headers.get('retry-after')) > 0);
  t.equal(
    hosts.reduce((sum, { dialouts }) => sum + dialouts, 0),
    3,
  );
});

t.test('R159 without a healthy host the answer is 503, soon', async (t) => {
  const hosts = [
    await openFaultyHost({ health: 'silent' }),
    await openFaultyHost({ health: 'not json' }),
    await openFaultyHost({ health: '{"fleet_available":"many"}' }),
    await openFaultyHost({ health: 'null' }),
  ];
  const gone = await openFaultyHost({ health: HEALTHY });
  await gone.close();
  const plane = await planeOn(t, [...hosts, { url: gone.url, close: async () => undefined }]);
  const startedMs = performance.now();
  const answer = await place(plane);
  t.match(answer, { status: 503, json: { code: 'no_fleet', detail: /no fleet server answers/ } });
  t.ok(performance.now() - startedMs < 8_000, 'the silent host was not waited for');
  t.same(
    hosts.map(({ dialouts }) => dialouts),
    [0, 0, 0, 0],
  );
});

t.test('a host that drains is not asked to dial', async (t) => {
  const doors = [await openFleetPort(FLEET_SECRET, 9), await openFleetPort(FLEET_SECRET, 1)];
  const [leaving] = doors as [FleetPort, FleetPort];
  leaving.draining = true;
  const plane = await planeOn(t, doors);
  t.equal((await place(plane)).status, 200);
  t.same(countsOf(doors), [0, 1]);
});

t.test('a customer is never called twice because an answer was lost', async (t) => {
  for (const dialout of ['cut', { status: 504, body: '' }, { status: 200, body: 'not json' }] as const) {
    const host = await openFaultyHost({ health: HEALTHY, dialout });
    const ingress = await openFleetPort(FLEET_SECRET, 1);
    const plane = await planeOn(t, [host, ingress]);
    const answer = await place(plane);
    t.match(answer, { status: 503, json: { code: 'no_fleet', detail: /may be running all the same/ } });
    t.equal(answer.headers.has('retry-after'), false);
    t.equal(host.dialouts, 1);
    t.same(ingress.dialled, [], 'the next host was not asked');
  }
});

t.test('hosts without SIP are passed over, and when none has it the answer says so', async (t) => {
  const without = await openFleetPort(FLEET_SECRET, 9, { withoutSip: true });
  const ingress = await openFleetPort(FLEET_SECRET, 1);
  const plane = await planeOn(t, [without, ingress]);
  t.equal((await place(plane)).status, 200);
  t.equal(ingress.dialled.length, 1);
  const alone = await planeOn(t, [await openFleetPort(FLEET_SECRET, 9, { withoutSip: true })]);
  t.match(await place(alone), { status: 503, json: { code: 'no_trunk', detail: /SIP is not configured/ } });
});

t.test('hosts that refuse the core secret are named as what they are', async (t) => {
  const plane = await planeOn(t, [await openFleetPort('another secret', 4)]);
  t.match(await place(plane), { status: 503, json: { code: 'no_fleet', detail: /CORE_SECRET/ } });
});

t.test('the fleet is FLEET_URLS, or the own ingress where nothing is said', async (t) => {
  const read = (env: Record<string, string>) => readSettings(env, '/folder', '/install');
  t.same(fleetUrls(read({}), null), ['http://127.0.0.1:8090']);
  t.same(fleetUrls(read({ FLEET_LISTEN: '127.0.0.1:0' }), 43_210), ['http://127.0.0.1:43210']);
  const open = read({ FLEET_LISTEN: '0.0.0.0:8090', CORE_SECRET: 'x'.repeat(32), WS_AUTH: 'secret' });
  t.same(fleetUrls(open, null), ['http://127.0.0.1:8090']);
  t.same(fleetUrls(read({ FLEET_URLS: 'https://a.example.org' }), 43_210), ['https://a.example.org']);
});

const folder = tempFolder();
const opened: KeyValueStore[] = [];
t.teardown(async () => {
  for (const store of opened) await store.close();
});
t.test('the LMDB store of outbound calls keeps the promises of one', (t) =>
  outboundStoreConformance(t, () => {
    const store = openKeyValueStore(join(folder, String(opened.length)));
    opened.push(store);
    return createOutboundStore(store);
  }),
);
