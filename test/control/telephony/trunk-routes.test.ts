import t, { type Test } from 'tap';
import { testBot } from '../../harness/control.ts';
import { type SettingsPlane, startPlane } from '../../harness/settings-harness.ts';

const TRUNKS = '/api/v1/trunks';
const NUMBERS = '/api/v1/numbers';
const PASSWORD = 'the password of the carrier';
const carrier = {
  name: 'Carrier',
  direction: 'both',
  address: 'sip.carrier.example:5060',
  transport: 'udp',
  auth_username: 'trunkline',
  auth_password: PASSWORD,
  numbers: ['+911140000000'],
};

async function plane(t: Test): Promise<SettingsPlane> {
  const running = await startPlane();
  t.teardown(() => running.stop());
  await running.bots.put(testBot());
  return running;
}

const as = (running: SettingsPlane, who: string) => (method: string, path: string, body?: unknown) =>
  running.call(method, path, { body, headers: running.as(who) });

t.test('a trunk is made, read, changed and removed, and a change may ask for the version', async (t) => {
  const running = await plane(t);
  const admin = as(running, 'admin');
  const made = await admin('POST', TRUNKS, carrier);
  t.equal(made.status, 201, made.text);
  const path = `${TRUNKS}/${made.json.id}`;
  t.equal(made.headers.get('location'), path);
  t.equal(made.headers.get('etag'), '"1"');
  t.match(made.json, {
    ...{ ...carrier, auth_password: undefined },
    id: /^trk_[0-9a-f]{24}$/,
    enabled: true,
    auth_password_set: true,
    allowed_addresses: [],
    destinations: [],
    default_outbound: false,
    version: 1,
    sync: { state: 'waiting', inbound_trunk_id: null, outbound_trunk_id: null },
  });
  t.same((await admin('GET', path)).json, made.json);
  const stale = { ...running.as('admin'), 'if-match': '"9"' };
  const change = { name: 'Other', auth_username: null, auth_password: null };
  t.equal((await running.call('PATCH', path, { body: change, headers: stale })).status, 412);
  const changed = await running.call('PATCH', path, {
    body: change,
    headers: { ...running.as('admin'), 'if-match': '"1"' },
  });
  t.match(changed.json, { name: 'Other', auth_password_set: false, version: 2, numbers: carrier.numbers });
  t.equal((await running.call('DELETE', path, { headers: stale })).status, 412);
  t.equal((await admin('DELETE', path)).status, 204);
  t.equal((await admin('GET', path)).status, 404);
});

t.test('the password of a trunk is in no answer, no row and no line of the audit log', async (t) => {
  const running = await plane(t);
  const admin = as(running, 'admin');
  const made = await admin('POST', TRUNKS, carrier);
  const texts = [
    made.text,
    (await admin('GET', TRUNKS)).text,
    (await admin('PATCH', `${TRUNKS}/${made.json.id}`, { auth_password: `${PASSWORD} 2` })).text,
    JSON.stringify(running.store.table('sip-trunks').range({ limit: 9 })),
    JSON.stringify(await running.audit.list({ limit: 9 })),
  ];
  for (const text of texts) t.notMatch(text, PASSWORD);
  const [row] = running.store.table<{ auth_password: string }>('sip-trunks').range({ limit: 1 });
  t.equal(running.box.open(row?.value.auth_password ?? ''), `${PASSWORD} 2`, 'it is sealed');
  const rotated = await admin('POST', '/api/v1/settings/rotate-key');
  t.equal(rotated.status, 200);
  const [fresh] = running.store.table<{ auth_password: string }>('sip-trunks').range({ limit: 1 });
  t.not(fresh?.value.auth_password, row?.value.auth_password, 'a new key seals it anew');
  t.equal(running.box.open(fresh?.value.auth_password ?? ''), `${PASSWORD} 2`);
});

