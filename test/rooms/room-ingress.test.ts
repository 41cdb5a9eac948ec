import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { SIP_ROOM_PREFIX } from '../../src/contracts/rooms.ts';
import { startResultsReceiver } from '../harness/receiver.ts';
import { joinAsGuest, mediaServer } from '../harness/room-guest.ts';
import { orderOf, ordersIn, post, SECRET } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { fleetHealth, startWorker } from '../harness/worker.ts';
import { inboundRouteTo } from '../stack/sip-routes.ts';
import { type SippOptions, startSipp } from '../stack/sipp-peer.ts';
import type { Stack } from '../stack/start-stack.ts';
import { ownStack, uniqueNumber, uniqueRoom, useStack } from '../stack/use-stack.ts';

// The real media server; slots are stand-ins, because main's part of a room call is what is looked at.
t.setTimeout(280_000);

interface Options {
  env?: Record<string, string>;
  slots?: number;
  reservationMs?: number;
  unclaimedMs?: number;
  stack?: Stack;
  webhooks?: boolean;
}

async function harness(t: Test, options: Options = {}) {
  const stack = options.stack ?? (await useStack(t));
  const dataDir = tempFolder();
  const number = uniqueNumber();
  const env = {
    CORE_SECRET: SECRET,
    WS_AUTH: 'secret',
    SLOTS: String(options.slots ?? 2),
    LIVEKIT_URL: stack.wsUrl,
    LIVEKIT_API_KEY: stack.apiKey,
    LIVEKIT_API_SECRET: stack.apiSecret,
    DID_MAP: `${number}=clinic`,
    ...options.env,
  };
  const main = await startWorker(dataDir, env, {
    reservationMs: options.reservationMs ?? 60_000,
    reconcileEveryMs: 600_000,
    ...(options.unclaimedMs === undefined ? {} : { unclaimedMs: options.unclaimedMs }),
  });
  const port = main.fleetPort ?? 0;
  const toDoor = `http://127.0.0.1:${port}/rtc/dispatch`;
  const detach = options.webhooks === false ? () => undefined : await stack.sendWebhooksTo(toDoor);
  t.teardown(async () => {
    await detach();
    for (const { callId } of ordersIn(dataDir)) {
      await post(port, `/calls/${callId}/hangup`, {}).catch(() => undefined);
    }
    await main.stop();
  });
  const media = mediaServer(stack);
  /** A caller rings at `called`, in a room of its own as our dispatch rule makes them. */
  const ring = async (called: string, sipp: SippOptions = {}) => {
    const room = uniqueRoom(t, stack, `${SIP_ROOM_PREFIX}ingress`);
    await inboundRouteTo(t, stack, {
      number: called,
      room,
      headersToAttributes: { 'X-Customer-Id': 'sip.h.x-customer-id' },
    });
    const peer = await startSipp(t, 'uac-call', {
      to: stack.sipAddress,
      toUser: called,
      fromUser: '+15559990001',
      headers: { 'X-Customer-Id': '4711' },
      ...sipp,
    });
    return { room, peer };
  };
  const standing = async (room: string) => (await media.listRooms([room])).length === 1;
  return { stack, main, port, dataDir, number, media, ring, standing };
}

const refusal = (message: { direction: string; status: number | null; cseqMethod: string }) =>
  message.direction === 'received' && message.cseqMethod === 'INVITE' && (message.status ?? 0) >= 400;

t.test('R19 a call from the telephone network reaches the bot of its number, with its headers', async (t) => {
  const { port, dataDir, number, ring } = await harness(t);
  const { room, peer } = await ring(number);
  await until(() => ordersIn(dataDir).length === 1);
  const [order] = ordersIn(dataDir);
  t.match(order, {
    kind: 'sip_inbound',
    botId: 'clinic',
    roomName: room,
    customerIdentity: /15559990001/,
    connected: {
      caller_id: '+15559990001',
      to_number: number,
      call_direction: 'inbound',
      trunk_id: /^ST_/,
      sip_call_id: /^SCL_/,
      sip_candidate_headers: { 'x-customer-id': '4711' },
    },
  });
  t.equal((await fleetHealth(port)).fleet_busy, 1);
  t.notOk(
    peer.messages.some(({ status }) => status === 200),
    'nothing has answered: it rings',
  );
});

