import t, { type Test } from 'tap';
import type { ActiveHours } from '../../../src/contracts/bot/operation.ts';
import { RESERVED_FLAGS, readConnectedEvent } from '../../../src/control/runtime-config/connected-event.ts';
import { templateVariables } from '../../../src/control/runtime-config/variables.ts';
import { renderTemplate } from '../../../src/platform/render-template.ts';
import { testBot, testResults } from '../../harness/control.ts';
import { type FleetPort, openFleetPort } from '../../harness/fleet-port.ts';
import { FLEET_SECRET, type SettingsPlane, startPlane } from '../../harness/settings-harness.ts';

const PATH = '/api/v1/calls/outbound';
const TO = '+911140001234';
const TRUNK = '+911140000000';
const seeds = { sip_outbound_trunk_id: 'ST_trunk', sip_default_from: TRUNK };
const body = { bot_id: 'clinic', to_number: TO };

async function planeWithDoor(
  t: Test,
  options: { free?: number; seeds?: Record<string, string>; hours?: ActiveHours } = {},
): Promise<{ plane: SettingsPlane; ingress: FleetPort }> {
  const ingress = await openFleetPort(FLEET_SECRET, options.free ?? 4);
  const plane = await startPlane({ seeds: options.seeds ?? seeds, fleetUrls: () => [ingress.url] });
  t.teardown(async () => {
    await plane.stop();
    await ingress.close();
  });
  await plane.bots.put(testBot(options.hours ? { active_hours: options.hours } : {}));
  return { plane, ingress };
}

const post = (plane: SettingsPlane, json: unknown, headers: Record<string, string> = {}, path = PATH) =>
  plane.call('POST', path, { body: json, headers: { ...plane.as('dialler'), ...headers } });

t.test('R156 R159 an API key and the four fields place a call, under both names of the route', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  for (const path of [PATH, '/api/v1/calls']) {
    const { status, json } = await post(
      plane,
      { ...body, from_number: '+911140009999', variables: { customer_name: 'Asha', due: 1200 } },
      {},
      path,
    );
    t.equal(status, 200, path);
    t.match(json, {
      status: 'accepted',
      call_id: /.+/,
      session_id: /^[0-9a-f-]{36}$/,
      room_name: /^room-/,
      bot_id: 'clinic',
      to_number: TO,
      from_number: '+911140009999',
      created_at: /Z$/,
      links: { record: `/api/v1/call-records/${json.session_id}` },
    });
  }
  t.equal(ingress.dialled.length, 2);
});

t.test(
  'R158 R160 variables reach the ingress as connected_event, and the bot says them as crm',
  async (t) => {
    const { plane, ingress } = await planeWithDoor(t);
    const variables = { customer_name: 'Asha', due: 1200, nested: { city: 'Pune' } };
    const { json } = await post(plane, { ...body, variables });
    const [dialled] = ingress.dialled;
    t.same(dialled, {
      bot_id: 'clinic',
      to_number: TO,
      from_number: TRUNK,
      connected_event: { ...variables, _campaign_session_id: json.session_id },
    });
    const event = readConnectedEvent(JSON.stringify(dialled?.connected_event));
    t.equal(event.sessionId, json.session_id, 'the record will carry the session of the answer');
    const merged = templateVariables({
      fields: event.fields,
      sip: {},
      callerId: TO,
      callback: {},
      mockCrm: event.mockCrm,
      prefetched: {},
      timezone: 'UTC',
      nowIso: '2026-03-02T12:00:00.000Z',
    });
    t.equal(renderTemplate('{{crm.customer_name}} owes {{crm.due}}', merged), 'Asha owes 1200');
  },
);

t.test('R157 the caller ID is the number of the trunk unless the request names one', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  t.equal((await post(plane, body)).json.from_number, TRUNK);
  t.equal((await post(plane, { ...body, from_number: null })).json.from_number, TRUNK, 'null names none');
  t.equal((await post(plane, { ...body, from_number: '1001' })).json.from_number, '1001');
  t.same(
    ingress.dialled.map(({ from_number }) => from_number),
    [TRUNK, TRUNK, '1001'],
  );
});