t.test('a trunk that could not work is refused with the place of the mistake', async (t) => {
  const admin = as(await plane(t), 'admin');
  const refused: [object, string][] = [
    [{ ...carrier, address: null }, '/address'],
    [{ ...carrier, numbers: [] }, '/numbers'],
    [{ ...carrier, direction: 'inbound', default_outbound: true }, '/default_outbound'],
    [{ ...carrier, auth_password: null }, '/auth_password'],
    [{ ...carrier, address: 'sip:carrier.example' }, '/address'],
    [{ ...carrier, address: 'user@carrier.example' }, '/address'],
    [{ ...carrier, allowed_addresses: ['everywhere'] }, '/allowed_addresses/0'],
    [{ ...carrier, numbers: ['call me'] }, '/numbers/0'],
    [{ ...carrier, transport: 'pigeon' }, '/transport'],
  ];
  for (const [body, pointer] of refused) {
    const answer = await admin('POST', TRUNKS, body);
    t.equal(answer.status, 422, pointer);
    t.ok(
      answer.json.errors.some((error: { pointer: string }) => error.pointer === pointer),
      answer.text,
    );
  }
  const inbound = await admin('POST', TRUNKS, { name: 'PBX', direction: 'inbound' });
  t.equal(inbound.status, 201, 'one that only takes calls needs neither address nor number');
  const path = `${TRUNKS}/${inbound.json.id}`;
  t.equal((await admin('PATCH', path, { direction: 'both' })).status, 422);
  for (const address of ['10.0.0.5', '10.0.0.5:5080', '[2001:db8::1]:5060', 'pbx']) {
    t.equal((await admin('PATCH', path, { address })).status, 200, address);
  }
});

t.test('supervisors look at trunks and numbers, only admins change them', async (t) => {
  const running = await plane(t);
  const made = await as(running, 'admin')('POST', TRUNKS, carrier);
  for (const [who, reads] of [
    ['supervisor', 200],
    ['agent', 403],
    ['analyst', 403],
    ['dialler', 403],
  ] as const) {
    const call = as(running, who);
    t.equal((await call('GET', TRUNKS)).status, reads, who);
    t.equal((await call('GET', NUMBERS)).status, reads, who);
    t.equal((await call('PATCH', `${TRUNKS}/${made.json.id}`, { enabled: false })).status, 403, who);
    t.equal((await call('POST', NUMBERS, { number: '100', bot_id: 'clinic' })).status, 403, who);
    t.equal((await call('POST', `${TRUNKS}/${made.json.id}/test`, {})).status, 403, who);
  }
});

t.test('lists of trunks and numbers are given out page by page', async (t) => {
  const running = await plane(t);
  const admin = as(running, 'admin');
  for (let i = 0; i < 5; i++) {
    running.clock.nowMs += 1_000;
    await admin('POST', TRUNKS, { name: `T${i}`, direction: 'inbound' });
    await admin('POST', NUMBERS, { number: `+9111400000${i}`, bot_id: 'clinic' });
  }
  const walk = async (path: string, field: string) => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await admin('GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...json.items.map((item: Record<string, string>) => item[field]));
      cursor = json.next_cursor ?? '';
      t.equal(json.has_more, cursor !== '');
    } while (cursor !== '');
    return seen;
  };
  t.same(await walk(TRUNKS, 'name'), ['T4', 'T3', 'T2', 'T1', 'T0'], 'newest first');
  t.same(
    await walk(NUMBERS, 'number'),
    [0, 1, 2, 3, 4].map((i) => `+9111400000${i}`),
  );
  const wrong = Buffer.from('{"no":"place"}').toString('base64url');
  for (const path of [TRUNKS, NUMBERS]) {
    t.equal((await admin('GET', `${path}?cursor=${wrong}`)).status, 422);
  }
});

