import t, { type Test } from 'tap';
import {
  API_KEY,
  callerJoined,
  MEDIA_ENV,
  orderOf,
  ordersIn,
  post,
  SECRET,
  type Signing,
  signedWebhook,
} from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { call, fleetHealth, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const PATH = '/rtc/dispatch';
const RINGING = {
  did: '+911140001234',
  caller: '+911150000001',
  room_name: 'sip-in-1',
  participant_identity: 'sip_+911150000001',
};

async function worker(t: Test, env: Record<string, string> = {}) {
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, { ...MEDIA_ENV, ...env }, { joinWithinMs: 1_000 });
  t.teardown(() => main.stop());
  const port = main.fleetPort ?? 0;
  const hangUpAll = async () => {
    for (const { callId } of ordersIn(dataDir)) {
      // Main may have been stopped by the test itself.
      await post(port, `/calls/${callId}/hangup`, {}).catch(() => undefined);
    }
  };
  // A stop waits for live calls.
  t.teardown(hangUpAll);
  return { main, dataDir, port, hangUpAll };
}

t.test('R19 a caller in a room gets the bot of the number that was called', async (t) => {
  const { port, dataDir } = await worker(t);
  const body = {
    ...RINGING,
    trunk_id: 'ST_in',
    call_id: 'SCL_1',
    sip_headers: { 'X-Customer-Id': '4711', Via: 'no candidate', 'x-long': 'y'.repeat(5_000) },
    received_at: '2026-11-20T10:00:00.000Z',
  };
  const answer = await post(port, PATH, body);
  t.match(answer, {
    status: 200,
    json: { status: 'accepted', room_name: 'sip-in-1', bot_id: 'clinic', call_id: /^[0-9a-f-]{36}$/ },
  });
  const order = orderOf(dataDir, answer.json.call_id);
  t.match(order, {
    kind: 'sip_inbound',
    botId: 'clinic',
    roomName: 'sip-in-1',
    customerIdentity: RINGING.participant_identity,
    dial: null,
    configUrl: null,
    media: { url: MEDIA_ENV.LIVEKIT_URL, apiKey: API_KEY },
    connected: {
      event: 'connected',
      call_id: answer.json.call_id,
      room_name: 'sip-in-1',
      transport: 'rtc_sip',
      caller_id: '+911150000001',
      to_number: '+911140001234',
      call_direction: 'inbound',
      trunk_id: 'ST_in',
      sip_call_id: 'SCL_1',
    },
  });
  const headers = order.connected.sip_candidate_headers as Record<string, string>;
  t.same(Object.keys(headers), ['X-Customer-Id', 'x-long'], 'only headers that may become variables');
  t.equal(headers['x-long']?.length, 1_000);
  const health = await fleetHealth(port, { 'x-core-secret': SECRET });
  t.match(
    health.workers?.find((each) => each.state === 'busy'),
    { room_name: 'sip-in-1', call_id: answer.json.call_id },
  );
  t.same(
    await post(port, PATH, body).then(({ json }) => json),
    answer.json,
    'the same call when asked again',
  );
  t.match(
    await post(port, PATH, { ...body, participant_identity: 'somebody-else' }),
    { status: 409, json: { code: 'already_attached' } },
    'a room has one bot',
  );
  t.equal((await fleetHealth(port)).fleet_busy, 1);
});

t.test('R19 the request may name the bot and the config endpoint itself', async (t) => {
  const { port, dataDir } = await worker(t);
  const answer = await post(port, PATH, {
    ...RINGING,
    did: '+10000000000',
    bot_id: 'other',
    config_url: 'https://orchestrator.example.org/config',
  });
  t.equal(answer.json.bot_id, 'other');
  t.match(orderOf(dataDir, answer.json.call_id), { configUrl: 'https://orchestrator.example.org/config' });
});

