import t, { type Test } from 'tap';
import { startResultsReceiver } from '../harness/receiver.ts';
import { MEDIA_ENV, orderOf, ordersIn, post, SECRET, TRUNK_NUMBER } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { fleetHealth, startWorker } from '../harness/worker.ts';

// Real processes on a machine that may be busy with other things.
t.setTimeout(280_000);

const BODY = { bot_id: 'clinic', to_number: '+911150000001' };

async function worker(t: Test, env: Record<string, string> = {}) {
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, { ...MEDIA_ENV, ...env }, { joinWithinMs: 2_000 });
  const port = main.fleetPort ?? 0;
  t.teardown(async () => {
    for (const { callId } of ordersIn(dataDir)) await post(port, `/calls/${callId}/hangup`, {});
    await main.stop();
  });
  const free = async () => (await fleetHealth(port)).fleet_available;
  return { main, dataDir, port, free };
}

const ordered = async (dataDir: string, callId: string) => {
  await until(() => ordersIn(dataDir).some((order) => order.callId === callId));
  return orderOf(dataDir, callId);
};

t.test('R20 R160 R161 a dialout takes a slot, which gets the number, the trunk and the data', async (t) => {
  const { port, dataDir, free } = await worker(t);
  const answer = await post(port, '/rtc/dialout', {
    ...BODY,
    connected_event: {
      customer_name: 'Asha',
      _campaign_session_id: 'session-of-the-plane',
      caller_id: 'what a request says of the caller is not what was dialled',
    },
  });
  const { call_id: callId, room_name: roomName } = answer.json;
  t.same(answer.json, { status: 'accepted', call_id: callId, room_name: `call-${callId}` });
  t.equal(answer.status, 200);
  t.match(await ordered(dataDir, callId), {
    kind: 'sip_outbound',
    botId: 'clinic',
    roomName,
    customerIdentity: /^sip-/,
    dial: { trunkId: 'ST_out', toNumber: BODY.to_number, fromNumber: TRUNK_NUMBER },
    connected: {
      event: 'connected',
      stream_id: callId,
      call_id: callId,
      room_name: roomName,
      transport: 'rtc_sip',
      caller_id: BODY.to_number,
      from_number: TRUNK_NUMBER,
      to_number: BODY.to_number,
      call_direction: 'outbound',
      trunk_id: 'ST_out',
      customer_name: 'Asha',
      _campaign_session_id: 'session-of-the-plane',
    },
  });
  t.equal(await free(), 1);
  const attach = {
    room_name: roomName,
    bot_id: 'clinic',
    session_id: 's-1',
    to_number: BODY.to_number,
    customer_identity: 'sip-1',
  };
  t.match(
    await post(port, '/attach', attach),
    { status: 409, json: { code: 'already_attached' } },
    'no second bot comes into its room',
  );
  const other = await post(port, '/rtc/dialout', { ...BODY, from_number: '+911149999999' });
  t.equal((await ordered(dataDir, other.json.call_id)).dial?.fromNumber, '+911149999999');
});

t.test(
  'R162 R178 capacity alone bounds dialling: as many as there are slots, then 429 and no queue',
  async (t) => {
    const { port, dataDir, free } = await worker(t, { SLOTS: '3' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(port, '/rtc/dialout', BODY)));
    const statuses = answers.map(({ status }) => status).sort();
    t.same(statuses, [200, 200, 200, 429, 429, 429, 429, 429]);
    await until(() => ordersIn(dataDir).length === 3);
    for (const { callId } of ordersIn(dataDir)) {
      t.match(await post(port, `/calls/${callId}/hangup`, {}), { status: 200, json: { status: 'ok' } });
    }
    await until(async () => (await free()) === 3);
    t.equal(ordersIn(dataDir).length, 3, 'nothing had waited for its turn');
  },
);

t.test('R149 two dialouts at once go each to its own config endpoint', async (t) => {
  const { port, dataDir } = await worker(t);
  const urls = ['https://one.example.org/config', 'https://two.example.org/{bot_id}'];
  const answers = await Promise.all(
    urls.map((url) => post(port, '/rtc/dialout', { ...BODY, config_url: url })),
  );
  for (const [index, answer] of answers.entries()) {
    t.equal((await ordered(dataDir, answer.json.call_id)).configUrl, urls[index]);
  }
});

t.test('R162 without a trunk there is no dialling, and with one gone it stops at once', async (t) => {
  const { port, free } = await worker(t, { SIP_OUTBOUND_TRUNK_ID: '' });
  t.match(await post(port, '/rtc/dialout', BODY), {
    status: 503,
    json: { error: /SIP/, code: 'sip_not_configured' },
  });
  t.equal(await free(), 2);
  const health = await fleetHealth(port, { 'x-core-secret': SECRET });
  t.equal(health.media?.sip, 'no_trunk');
});