t.test('R162 a full host refuses a caller while it rings, and leaves no room', async (t) => {
  const { port, number, ring, standing } = await harness(t, { slots: 1 });
  await post(port, '/reservations', {}).then(({ json }) =>
    t.teardown(() =>
      post(
        port,
        `/reservations/${json.reservation_id}`,
        undefined,
        { 'x-core-secret': SECRET },
        'DELETE',
      ).catch(() => undefined),
    ),
  );
  const { room, peer } = await ring(number);
  const refused = await peer.until(refusal, 60_000);
  t.comment(`a full host is heard as ${refused.startLine}`);
  t.ok([480, 486, 487, 500, 503, 603].includes(refused.status ?? 0), refused.startLine);
  await until(async () => !(await standing(room)));
});

t.test('a number that no bot answers is refused at once when it is an order', async (t) => {
  const { ring, standing, dataDir, port, media } = await harness(t, { webhooks: false });
  const { room, peer } = await ring(uniqueNumber());
  await until(async () => (await media.participants(room)).some(({ isSip }) => isSip));
  const [caller] = await media.participants(room);
  const answer = await post(port, '/rtc/dispatch', {
    did: '+15550000000',
    room_name: room,
    participant_identity: caller?.identity,
  });
  t.match(answer, { status: 404, json: { code: 'not_found' } });
  const refused = await peer.until(refusal, 60_000);
  t.comment(`an unknown number is heard as ${refused.startLine}`);
  await until(async () => !(await standing(room)));
  t.same(ordersIn(dataDir), []);
});

t.test(
  'an event about an unknown number leaves another installation its caller, and only that one',
  async (t) => {
    const stack = await ownStack(t);
    const { ring, standing, media, dataDir } = await harness(t, { stack, unclaimedMs: 6_000 });
    const [theirs, nobodys] = await Promise.all([ring(uniqueNumber()), ring(uniqueNumber())]);
    await until(async () => await standing(theirs.room));
    const owner = { host: 'another-host', call_id: 'call-of-theirs', bot_id: 'b' };
    await media.createRoom(theirs.room, JSON.stringify({ trunkline: owner }));
    const refused = await nobodys.peer.until(refusal, 60_000);
    t.comment(`a number that nobody knows is heard as ${refused.startLine}`);
    await until(async () => !(await standing(nobodys.room)));
    t.ok(await standing(theirs.room));
    t.notOk(theirs.peer.messages.some(refusal), 'the other one goes on ringing');
    t.same(ordersIn(dataDir), []);
  },
);

t.test('R19 a caller that rings while main is away is served when it is back', async (t) => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const stack = await ownStack(t, { webhookUrls: [`http://127.0.0.1:${port}/rtc/dispatch`] });
  const number = uniqueNumber();
  const room = uniqueRoom(t, stack, `${SIP_ROOM_PREFIX}ingress`);
  await inboundRouteTo(t, stack, { number, room });
  await startSipp(t, 'uac-call', { to: stack.sipAddress, toUser: number });
  const media = mediaServer(stack);
  await until(async () => (await media.participants(room)).some(({ isSip }) => isSip));
  const dataDir = tempFolder();
  const main = await startWorker(dataDir, {
    FLEET_LISTEN: `127.0.0.1:${port}`,
    LIVEKIT_URL: stack.wsUrl,
    LIVEKIT_API_KEY: stack.apiKey,
    LIVEKIT_API_SECRET: stack.apiSecret,
    DID_MAP: '*=clinic',
  });
  t.teardown(() => main.stop());
  await until(() => ordersIn(dataDir).length === 1);
  const [order] = ordersIn(dataDir);
  t.match(order, { roomName: room, botId: 'clinic' }, 'the media server repeats its webhooks for a while');
  await post(port, `/calls/${order?.callId}/hangup`, {}, {});
});

