import t, { type Test } from 'tap';
import { type MediaSetup, SIP_ROOM_PREFIX } from '../../src/contracts/rooms.ts';
import { startMediaSettings } from '../../src/main/rooms/media-settings.ts';
import { RoomReconciler } from '../../src/main/rooms/room-reconciler.ts';
import { joinAsGuest, mediaServer, silentLogger } from '../harness/room-guest.ts';
import { ordersIn, post } from '../harness/room-orders.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { startWorker } from '../harness/worker.ts';
import { inboundRouteTo } from '../stack/sip-routes.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import { ownStack, uniqueNumber, uniqueRoom, useStack } from '../stack/use-stack.ts';

t.setTimeout(280_000);

const HOST = `host-of-test-${process.pid}`;

async function reconcilerOf(
  t: Test,
  stack: StackAddresses,
  facts: {
    alive?: Set<string>;
    ended?: string[];
    live?: { callId: string; roomName: string; hangUp(reason: string): void }[];
    graceMs?: number;
    roomlessMs?: number;
  } = {},
) {
  let setup: MediaSetup | null = {
    access: { url: stack.wsUrl, apiKey: stack.apiKey, apiSecret: stack.apiSecret },
    dialling: null,
  };
  let asked = 0;
  const media = await startMediaSettings({ ask: async () => setup, seeds: {}, logger: silentLogger });
  t.teardown(() => media.stop());
  const reconciler = new RoomReconciler({
    media: {
      ...media,
      server(access) {
        asked += 1;
        return media.server(access);
      },
    },
    hostId: HOST,
    isAlive: (callId) => facts.alive?.has(callId) ?? false,
    isEnded: (roomName) => facts.ended?.includes(roomName) ?? false,
    live: () => facts.live ?? [],
    logger: silentLogger,
    graceMs: facts.graceMs ?? 0,
    ...(facts.roomlessMs === undefined ? {} : { roomlessMs: facts.roomlessMs }),
  });
  return {
    reconciler,
    asked: () => asked,
    async configure(next: MediaSetup | null) {
      setup = next;
      await media.fresh();
    },
  };
}

const ownedBy = (host: string, callId: string, more = {}) =>
  JSON.stringify({ trunkline: { host, call_id: callId, bot_id: 'clinic', ...more } });

t.test(
  'RT-85 a room that no call of this host serves is closed at the second look, legs and all',
  async (t) => {
    const stack = await useStack(t);
    const media = mediaServer(stack);
    const names = {
      zombie: uniqueRoom(t, stack, 'zombie'),
      live: uniqueRoom(t, stack, 'live'),
      other: uniqueRoom(t, stack, 'other'),
      desk: uniqueRoom(t, stack, 'desk'),
      unknown: uniqueRoom(t, stack, 'unknown'),
    };
    await media.createRoom(names.zombie, ownedBy(HOST, 'call-dead'));
    await media.createRoom(names.live, ownedBy(HOST, 'call-live'));
    await media.createRoom(names.other, ownedBy('host-of-somebody-else', 'call-theirs'));
    await media.createRoom(names.desk, ownedBy(HOST, 'call-handed-over', { handed_over: true }));
    await media.createRoom(names.unknown, 'not ours at all');
    const guest = await joinAsGuest(t, stack, names.zombie, 'customer-1');
    let sentAway = false;
    guest.room.on('disconnected', () => {
      sentAway = true;
    });
    const standing = async () => {
      const found = new Set((await media.listRooms(Object.values(names))).map(({ name }) => name));
      return Object.entries(names).flatMap(([what, name]) => (found.has(name) ? [what] : []));
    };
    const { reconciler } = await reconcilerOf(t, stack, { alive: new Set(['call-live']) });
    await reconciler.look();
    t.same(await standing(), ['zombie', 'live', 'other', 'desk', 'unknown'], 'one look closes nothing');
    t.match(reconciler.health(), { sip: 'no_trunk', rooms: 3, rooms_cleared: 0, latency_ms: Number });
    await reconciler.look();
    t.same(await standing(), ['live', 'other', 'desk', 'unknown']);
    t.match(reconciler.health(), { rooms_cleared: 1 });
    await until(() => sentAway);
    await reconciler.look();
    await reconciler.look();
    t.same(
      await standing(),
      ['live', 'other', 'desk', 'unknown'],
      'and nothing else, however often it looks',
    );
  },
);

t.test('RT-85 a room is given time, and a call that appears between two looks saves it', async (t) => {
  const stack = await useStack(t);
  const media = mediaServer(stack);
  const room = uniqueRoom(t, stack, 'young');
  await media.createRoom(room, ownedBy(HOST, 'call-young'));
  const patient = await reconcilerOf(t, stack, { graceMs: 3_600_000 });
  await patient.reconciler.look();
  await patient.reconciler.look();
  await patient.reconciler.look();
  t.equal((await media.listRooms([room])).length, 1, 'a young room');
  const alive = new Set<string>();
  const hasty = await reconcilerOf(t, stack, { alive });
  await hasty.reconciler.look();
  alive.add('call-young');
  await hasty.reconciler.look();
  alive.clear();
  await hasty.reconciler.look();
  t.equal((await media.listRooms([room])).length, 1, 'two looks in a row, not two looks');
});