t.test('R166 dispatch by a stranger is 403, and a body that does not fit is told so', async (t) => {
  const { port, dataDir } = await worker(t);
  for (const headers of [{}, { 'x-core-secret': 'wrong' }, { authorization: 'Bearer x' }]) {
    const answer = await post(port, PATH, RINGING, headers as Record<string, string>);
    t.match(answer, { status: 403, json: { error: 'Unauthorized' } });
  }
  t.equal((await post(port, PATH, undefined, { 'x-core-secret': SECRET }, 'GET')).status, 405);
  const wrong: [unknown, number, string?][] = [
    ['{', 400],
    [{}, 422, '/did'],
    [{ ...RINGING, room_name: '' }, 422, '/room_name'],
    [{ ...RINGING, bot_id: '../x' }, 422, '/bot_id'],
    [{ ...RINGING, config_url: 'http://elsewhere.example.org' }, 422, '/config_url'],
    [{ ...RINGING, sip_headers: { a: 1 } }, 422, '/sip_headers/a'],
    [{ ...RINGING, more: 1 }, 422, '/more'],
    [{ ...RINGING, caller: 'x'.repeat(70_000) }, 413],
  ];
  for (const [body, status, pointer] of wrong) {
    const answer = await post(port, PATH, body);
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 60));
    if (pointer !== undefined) t.equal(answer.json.errors[0].pointer, pointer);
  }
  t.same(ordersIn(dataDir), [], 'no slot was touched');
});

t.test('a number that nobody answers is 404, and so is one whose bot is gone', async (t) => {
  const { port } = await worker(t);
  t.match(await post(port, PATH, { ...RINGING, did: '+919999999999' }), {
    status: 404,
    json: { error: 'Not found', code: 'not_found' },
  });
  t.match(await post(port, PATH, { ...RINGING, did: '911140005678' }), {
    status: 404,
    json: { code: 'config_not_found' },
  });
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  const again = await post(port, PATH, { ...RINGING, did: '+911140001234' });
  t.equal(again.status, 200, 'a refusal leaves the room to the next try');
});

t.test('R162 a full host answers 429 to a caller that rings, and a draining one 503', async (t) => {
  const { main, port, hangUpAll } = await worker(t, { SLOTS: '1' });
  t.equal((await post(port, PATH, RINGING)).status, 200);
  t.match(await post(port, PATH, { ...RINGING, room_name: 'sip-in-2' }), {
    status: 429,
    json: { error: 'At capacity', code: 'at_capacity' },
  });
  const { body, headers } = await signedWebhook(callerJoined('sip-in-4'));
  t.equal((await post(port, PATH, body, headers)).status, 429);
  t.match(
    await post(port, PATH, body, headers),
    { status: 200, json: { status: 'ignored' } },
    'the media server repeats what was refused, and its caller is on the way out already',
  );
  const stopped = main.stop();
  t.match(await post(port, PATH, { ...RINGING, room_name: 'sip-in-3' }), {
    status: 503,
    json: { code: 'draining' },
  });
  await hangUpAll();
  await stopped;
});

t.test('a bot that does not get into the room in time is let go of', async (t) => {
  const { port } = await worker(t);
  t.match(await post(port, PATH, { ...RINGING, bot_id: 'late' }), {
    status: 503,
    json: { code: 'media_unavailable' },
  });
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  t.match(await post(port, PATH, { ...RINGING, bot_id: 'crash' }), {
    status: 503,
    json: { code: 'slot_died' },
  });
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
});

t.test('a host without a media server says so, and takes no webhook at all', async (t) => {
  const { port } = await worker(t, { LIVEKIT_URL: '' });
  t.match(await post(port, PATH, RINGING), { status: 503, json: { code: 'sip_not_configured' } });
  const { body, headers } = await signedWebhook(callerJoined('sip-in-1'));
  t.equal((await post(port, PATH, body, headers)).status, 403);
});

t.test('R19 the media server’s signed webhook is a dispatch, told however often', async (t) => {
  const { port, dataDir, hangUpAll } = await worker(t);
  const { body, headers } = await signedWebhook(callerJoined('sip-in-7'));
  const answers = await Promise.all([1, 2, 3].map(() => post(port, PATH, body, headers)));
  t.match(answers[0], { status: 200, json: { status: 'accepted', bot_id: 'clinic', room_name: 'sip-in-7' } });
  for (const answer of answers) t.same(answer.json, answers[0]?.json);
  t.equal(ordersIn(dataDir).length, 1, 'one call');
  t.match(orderOf(dataDir, answers[0]?.json.call_id), {
    customerIdentity: 'sip_+911150000001',
    connected: {
      caller_id: '+911150000001',
      to_number: '+911140001234',
      trunk_id: 'ST_in',
      sip_call_id: 'SCL_1',
      sip_candidate_headers: { 'x-customer-id': '4711' },
    },
  });
  await hangUpAll();
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  const late = await post(port, PATH, body, headers);
  t.match(late, { status: 200, json: { status: 'ignored' } }, 'also when the call is over');
  t.equal(ordersIn(dataDir).length, 1);
});