t.test('R30 the room of a dead slot is closed and its caller freed, at once', async (t) => {
  const { main, dataDir, number, ring, standing } = await harness(t);
  const { room, peer } = await ring(number);
  await until(() => ordersIn(dataDir).length === 1);
  const callId = ordersIn(dataDir)[0]?.callId ?? '';
  await until(() => existsSync(`${dataDir}/spool/${callId}/journal.jsonl`));
  const busy = main.health()?.workers?.find((each) => each.call_id === callId);
  process.kill(busy?.pid ?? 0, 'SIGKILL');
  const refused = await peer.until(refusal, 60_000);
  t.comment(`a dead slot is heard as ${refused.startLine}`);
  await until(async () => !(await standing(room)));
  await until(() => main.health()?.fleet_available === 2);
});

t.test('R30 a call that outlived its main and then dies leaves no room either', async (t) => {
  const stack = await useStack(t);
  const dataDir = tempFolder();
  const receiver = await startResultsReceiver();
  t.teardown(() => receiver.close());
  const room = uniqueRoom(t, stack, 'call-orphan');
  const env = {
    LIVEKIT_URL: stack.wsUrl,
    LIVEKIT_API_KEY: stack.apiKey,
    LIVEKIT_API_SECRET: stack.apiSecret,
  };
  const bounds = { reconcileEveryMs: 600_000 };
  const first = await startWorker(dataDir, env, bounds);
  const answer = await post(
    first.fleetPort ?? 0,
    '/rtc/widget',
    {
      bot_id: 'clinic',
      room_name: room,
      participant_identity: 'widget-user-1',
      connected_event: { make_room: true, webhook: receiver.url },
    },
    {},
  );
  t.equal(answer.status, 200);
  const pid = first.health()?.workers?.find(({ state }) => state === 'busy')?.pid ?? 0;
  await first.stop({ leaveCalls: true });
  const second = await startWorker(dataDir, env, bounds);
  t.teardown(() => second.stop());
  const media = mediaServer(stack);
  t.equal((await media.listRooms([room])).length, 1, 'main came back, and the call goes on');
  process.kill(pid, 'SIGKILL');
  await until(async () => (await media.listRooms([room])).length === 0);
  await until(() => receiver.got.length === 1);
  t.match(receiver.got[0]?.body, { disconnected_by: 'error', room_name: room });
});

const attachTo = (room: string, change: Record<string, unknown> = {}) => ({
  room_name: room,
  bot_id: 'clinic',
  session_id: `session-of-${room}`,
  to_number: '+911150000001',
  from_number: '+911140000000',
  customer_identity: 'customer-1',
  campaign_id: 'cmp_1',
  campaign_call_id: 'cc_1',
  attempt: 2,
  run_number: 3,
  connected_event: { name: 'Asha', _campaign_session_id: 'not this one' },
  answered_at: '2026-11-20T10:00:00.000Z',
  screening: { result: 'human', confidence: 0.9, elapsed_ms: 900, transcript: 'hello?' },
  sip: { call_id: 'SCL_2', trunk_id: 'ST_1' },
  ...change,
});

t.test('R21 an answered call gets its bot once, however often it is asked for', async (t) => {
  const { stack, port, dataDir } = await harness(t);
  const room = uniqueRoom(t, stack, 'attach');
  await joinAsGuest(t, stack, room, 'customer-1');
  const answers = await Promise.all([1, 2, 3].map(() => post(port, '/attach', attachTo(room))));
  t.match(answers[0], {
    status: 200,
    json: { status: 'accepted', call_id: String, room_name: room, worker_id: /^[12]$/ },
  });
  for (const answer of answers) t.same(answer.json, answers[0]?.json);
  t.equal(ordersIn(dataDir).length, 1);
  const callId: string = answers[0]?.json.call_id;
  t.match(orderOf(dataDir, callId), {
    kind: 'attach',
    customerIdentity: 'customer-1',
    attached: {
      answeredAt: '2026-11-20T10:00:00.000Z',
      screening: { result: 'human', transcript: 'hello?' },
    },
    connected: {
      name: 'Asha',
      caller_id: '+911150000001',
      from_number: '+911140000000',
      to_number: '+911150000001',
      call_direction: 'outbound',
      transport: 'rtc_sip',
      room_name: room,
      trunk_id: 'ST_1',
      sip_call_id: 'SCL_2',
      screening_result: 'human',
      screening_confidence: 0.9,
      _campaign_session_id: `session-of-${room}`,
      _campaign_id: 'cmp_1',
      _campaign_call_id: 'cc_1',
      _campaign_attempt: 2,
      _campaign_run_number: 3,
    },
  });
  t.match(
    await post(port, '/attach', attachTo(room, { session_id: 'another' })),
    { status: 409, json: { code: 'already_attached' } },
    'another session does not get into the same room',
  );
  await post(port, `/calls/${callId}/hangup`, {});
  await until(async () => (await fleetHealth(port)).fleet_available === 2);
  t.same((await post(port, '/attach', attachTo(room))).json, answers[0]?.json, 'also when the call is over');
  t.equal(ordersIn(dataDir).length, 1, 'another slot was never taken');
});