t.test('RT-85 the room of a caller whose call is dead is closed, and the telephone is told', async (t) => {
  const stack = await useStack(t);
  const media = mediaServer(stack);
  const number = uniqueNumber();
  const room = uniqueRoom(t, stack, `${SIP_ROOM_PREFIX}reconciler`);
  await inboundRouteTo(t, stack, { number, room });
  const peer = await startSipp(t, 'uac-call', { to: stack.sipAddress, toUser: number });
  await until(async () => (await media.participants(room)).some(({ isSip }) => isSip));
  // What the slot had done with the room that the media server made before it died.
  await media.createRoom(room, ownedBy(HOST, 'call-dead-inbound'));
  const { reconciler } = await reconcilerOf(t, stack);
  await reconciler.look();
  t.equal((await media.listRooms([room])).length, 1);
  await reconciler.look();
  const told = await peer.until(
    ({ direction, status, cseqMethod }) =>
      direction === 'received' && cseqMethod === 'INVITE' && (status ?? 0) >= 400,
    20_000,
  );
  t.comment(`heard as ${told.startLine}`);
  t.equal((await media.listRooms([room])).length, 0);
});

t.test(
  'RT-85 a leg that arrives after its call is over is sent away from the room that it made',
  async (t) => {
    const stack = await useStack(t);
    const media = mediaServer(stack);
    const room = uniqueRoom(t, stack, 'call-ended');
    const guest = await joinAsGuest(t, stack, room, 'sip-late');
    let sentAway = false;
    guest.room.on('disconnected', () => {
      sentAway = true;
    });
    const { reconciler } = await reconcilerOf(t, stack, { ended: [room] });
    await reconciler.look();
    t.equal((await media.listRooms([room])).length, 1);
    await reconciler.look();
    t.equal((await media.listRooms([room])).length, 0);
    await until(() => sentAway);
  },
);

t.test('RT-85 a call whose room has long been gone is ended', async (t) => {
  const stack = await useStack(t);
  const media = mediaServer(stack);
  const room = uniqueRoom(t, stack, 'kept');
  await media.createRoom(room, ownedBy(HOST, 'call-kept'));
  const told: string[] = [];
  const live = ['kept', 'lost'].map((name) => ({
    callId: `call-${name}`,
    roomName: name === 'kept' ? room : `${room}-that-never-was`,
    hangUp: (reason: string) => void told.push(`${name} ${reason}`),
  }));
  const { reconciler } = await reconcilerOf(t, stack, {
    live,
    alive: new Set(['call-kept']),
    roomlessMs: 500,
  });
  await reconciler.look();
  t.same(told, [], 'not at the first look: the end of a call closes its room, too');
  await until(async () => {
    await reconciler.look();
    return told.length > 0;
  });
  t.same(told, ['lost room_gone']);
});

t.test('RT-85 without a media server nothing is asked, and the health says null', async (t) => {
  const stack = await useStack(t);
  const { reconciler, asked, configure } = await reconcilerOf(t, stack);
  await configure(null);
  await reconciler.look();
  t.equal(asked(), 0);
  t.equal(reconciler.health(), null);
});

t.test(
  'RT-85 a media server that goes away and comes back is told in the health, and its rooms are cleared',
  async (t) => {
    const stack = await ownStack(t);
    const dataDir = tempFolder();
    const main = await startWorker(
      dataDir,
      {
        LIVEKIT_URL: stack.wsUrl,
        LIVEKIT_API_KEY: stack.apiKey,
        LIVEKIT_API_SECRET: stack.apiSecret,
        SIP_OUTBOUND_TRUNK_ID: 'ST_any',
      },
      { reconcileEveryMs: 200, reconcileGraceMs: 0 },
    );
    t.teardown(() => main.stop());
    const port = main.fleetPort ?? 0;
    const body = {
      bot_id: 'clinic',
      room_name: 'widget-served',
      participant_identity: 'widget-user-1',
      connected_event: { make_room: true },
    };
    t.equal((await post(port, '/rtc/widget', body, {})).status, 200);
    await until(() => main.health()?.media?.rooms === 1);
    t.match(main.health(), { status: 'ok', media: { sip: 'ok' } });
    const [order] = ordersIn(dataDir);
    await stack.killServer();
    await until(() => main.health()?.media?.sip === 'unreachable');
    t.equal(main.health()?.status, 'degraded');
    await stack.startServer();
    const media = mediaServer(stack);
    await media.createRoom('call-forgotten', ownedBy(order?.hostId ?? '', 'call-of-an-earlier-life'));
    await until(async () => (await media.listRooms(['call-forgotten'])).length === 0);
    // The room is gone a moment before main has heard that it is.
    await until(() => main.health()?.media?.rooms_cleared === 1);
    t.match(main.health(), { status: 'ok', media: { sip: 'ok', rooms_cleared: 1 } });
    await post(port, `/calls/${order?.callId}/hangup`, {}, {});
  },
);