t.test('what else the media server tells is no call', async (t) => {
  const { port, dataDir } = await worker(t);
  const { participant } = callerJoined('x');
  const events = [
    callerJoined('call-0b1c2d3e'),
    callerJoined('sip-in-1', { event: 'participant_left' }),
    callerJoined('sip-in-1', { event: 'room_finished' }),
    callerJoined('sip-in-1', { event: 'something_new', news: { of: 'a later version' } }),
    callerJoined('sip-in-1', { participant: { ...participant, kind: 'STANDARD' } }),
    callerJoined('sip-in-1', { participant: undefined }),
    callerJoined('sip-in-1', { room: undefined }),
  ];
  for (const event of events) {
    const { body, headers } = await signedWebhook(event);
    t.match(await post(port, PATH, body, headers), { status: 200, json: { status: 'ignored' } });
  }
  t.same(ordersIn(dataDir), []);
});

t.test('R166 a webhook whose signature does not hold is 403, whatever is wrong with it', async (t) => {
  const { port, dataDir } = await worker(t);
  const event = callerJoined('sip-in-1');
  const forgeries: [string, unknown, Signing][] = [
    ['another secret', event, { secret: 'the secret of somebody else, long enough' }],
    ['another key', event, { key: 'otherkey' }],
    ['another body', event, { sha256: Buffer.alloc(32).toString('base64') }],
    ['no hash', event, { sha256: '' }],
    ['a token that has run out', event, { ttl: -60 }],
    ['an event of yesterday', { ...event, createdAt: String(Math.floor(Date.now() / 1000) - 86_400) }, {}],
    ['an event of tomorrow', { ...event, createdAt: String(Math.floor(Date.now() / 1000) + 86_400) }, {}],
    ['an event without a time', { ...event, createdAt: undefined }, {}],
  ];
  for (const [what, forged, signing] of forgeries) {
    const { body, headers } = await signedWebhook(forged, signing);
    t.equal((await post(port, PATH, body, headers)).status, 403, what);
  }
  const { body, headers } = await signedWebhook(event);
  const [head = '', payload = ''] = headers.authorization.split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
  const tokens = ['', 'Bearer', `${head}.${payload}.`, `${none}.${payload}.`, 'x'.repeat(9_000)];
  for (const authorization of tokens) {
    t.equal(
      (await post(port, PATH, body, { ...headers, authorization })).status,
      403,
      authorization.slice(0, 40),
    );
  }
  t.equal((await post(port, PATH, `${body} `, headers)).status, 403, 'one more byte than was signed');
  t.same(ordersIn(dataDir), []);
  t.equal((await post(port, PATH, body, headers)).status, 200, 'the true one is taken');
});

t.test('R19 an older call of this room that outlived its main keeps the room', async (t) => {
  const dataDir = tempFolder();
  const first = await startWorker(dataDir, MEDIA_ENV);
  const begun = await post(first.fleetPort ?? 0, PATH, RINGING);
  await first.stop({ leaveCalls: true });
  const second = await startWorker(dataDir, MEDIA_ENV);
  const port = second.fleetPort ?? 0;
  t.match(second.health(), { fleet_available: 1, fleet_busy: 1 });
  t.match(
    second.health()?.workers?.find((each) => each.state === 'orphan'),
    { call_id: begun.json.call_id, room_name: 'sip-in-1' },
  );
  t.match(await post(port, PATH, RINGING), { status: 409, json: { code: 'already_attached' } });
  t.equal((await post(port, `/calls/${begun.json.call_id}/hangup`, {})).status, 200);
  await until(() => second.health()?.fleet_available === 2);
  t.equal((await post(port, PATH, RINGING)).status, 200, 'and then the room is free');
  for (const order of ordersIn(dataDir)) await post(port, `/calls/${order.callId}/hangup`, {});
  await second.stop();
});

t.test('a socket call and a room call share the slots of the host', async (t) => {
  const { port } = await worker(t, { CORE_SECRET: '', WS_AUTH: 'off' });
  const socket = await call(port, '/ws/echo');
  t.equal((await post(port, PATH, RINGING, {})).status, 200);
  t.equal((await post(port, PATH, { ...RINGING, room_name: 'sip-in-2' }, {})).status, 429);
  socket.socket.end();
});