t.test('a slot that dies in a room call costs this call only: an error result, and a new slot', async (t) => {
  const { main, port, dataDir, free } = await worker(t);
  const receiver = await startResultsReceiver();
  t.teardown(() => receiver.close());
  const answer = await post(port, '/rtc/dialout', { ...BODY, connected_event: { webhook: receiver.url } });
  const { call_id: callId } = answer.json;
  const busy = () => main.health()?.workers?.find((each) => each.call_id === callId);
  await until(() => busy() !== undefined);
  const folder = `spool/${callId}/journal.jsonl`;
  const { existsSync } = await import('node:fs');
  await until(() => existsSync(`${dataDir}/${folder}`));
  process.kill(busy()?.pid ?? 0, 'SIGKILL');
  await until(() => receiver.got.length === 1);
  t.match(receiver.got[0]?.body, {
    disconnected_by: 'error',
    call_id: callId,
    room_name: `call-${callId}`,
    transport: 'rtc_sip',
    end_detail: { salvaged: true, cause: 'slot_died' },
  });
  await until(async () => (await free()) === 2);
  t.equal((await post(port, `/calls/${callId}/hangup`, {})).status, 200, 'hanging it up again is no mistake');
});

t.test('hanging up ends live calls, is no mistake afterwards, and is nobody’s but the fleet’s', async (t) => {
  const { port, free } = await worker(t);
  const { json } = await post(port, '/rtc/dialout', BODY);
  const path = `/calls/${json.call_id}/hangup`;
  t.match(await post(port, path, {}, {}), { status: 403, json: { error: 'Unauthorized' } });
  t.equal((await post(port, path, undefined, { 'x-core-secret': SECRET }, 'GET')).status, 405);
  t.equal((await post(port, path, { reason: 7 })).status, 422);
  t.equal((await post(port, path, { reason: 'the customer called back' })).status, 200);
  await until(async () => (await free()) === 2);
  t.match(await post(port, path, {}), { status: 200, json: { status: 'ok' } });
  t.equal((await post(port, '/calls/1b4e28ba-2fa1-11d2-883f-0016d3cca427/hangup', {})).status, 404);
  t.equal((await post(port, '/calls/hangup', {})).status, 404);
});

t.test('R22 a widget call is answered when the bot is in the room, and once', async (t) => {
  const { port, dataDir, free } = await worker(t);
  const body = {
    bot_id: 'clinic',
    room_name: 'widget-clinic-0123456789ab',
    participant_identity: 'widget-user-01234567',
    visitor: { page_url: 'https://shop.example.org/', locale: 'hi-IN', user_agent_family: 'Firefox' },
    connected_event: { plan: 'gold', transport: 'websocket' },
  };
  t.match(await post(port, '/rtc/widget', body, {}), { status: 403, json: { error: 'Unauthorized' } });
  t.equal((await post(port, '/rtc/widget', { ...body, visitor: { ip: '1' } })).status, 422);
  const answers = await Promise.all([post(port, '/rtc/widget', body), post(port, '/rtc/widget', body)]);
  t.match(answers[0], { status: 200, json: { status: 'accepted', room_name: body.room_name } });
  t.same(answers[1]?.json, answers[0]?.json);
  t.match(orderOf(dataDir, answers[0]?.json.call_id), {
    kind: 'widget',
    customerIdentity: body.participant_identity,
    connected: {
      transport: 'rtc_widget',
      call_direction: 'inbound',
      caller_id: body.participant_identity,
      page_url: 'https://shop.example.org/',
      locale: 'hi-IN',
      user_agent_family: 'Firefox',
      plan: 'gold',
    },
  });
  t.equal(await free(), 1);
  t.match(await post(port, '/rtc/widget', { ...body, participant_identity: 'widget-user-76543210' }), {
    status: 409,
    json: { code: 'already_attached' },
  });
});

t.test('what keeps a bot out of its room is said by the status', async (t) => {
  const { port, free } = await worker(t, { SLOTS: '1' });
  const reasons: [number, number, string][] = [
    [4404, 404, 'config_not_found'],
    [4409, 409, 'room_gone'],
    [4500, 502, 'config_failed'],
    [4503, 503, 'outside_active_hours'],
    [4504, 503, 'media_unavailable'],
    [1011, 503, 'media_unavailable'],
  ];
  for (const [code, status, expected] of reasons) {
    const answer = await post(port, '/rtc/widget', {
      bot_id: 'refuse',
      room_name: `widget-${code}`,
      participant_identity: 'widget-user-01234567',
      connected_event: { code, reason: 'as the slot says' },
    });
    t.match(answer, { status, json: { code: expected } }, String(code));
    await until(async () => (await free()) === 1);
  }
});

t.test('a widget call on a host without a media server is 503', async (t) => {
  const { port } = await worker(t, { LIVEKIT_API_KEY: '' });
  const body = { bot_id: 'clinic', room_name: 'widget-1', participant_identity: 'widget-user-1' };
  t.match(await post(port, '/rtc/widget', body), { status: 503, json: { code: 'media_not_configured' } });
  t.equal((await fleetHealth(port, { 'x-core-secret': SECRET })).media, null);
});