t.test('R21 a room or a customer that is gone is 409, and nothing is kept for it', async (t) => {
  const { stack, port } = await harness(t);
  const room = uniqueRoom(t, stack, 'attach');
  const gone = { status: 409, json: { code: 'room_gone' } };
  t.match(await post(port, '/attach', attachTo(room)), gone, 'no such room');
  await joinAsGuest(t, stack, room, 'somebody-else');
  const { json } = await post(port, '/reservations', {});
  const withLease = attachTo(room, { lease_id: json.reservation_id });
  t.match(await post(port, '/attach', withLease), gone, 'the customer is not in it');
  t.match(await fleetHealth(port), { fleet_available: 2, fleet_reserved: 0, fleet_busy: 0 });
  await joinAsGuest(t, stack, room, 'customer-1');
  t.match(await post(port, '/attach', withLease), { status: 410 }, 'the reservation was used up');
  t.equal((await post(port, '/attach', attachTo(room))).status, 200, 'a refusal may be tried again');
});

t.test('R21 a reservation has its slot on a host that is full, and even on one that drains', async (t) => {
  const { stack, main, port, dataDir } = await harness(t);
  const rooms = [uniqueRoom(t, stack, 'attach'), uniqueRoom(t, stack, 'attach')];
  for (const room of rooms) await joinAsGuest(t, stack, room, 'customer-1');
  const leases: string[] = [];
  for (const _ of rooms) leases.push((await post(port, '/reservations', {})).json.reservation_id);
  const [roomA = '', roomB = ''] = rooms;
  t.match(await post(port, '/attach', attachTo(roomA)), { status: 429, json: { error: 'At capacity' } });
  t.equal((await post(port, '/attach', attachTo(roomA, { lease_id: leases[0] }))).status, 200);
  t.match(await fleetHealth(port), { fleet_available: 0, fleet_busy: 1, fleet_reserved: 1 });
  const stopped = main.stop();
  t.equal((await post(port, '/attach', attachTo(roomB, { lease_id: leases[1] }))).status, 200);
  for (const { callId } of ordersIn(dataDir)) await post(port, `/calls/${callId}/hangup`, {});
  await stopped;
  t.equal(ordersIn(dataDir).length, 2, 'and the host stops when both are over');
});

t.test(
  'R21 a session that outlived a restart of main is the same call when it is asked for again',
  async (t) => {
    const stack = await useStack(t);
    const dataDir = tempFolder();
    const env = {
      LIVEKIT_URL: stack.wsUrl,
      LIVEKIT_API_KEY: stack.apiKey,
      LIVEKIT_API_SECRET: stack.apiSecret,
    };
    const room = uniqueRoom(t, stack, 'attach');
    await joinAsGuest(t, stack, room, 'customer-1');
    const first = await startWorker(dataDir, env);
    const begun = await post(first.fleetPort ?? 0, '/attach', attachTo(room), {});
    await first.stop({ leaveCalls: true });
    const second = await startWorker(dataDir, env);
    const port = second.fleetPort ?? 0;
    const again = await post(port, '/attach', attachTo(room), {});
    t.match(again, { status: 200, json: { call_id: begun.json.call_id, worker_id: /^orphan-/ } });
    t.equal((await post(port, '/attach', attachTo(room, { session_id: 'another' }), {})).status, 409);
    await post(port, `/calls/${begun.json.call_id}/hangup`, {}, {});
    await until(() => second.health()?.fleet_available === 2);
    await second.stop();
  },
);