t.test('R157 without an outbound trunk, or without any number for it, nothing is dialled', async (t) => {
  const noTrunk = await planeWithDoor(t, { seeds: { sip_default_from: TRUNK } });
  const first = await post(noTrunk.plane, body);
  t.match(first, { status: 503, json: { code: 'no_trunk', detail: /sip_outbound_trunk_id/ } });
  const noNumber = await planeWithDoor(t, { seeds: { sip_outbound_trunk_id: 'ST_trunk' } });
  t.match(await post(noNumber.plane, body), {
    status: 503,
    json: { code: 'no_trunk', detail: /sip_default_from/ },
  });
  t.equal((await post(noNumber.plane, { ...body, from_number: TRUNK })).status, 200);
  await noTrunk.plane.call('PATCH', '/api/v1/settings', {
    headers: noTrunk.plane.as('admin'),
    body: { values: { sip_outbound_trunk_id: 'ST_new' } },
  });
  t.equal((await post(noTrunk.plane, body)).status, 200, 'the setting counts at once');
  t.equal(noTrunk.ingress.dialled.length, 1);
});

t.test('R159 a missing or wrong key is 401, and a key without calls:write is 403', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  const as = (headers: Record<string, string>) => plane.call('POST', PATH, { body, headers });
  t.equal((await as({})).status, 401);
  t.equal((await as({ 'x-api-key': 'guessed' })).status, 401);
  t.equal((await as({ 'x-core-secret': 'the core secret' })).status, 401, 'the core secret is no API key');
  t.equal((await as(plane.as('admin'))).status, 401, 'nor is a session');
  t.equal((await as(plane.as('reader'))).status, 403);
  t.equal((await as(plane.as('campaigner'))).status, 403);
  t.same(ingress.dialled, []);
});

t.test('R159 an unknown bot is 404 before the fleet is asked', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  t.match(await post(plane, { ...body, bot_id: 'nobody' }), { status: 404, json: { code: 'not_found' } });
  t.same(ingress.dialled, []);
});

t.test('R159 a body that does not fit is 422 with the place of each mistake', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  const wrong: [unknown, string][] = [
    [{ bot_id: 'clinic' }, '/to_number'],
    [{ to_number: TO }, '/bot_id'],
    [{ ...body, to_number: 911140001234 }, '/to_number'],
    [{ ...body, to_number: '' }, '/to_number'],
    [{ ...body, to_number: 'sip:a@b' }, '/to_number'],
    [{ ...body, to_number: '+91 11 4000 1234' }, '/to_number'],
    [{ ...body, from_number: '' }, '/from_number'],
    [{ ...body, bot_id: '../clinic' }, '/bot_id'],
    [{ ...body, variables: ['Asha'] }, '/variables'],
    [{ ...body, variables: 'Asha' }, '/variables'],
    [{ ...body, connected_event: {} }, '/connected_event'],
    [{ ...body, config_url: 'https://elsewhere.example.org' }, '/config_url'],
    [{ ...body, variables: { text: 'x'.repeat(17_000) } }, '/variables'],
  ];
  for (const [json, pointer] of wrong) {
    const answer = await post(plane, json);
    t.equal(answer.status, 422, pointer);
    t.ok(
      (answer.json.errors as { pointer: string }[]).some((error) => error.pointer === pointer),
      pointer,
    );
  }
  t.equal((await post(plane, { ...body, variables: { text: 'x'.repeat(70_000) } })).status, 413);
  t.same(ingress.dialled, []);
});

t.test('R158 variables with a name that the platform sets are refused by that name', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  const own = ['caller_id', 'from_number', 'call_id', 'room_name', 'transport', 'trunk_id', 'callback_at'];
  const answer = await post(plane, {
    ...body,
    variables: { fine: 1, ...Object.fromEntries(own.map((n) => [n, 'x'])) },
  });
  t.equal(answer.status, 422);
  const errors = answer.json.errors as { pointer: string; msg: string }[];
  t.same(errors.map(({ pointer }) => pointer).sort(), own.map((name) => `/variables/${name}`).sort());
  for (const { pointer, msg } of errors) t.ok(msg.includes(pointer.slice('/variables/'.length)), msg);
  t.same(ingress.dialled, []);
});

t.test('no key holder can steer the platform through variables', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  for (const name of [...RESERVED_FLAGS, '_anything', '_']) {
    const answer = await post(plane, { ...body, variables: { fine: 1, [name]: 'x' } });
    t.equal(answer.status, 422, name);
    t.match(answer.json.errors, [{ loc: ['body', 'variables', name], type: 'reserved_name' }]);
  }
  t.equal((await post(plane, { ...body, variables: { a_b: 1, 'x-y': 2, '': 3 } })).status, 200);
  t.equal(ingress.dialled.length, 1);
});

