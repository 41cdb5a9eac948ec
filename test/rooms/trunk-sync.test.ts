import { SIPInboundTrunkInfo, SipClient } from 'livekit-server-sdk';
import t, { type Test } from 'tap';
import { SIP_ROOM_PREFIX } from '../../src/contracts/rooms.ts';
import { MediaServer } from '../../src/platform/media-server.ts';
import { testBot } from '../harness/control.ts';
import { type SettingsPlane, startPlane } from '../harness/settings-harness.ts';
import { until } from '../harness/wait.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import type { Stack } from '../stack/start-stack.ts';
import { ownStack, uniqueNumber, useStack } from '../stack/use-stack.ts';

t.setTimeout(280_000);

const CARRIER = {
  name: 'Carrier',
  direction: 'both',
  address: '127.0.0.1:9',
  transport: 'udp',
  auth_username: 'trunkline',
  auth_password: 'the password of the carrier',
  allowed_addresses: ['127.0.0.1/32'],
  numbers: ['+15550000001'],
};

/** The trunks and numbers of a control plane beside a real media server. */
interface SyncHarness {
  plane: SettingsPlane;
  sip: SipClient;
  // biome-ignore lint/suspicious/noExplicitAny: the test looks at whatever came back.
  ask(method: string, path: string, body?: unknown, status?: number): Promise<any>;
  /** What stands in the media server for a trunk of this plane. */
  inServer(trunkId: string): Promise<{
    inbound: Awaited<ReturnType<SipClient['listSipInboundTrunk']>>;
    outbound: Awaited<ReturnType<SipClient['listSipOutboundTrunk']>>;
    rules: Awaited<ReturnType<SipClient['listSipDispatchRule']>>;
  }>;
}