t.test('R19 a number leads to a bot that exists, through a trunk that takes calls', async (t) => {
  const running = await plane(t);
  const admin = as(running, 'admin');
  const both = await admin('POST', TRUNKS, carrier);
  const outbound = await admin('POST', TRUNKS, { ...carrier, direction: 'outbound' });
  const number = { number: '+91 not a number', bot_id: 'clinic' };
  t.equal((await admin('POST', NUMBERS, number)).status, 422);
  for (const [body, pointer] of [
    [{ number: '100', bot_id: 'nosuch' }, '/bot_id'],
    [{ number: '100', bot_id: 'clinic', fallback_bot_id: 'nosuch' }, '/fallback_bot_id'],
    [{ number: '100', bot_id: 'clinic', trunk_id: `trk_${'0'.repeat(24)}` }, '/trunk_id'],
    [{ number: '100', bot_id: 'clinic', trunk_id: outbound.json.id }, '/trunk_id'],
  ] as const) {
    t.match(await admin('POST', NUMBERS, body), { status: 422, json: { errors: [{ pointer }] } });
  }
  const made = await admin('POST', NUMBERS, {
    number: '+911140001234',
    bot_id: 'clinic',
    label: 'Front desk',
    trunk_id: both.json.id,
  });
  t.match(made, { status: 201, json: { id: /^num_[0-9a-f]{24}$/, enabled: true, fallback_bot_id: null } });
  t.same(await running.media.botForNumber('911140001234'), { botId: 'clinic' });
  const path = `${NUMBERS}/${made.json.id}`;
  t.equal((await admin('PATCH', path, { number: '200' })).status, 422, 'another number is another entry');
  t.match(await admin('PATCH', path, { enabled: false }), { status: 200, json: { version: 2 } });
  t.equal(await running.media.botForNumber('+911140001234'), null, 'a disabled number is nobody’s');
  t.match(await admin('DELETE', `${TRUNKS}/${both.json.id}`), { status: 409 });
  t.equal((await admin('DELETE', path)).status, 204);
  t.equal((await admin('DELETE', `${TRUNKS}/${both.json.id}`)).status, 204);
});

t.test('R19 the fallback answers where the bot of a number is gone or closed', async (t) => {
  const running = await plane(t);
  const { media, bots } = running;
  const stamp = { nowIso: '2026-03-02T12:00:00.000Z', by: null };
  const removeBot = (id: string) => bots.remove(id, () => undefined, stamp);
  const closed = { enabled: true, days: ['monday'], start_time: '01:00', end_time: '01:01' } as const;
  const day = { ...closed, days: [...closed.days] };
  await bots.put(testBot({ bot_id: 'night' }));
  const admin = as(running, 'admin');
  await admin('POST', NUMBERS, { number: '100', bot_id: 'clinic', fallback_bot_id: 'night' });
  t.same(await media.botForNumber('100'), { botId: 'clinic' });
  await bots.put(testBot({ active_hours: day }));
  t.same(await media.botForNumber('100'), { botId: 'night' }, 'outside its hours');
  await bots.put(testBot({ bot_id: 'night', active_hours: day }));
  t.same(await media.botForNumber('100'), { botId: 'clinic' }, 'both closed: its own hours are told');
  await removeBot('clinic');
  t.same(await media.botForNumber('100'), { botId: 'night' }, 'gone');
  await removeBot('night');
  t.equal(await media.botForNumber('100'), null);
  t.equal(await media.botForNumber('101'), null, 'a number that nobody has entered');
});

t.test('hosts get the media server and the trunk to dial by from the settings', async (t) => {
  const running = await plane(t);
  const admin = as(running, 'admin');
  t.equal(await running.media.setup(), null, 'nothing is set');
  await admin('PATCH', '/api/v1/settings', {
    values: { livekit_url: 'ws://127.0.0.1:7880' },
    secrets: { livekit_api_key: 'devkey-1', livekit_api_secret: 'secret-of-32-letters-and-no-less' },
  });
  const access = {
    url: 'ws://127.0.0.1:7880',
    apiKey: 'devkey-1',
    apiSecret: 'secret-of-32-letters-and-no-less',
  };
  t.same(await running.media.setup(), { access, dialling: null });
  await admin('PATCH', '/api/v1/settings', {
    values: { sip_outbound_trunk_id: 'ST_hand', sip_default_from: '+911140000000' },
  });
  t.same(await running.media.setup(), {
    access,
    dialling: { trunkId: 'ST_hand', defaultFrom: '+911140000000' },
  });
  await admin('PATCH', '/api/v1/settings', { secrets: { livekit_api_secret: null } });
  t.equal(await running.media.setup(), null, 'a part of it is no media server');
});