t.test(
  'R159 outside the active hours of the bot a call is 503 with the time of the next opening',
  async (t) => {
    const { plane, ingress } = await planeWithDoor(t, {
      hours: { enabled: true, start_time: '09:00', end_time: '17:00' },
    });
    // Noon UTC on a Monday is 17:30 in the bot's Kolkata.
    const answer = await post(plane, body);
    t.match(answer, {
      status: 503,
      json: { code: 'outside_active_hours', detail: /^outside_active_hours:/ },
    });
    const seconds = Number(answer.headers.get('retry-after'));
    t.ok(Math.abs(seconds - 15.5 * 3_600) <= 1, `${seconds} s until nine the next morning`);
    t.same(ingress.dialled, []);
    plane.clock.nowMs += 15.5 * 3_600_000 + 60_000;
    t.equal((await post(plane, body)).status, 200);
  },
);

t.test('a repeated Idempotency-Key calls the customer once', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  const key = { 'idempotency-key': '7f1f8a0e-0000-4000-8000-000000000001' };
  const first = await post(plane, body, key);
  const second = await post(plane, body, key);
  t.equal(second.status, 200);
  t.same(second.json, first.json);
  t.equal(second.headers.get('idempotency-replayed'), 'true');
  t.equal((await post(plane, { ...body, to_number: '+911140005678' }, key)).status, 422);
  t.equal(ingress.dialled.length, 1);
});

t.test('R178 the outbound route has no rate limit of its own', async (t) => {
  const { plane } = await planeWithDoor(t);
  const statuses = new Set<number>();
  const unknownBot = { ...body, bot_id: 'nobody' };
  for (let round = 0; round < 35; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(plane, unknownBot)));
    for (const { status, headers } of answers) {
      statuses.add(status);
      if (headers.has('ratelimit')) t.fail('a rate limit is announced');
    }
  }
  t.same([...statuses], [404], '700 requests in less than a minute');
});

t.test('a key to which an admin has given a limit keeps to it', async (t) => {
  const { plane, ingress } = await planeWithDoor(t);
  const limited = () => post(plane, body, plane.as('limited-dialler'));
  const statuses = [(await limited()).status, (await limited()).status, (await limited()).status];
  t.same(statuses, [200, 200, 429]);
  t.equal((await post(plane, body)).status, 200, 'other keys go on');
  t.equal(ingress.dialled.length, 3);
});

t.test('what became of a call is read by its call_id', async (t) => {
  const { plane } = await planeWithDoor(t);
  const placed = (await post(plane, body)).json;
  const read = async (who: string) =>
    plane.call('GET', `/api/v1/calls/${placed.call_id}`, { headers: plane.as(who) });
  const accepted = await read('dialler');
  t.equal(accepted.status, 200);
  t.match(accepted.json, {
    call_id: placed.call_id,
    session_id: placed.session_id,
    status: 'accepted',
    disconnected_by: null,
    links: placed.links,
  });
  t.notMatch(accepted.text, TO, 'numbers stand in the record alone');
  await plane.calls.insertActive({
    session_id: placed.session_id,
    bot_id: 'clinic',
    bot_name: 'Clinic',
    call_type: 'bot',
    stream_id: '',
    caller_id: TO,
    from_number: TRUNK,
    call_direction: 'outbound',
    timezone: 'UTC',
    created_at: '2026-03-02T12:00:10.000Z',
    connected_event: {},
    sip_context: {},
    crm_data: {},
    integration_log: [],
    campaign: null,
    skip_post_push: false,
  });
  t.equal((await read('dialler')).json.status, 'active');
  await plane.calls.complete(testResults(placed.session_id), '2026-03-02T12:01:00.000Z');
  t.match((await read('dialler')).json, {
    status: 'completed',
    disconnected_by: 'customer',
    call_duration_seconds: 12.5,
  });
  for (const who of ['reader', 'admin', 'supervisor']) t.equal((await read(who)).status, 200, who);
  t.equal((await read('other-dialler')).status, 404, 'the call of another key');
  t.equal((await read('campaigner')).status, 403);
  t.equal((await read('analyst')).status, 403);
  const unknown = await plane.call('GET', '/api/v1/calls/unknown', { headers: plane.as('dialler') });
  t.equal(unknown.status, 404);
});