async function syncHarness(t: Test, stack: Stack): Promise<SyncHarness> {
  const plane = await startPlane({
    seeds: {
      livekit_url: stack.wsUrl,
      livekit_api_key: stack.apiKey,
      livekit_api_secret: stack.apiSecret,
    },
  });
  await plane.bots.put(testBot());
  const sip = new SipClient(stack.url, stack.apiKey, stack.apiSecret);
  const ask: SyncHarness['ask'] = async (method, path, body, status) => {
    const answer = await plane.call(method, `/api/v1${path}`, { body, headers: plane.as('admin') });
    const wanted = status ?? (method === 'POST' ? 201 : method === 'DELETE' ? 204 : 200);
    if (answer.status !== wanted) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  t.teardown(async () => {
    for (const { id } of (await ask('GET', '/numbers')).items) await ask('DELETE', `/numbers/${id}`);
    for (const { id } of (await ask('GET', '/trunks')).items) await ask('DELETE', `/trunks/${id}`);
    await plane.media.sync.run();
    await plane.stop();
  });
  return {
    plane,
    sip,
    ask,
    async inServer(trunkId) {
      const inbound = (await sip.listSipInboundTrunk()).filter((one) => one.metadata.includes(trunkId));
      const outbound = (await sip.listSipOutboundTrunk()).filter((one) => one.metadata.includes(trunkId));
      const ids = new Set(inbound.map((one) => one.sipTrunkId));
      const rules = (await sip.listSipDispatchRule()).filter((rule) =>
        rule.trunkIds.some((id) => ids.has(id)),
      );
      return { inbound, outbound, rules };
    },
  };
}

t.test('a trunk and its numbers are brought to the media server, once', async (t) => {
  const { plane, ask, inServer } = await syncHarness(t, await useStack(t));
  const number = uniqueNumber();
  const trunk = await ask('POST', '/trunks', CARRIER);
  await ask('POST', '/numbers', { number, bot_id: 'clinic', trunk_id: trunk.id });
  await plane.media.sync.run();
  const { inbound, outbound, rules } = await inServer(trunk.id);
  t.equal(inbound.length, 1);
  t.match(inbound[0], { numbers: [number], allowedAddresses: ['127.0.0.1/32'], authUsername: '' });
  t.equal(outbound.length, 1);
  t.match(outbound[0], {
    address: '127.0.0.1:9',
    numbers: CARRIER.numbers,
    authUsername: 'trunkline',
    authPassword: CARRIER.auth_password,
  });
  t.equal(rules.length, 1);
  t.same(rules[0]?.trunkIds, [inbound[0]?.sipTrunkId], 'a rule for our trunks, and for no other');
  t.match((await ask('GET', `/trunks/${trunk.id}`)).sync, {
    state: 'in_sync',
    error: null,
    inbound_trunk_id: inbound[0]?.sipTrunkId,
    outbound_trunk_id: outbound[0]?.sipTrunkId,
  });
  await plane.media.sync.run();
  t.same(await inServer(trunk.id), { inbound, outbound, rules }, 'a second look writes nothing');
});

t.test('what was changed by hand in the media server is put right, and what is not ours stays', async (t) => {
  const stack = await useStack(t);
  const { plane, sip, ask, inServer } = await syncHarness(t, stack);
  const foreign = await sip.createSipInboundTrunk('by hand', [uniqueNumber()]);
  t.teardown(() => sip.deleteSipTrunk(foreign.sipTrunkId));
  const trunk = await ask('POST', '/trunks', CARRIER);
  await ask('POST', '/numbers', { number: uniqueNumber(), bot_id: 'clinic', trunk_id: trunk.id });
  await plane.media.sync.run();
  const before = await inServer(trunk.id);
  const [inbound] = before.inbound;
  const [outbound] = before.outbound;
  const [rule] = before.rules;
  if (!inbound || !outbound || !rule) throw new Error('the trunk is not in the media server');
  await sip.updateSipInboundTrunk(
    inbound.sipTrunkId,
    new SIPInboundTrunkInfo({ ...inbound, numbers: [uniqueNumber()], krispEnabled: true }),
  );
  await sip.deleteSipTrunk(outbound.sipTrunkId);
  await sip.deleteSipDispatchRule(rule.sipDispatchRuleId);
  // An answer that was lost leaves a second copy behind.
  const copy = await sip.createSipOutboundTrunk('copy', '127.0.0.1:9', ['+1'], {
    transport: 1,
    metadata: outbound.metadata,
  });
  const second = await sip.createSipOutboundTrunk('copy', '127.0.0.1:9', ['+1'], {
    transport: 1,
    metadata: outbound.metadata,
  });
  await plane.media.sync.run();
  const after = await inServer(trunk.id);
  t.same(after.inbound[0]?.numbers, inbound.numbers);
  t.equal(after.inbound[0]?.krispEnabled, true, 'what an operator has added stays');
  t.equal(after.outbound.length, 1, 'one of the two copies is made ours');
  t.ok([copy.sipTrunkId, second.sipTrunkId].includes(after.outbound[0]?.sipTrunkId ?? ''));
  t.same(after.outbound[0]?.numbers, CARRIER.numbers);
  t.equal(after.rules.length, 1);
  t.equal((await ask('GET', `/trunks/${trunk.id}`)).sync.outbound_trunk_id, after.outbound[0]?.sipTrunkId);
  const others = (await sip.listSipInboundTrunk()).map(({ sipTrunkId }) => sipTrunkId);
  t.ok(others.includes(foreign.sipTrunkId));
});

t.test('a number moves between trunks, and a trunk that is switched off goes', async (t) => {
  const { plane, sip, ask, inServer } = await syncHarness(t, await useStack(t));
  const [first, second] = [uniqueNumber(), uniqueNumber()];
  const a = await ask('POST', '/trunks', { name: 'A', direction: 'inbound' });
  const b = await ask('POST', '/trunks', { name: 'B', direction: 'inbound' });
  const moving = await ask('POST', '/numbers', { number: first, bot_id: 'clinic', trunk_id: a.id });
  const staying = await ask('POST', '/numbers', { number: second, bot_id: 'clinic', trunk_id: b.id });
  await plane.media.sync.run();
  // Each number goes to the other trunk: whichever is written first is refused once.
  await ask('PATCH', `/numbers/${moving.id}`, { trunk_id: b.id });
  await ask('PATCH', `/numbers/${staying.id}`, { trunk_id: a.id });
  await plane.media.sync.run();
  await plane.media.sync.run();
  t.same((await inServer(a.id)).inbound[0]?.numbers, [second]);
  t.same((await inServer(b.id)).inbound[0]?.numbers, [first]);
  for (const { id } of [a, b]) t.equal((await ask('GET', `/trunks/${id}`)).sync.state, 'in_sync');
  await ask('PATCH', `/trunks/${a.id}`, { enabled: false });
  await ask('PATCH', `/numbers/${moving.id}`, { enabled: false });
  const { rules } = await inServer(b.id);
  await plane.media.sync.run();
  t.same((await inServer(a.id)).inbound, []);
  t.same((await inServer(b.id)).inbound, [], 'nothing that is called: nothing that takes calls');
  const left = (await sip.listSipDispatchRule()).map(({ sipDispatchRuleId }) => sipDispatchRuleId);
  t.notOk(
    left.includes(rules[0]?.sipDispatchRuleId ?? ''),
    'a rule without trunks would take everybody’s calls',
  );
  t.equal((await ask('GET', `/trunks/${a.id}`)).sync.state, 'off');
});

t.test('what the media server refuses is told, and the other trunks go on', async (t) => {
  const { plane, sip, ask, inServer } = await syncHarness(t, await useStack(t));
  const taken = uniqueNumber();
  const foreign = await sip.createSipInboundTrunk('by hand', [taken]);
  t.teardown(() => sip.deleteSipTrunk(foreign.sipTrunkId));
  const a = await ask('POST', '/trunks', { name: 'A', direction: 'inbound' });
  const b = await ask('POST', '/trunks', { name: 'B', direction: 'inbound' });
  await ask('POST', '/numbers', { number: taken, bot_id: 'clinic', trunk_id: a.id });
  await ask('POST', '/numbers', { number: uniqueNumber(), bot_id: 'clinic', trunk_id: b.id });
  await plane.media.sync.run();
  t.match((await ask('GET', `/trunks/${a.id}`)).sync, { state: 'failed', error: /refuses it.*[Cc]onflict/ });
  t.equal((await ask('GET', `/trunks/${b.id}`)).sync.state, 'in_sync');
  t.equal((await inServer(b.id)).rules.length, 1);
});

t.test('R157 outbound calls go through the default trunk once the media server has it', async (t) => {
  const { plane, ask } = await syncHarness(t, await useStack(t));
  const place = () =>
    plane.call('POST', '/api/v1/calls', {
      body: { bot_id: 'clinic', to_number: '+911140001234' },
      headers: plane.as('dialler'),
    });
  t.match(await place(), { status: 503, json: { code: 'no_trunk' } });
  const trunk = await ask('POST', '/trunks', {
    ...CARRIER,
    default_outbound: true,
    destinations: ['+91', '1800'],
  });
  t.match(await place(), { status: 503, json: { code: 'no_trunk' } }, 'it is not there yet');
  await plane.media.sync.run();
  const outboundId = (await ask('GET', `/trunks/${trunk.id}`)).sync.outbound_trunk_id;
  t.same((await plane.media.setup())?.dialling, { trunkId: outboundId, defaultFrom: '+15550000001' });
  t.match(await place(), { status: 503, json: { code: 'no_fleet' } }, 'only the host is missing now');
  const abroad = await plane.call('POST', '/api/v1/calls', {
    body: { bot_id: 'clinic', to_number: '+4930123456' },
    headers: plane.as('dialler'),
  });
  t.match(abroad, { status: 422, json: { errors: [{ pointer: '/to_number' }] } });
  await ask('PATCH', '/settings', {
    values: { sip_outbound_trunk_id: 'ST_by_hand', sip_default_from: '+15550000002' },
  });
  t.same(
    (await plane.media.setup())?.dialling,
    { trunkId: 'ST_by_hand', defaultFrom: '+15550000002' },
    'one that was named by hand goes first',
  );
});

t.test(
  'R19 a call to a number of ours rings in a room of its own, and one to nobody’s number gets none',
  async (t) => {
    // Its own: houses of other tests would send this caller away.
    const stack = await ownStack(t);
    const { plane, ask } = await syncHarness(t, stack);
    const number = uniqueNumber();
    const trunk = await ask('POST', '/trunks', {
      ...CARRIER,
      direction: 'inbound',
      auth_username: null,
      auth_password: null,
    });
    await ask('POST', '/numbers', { number, bot_id: 'clinic', trunk_id: trunk.id });
    await plane.media.sync.run();
    const caller = uniqueNumber();
    const ringing = await startSipp(t, 'uac-cancel', {
      to: stack.sipAddress,
      fromUser: caller,
      toUser: number,
      headers: { 'X-Customer': 'C-17' },
      cancelAfterMs: 4_000,
    });
    const { url, apiKey, apiSecret } = stack;
    const media = new MediaServer({ url, apiKey, apiSecret });
    const room = await until(async () =>
      (await media.listRooms()).find(({ name }) => name.includes(number) && name.startsWith(SIP_ROOM_PREFIX)),
    );
    t.notMatch(room.name, caller.slice(1), 'the number of the caller is in no room name');
    const person = await until(async () => (await media.participants(room.name))[0]);
    t.match(person, {
      isSip: true,
      attributes: {
        'sip.phoneNumber': caller,
        'sip.trunkPhoneNumber': number,
        'sip.h.x-customer': 'C-17',
      },
    });
    await ringing.finished;
    // The SIP service deals with it by itself; this version rings and lets the call fall.
    const nobody = uniqueNumber();
    const stray = await startSipp(t, 'uac-call', { to: stack.sipAddress, fromUser: caller, toUser: nobody });
    await stray.until((message) => (message.status ?? 0) >= 180);
    for (let looks = 0; looks < 20; looks++) {
      const rooms = await media.listRooms();
      if (rooms.some(({ name }) => name.includes(nobody))) t.fail('a number that nobody has got a room');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    t.notOk(stray.messages.some(({ status }) => status !== null && status >= 200 && status < 300));
  },
);

t.test('a media server that is away is told, and caught up with when it is back', async (t) => {
  const stack = await ownStack(t);
  const { plane, ask, inServer } = await syncHarness(t, stack);
  const trunk = await ask('POST', '/trunks', CARRIER);
  await plane.media.sync.run();
  await stack.killServer();
  await ask('PATCH', `/trunks/${trunk.id}`, { name: 'Renamed' });
  await plane.media.sync.run();
  t.match((await ask('GET', `/trunks/${trunk.id}`)).sync, {
    state: 'waiting',
    error: /does not answer/,
    outbound_trunk_id: /^ST_/,
  });
  t.ok((await plane.media.setup())?.access, 'hosts still know where it is');
  await stack.startServer();
  plane.media.start();
  await until(async () => (await ask('GET', `/trunks/${trunk.id}`)).sync.state === 'in_sync');
  t.equal((await inServer(trunk.id)).outbound[0]?.name, 'Trunkline: Renamed');
});

t.test('a media server that is entered later gets the trunks at once', async (t) => {
  const stack = await useStack(t);
  const { plane, ask, inServer } = await syncHarness(t, stack);
  await ask('PATCH', '/settings', { values: { livekit_url: null } });
  plane.media.start();
  const trunk = await ask('POST', '/trunks', CARRIER);
  await until(async () => (await ask('GET', `/trunks/${trunk.id}`)).sync.state === 'not_configured');
  t.equal(await plane.media.setup(), null);
  await ask('PATCH', '/settings', { values: { livekit_url: stack.wsUrl } });
  // As every host does that asks for its set-up.
  t.ok(await plane.media.setup());
  await until(async () => (await ask('GET', `/trunks/${trunk.id}`)).sync.state === 'in_sync');
  t.equal((await inServer(trunk.id)).outbound.length, 1);
});

t.test('of changes that come while a pass is at work none is put off', async (t) => {
  const { plane, ask, inServer } = await syncHarness(t, await useStack(t));
  plane.media.start();
  const trunk = await ask('POST', '/trunks', CARRIER);
  for (let i = 0; i < 30; i++) {
    await ask('PATCH', `/trunks/${trunk.id}`, { name: `Name ${i}` });
    // Passes take some 20 ms and begin 50 ms after a change: these gaps meet every part of them.
    await new Promise((resolve) => setTimeout(resolve, (i * 7) % 90));
  }
  await until(async () => (await inServer(trunk.id)).outbound[0]?.name === 'Trunkline: Name 29');
  await until(async () => (await ask('GET', `/trunks/${trunk.id}`)).sync.state === 'in_sync');
});

t.test('a trunk is tried by OPTIONS, and by a call that rings once', async (t) => {
  const { plane, ask } = await syncHarness(t, await useStack(t));
  const busy = await startSipp(t, 'uas-486');
  const trunk = await ask('POST', '/trunks', { ...CARRIER, direction: 'outbound', address: busy.address });
  const test = (body: object) => ask('POST', `/trunks/${trunk.id}/test`, body, 200);
  t.match((await test({ to_number: '+15550000009' })).call, {
    outcome: 'failed',
    detail: /not in the media/,
  });
  await plane.media.sync.run();
  t.match((await test({ to_number: '+15550000009' })).call, { outcome: 'refused', sip_code: 486 });
  const rings = await startSipp(t, 'uas-ring-forever');
  await ask('PATCH', `/trunks/${trunk.id}`, { address: rings.address });
  await plane.media.sync.run();
  t.match((await test({ to_number: '+15550000009' })).call, { outcome: 'rang', sip_code: null });
  await rings.until((message) => message.direction === 'received' && message.method === 'CANCEL');
  await ask('PATCH', `/trunks/${trunk.id}`, { address: '127.0.0.1:9', destinations: ['+91'] });
  t.match(await test({}), { call: null, options: { outcome: 'failed' } });
  await ask('POST', `/trunks/${trunk.id}/test`, { to_number: '+15550000009' }, 422);
  t.same((await plane.media.setup())?.dialling, null, 'it is no default');
});
