import t from 'tap';
import { monotonicMs, sleepMs } from '../../src/platform/clock.ts';
import type { RoomTransportOptions } from '../../src/slot/room/room-transport.ts';
import { joinAsGuest, mediaServer, type RoomGuest } from '../harness/room-guest.ts';
import { joinAsBot, openRoomLine, type RoomLine } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { type Test, uniqueRoom, useStack } from '../stack/use-stack.ts';

const BOT = 'bot-test';
const VISITOR = 'widget-user-12345678';

async function meet(
  t: Test,
  prefix: string,
  options: Partial<RoomTransportOptions> = {},
): Promise<{ roomName: string; visitor: RoomGuest; line: RoomLine }> {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, prefix);
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  const line = await openRoomLine(t, stack, roomName, VISITOR, options);
  await until(
    () => visitor.frames(BOT).length > 5 && line.narrow().length > 800,
    'the two receive each other',
  );
  return { roomName, visitor, line };
}

t.test('RT-25 a hang-up takes the customer out, is verified, and leaves no room behind', async (t) => {
  const media = mediaServer(await useStack(t));
  const { roomName, visitor, line } = await meet(t, 'hang-up');
  const gone = new Promise((resolve) => visitor.room.once('disconnected', resolve));
  await Promise.all([line.transport.hangUp('the bot said goodbye'), line.transport.hangUp('again')]);
  await gone;
  t.same(await media.listRooms([roomName]), [], 'the media server knows no such room');
  const told = line.remarks.filter(({ event }) => event === 'hung_up');
  t.match(told, [{ detail: { status: 'gone', attempts: 1 } }], 'and the record says how long it took');
  t.comment(`hung up in ${told[0]?.detail.duration_ms} ms`);
  t.same([line.stops, line.losses], [[], []], 'our own ending is nobody’s news');
});

t.test('RT-25 a hang-up that the media server does not take is tried again', async (t) => {
  const media = mediaServer(await useStack(t));
  let refusals = 2;
  const flaky: RoomTransportOptions['media'] = {
    participant: (room, identity) => media.participant(room, identity),
    participants: (room) => media.participants(room),
    deleteRoom: (room) => media.deleteRoom(room),
    removeParticipant: (room, identity) => {
      if (refusals-- > 0) return Promise.reject(new Error('busy'));
      return media.removeParticipant(room, identity);
    },
  };
  const { roomName, line } = await meet(t, 'again', { media: flaky });
  await line.transport.hangUp('the bot said goodbye');
  t.match(line.remarks.at(-1), { event: 'hung_up', detail: { status: 'gone', attempts: 3 } });
  t.same(await media.listRooms([roomName]), []);
});

t.test('a goodbye is heard to its end before the line is closed', async (t) => {
  const { visitor, line } = await meet(t, 'goodbye');
  const tone = Int16Array.from({ length: 4_000 }, (_, at) => 8_000 * Math.sin(at));
  const since = visitor.frames(BOT).length;
  await line.speak(tone, 500);
  line.transport.sendMark('goodbye');
  await until(() => line.marks.length === 1, 'the goodbye has left');
  await line.transport.hangUp('the bot said goodbye');
  const loud = visitor
    .frames(BOT)
    .slice(since)
    .filter(({ samples }) => samples.some((sample) => Math.abs(sample) > 4_000)).length;
  t.ok(loud >= 24, `${loud} of 25 frames were heard`);
});

t.test('RT-62 a customer who leaves has hung up', async (t) => {
  const media = mediaServer(await useStack(t));
  const { roomName, visitor, line } = await meet(t, 'leaves');
  await visitor.leave();
  await until(() => line.stops.length > 0, 'the bot is told');
  t.same(line.stops, ['the customer hung up']);
  t.same(line.losses, []);
  await line.transport.close(1000, 'the customer hung up');
  t.same(await media.listRooms([roomName]), [], 'closing leaves no room');
});

t.test('RT-62 a SIP caller who is gone before the bot begins has hung up', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'too-late');
  const line = await openRoomLine(t, stack, roomName, 'sip-caller', { isSip: true });
  await until(() => line.stops.length > 0, 'the bot is told');
  t.match(line.stops, [/hung up before/]);
});

t.test(
  'RT-62 an operator who takes the customer or the bot out or closes the room is not the customer',
  async (t) => {
    const media = mediaServer(await useStack(t));
    const removed = await meet(t, 'removed');
    await media.removeParticipant(removed.roomName, VISITOR);
    await until(() => removed.line.losses.length > 0, 'the bot is told');
    t.match(removed.line.losses, [{ kind: 'closed', isOurs: true, reason: /sent out of the room/ }]);

    const deleted = await meet(t, 'deleted');
    await media.deleteRoom(deleted.roomName);
    await until(() => deleted.line.losses.length > 0, 'the bot is told');
    t.match(deleted.line.losses, [{ kind: 'closed', isOurs: true }]);
    await deleted.line.transport.close(1000, '');

    const evicted = await meet(t, 'evicted');
    await media.removeParticipant(evicted.roomName, BOT);
    await until(() => evicted.line.losses.length > 0, 'the bot is told');
    t.match(evicted.line.losses, [{ kind: 'closed', isOurs: true, reason: /participant_removed/ }]);
    t.same([removed.line.stops, deleted.line.stops, evicted.line.stops], [[], [], []]);
    await evicted.line.transport.close(1000, '');
    t.same(await media.listRooms([deleted.roomName, evicted.roomName]), [], 'and no room stays');
  },
);

t.test('RT-62 a room that was lost before the conversation began is told to it', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'early-loss');
  let gone = '';
  const link = await joinAsBot(t, stack, roomName, BOT, {
    onGone: (reason) => {
      gone = reason;
    },
  });
  await mediaServer(stack).deleteRoom(roomName);
  await until(() => gone !== '', 'the link is told');
  const line = await openRoomLine(t, stack, roomName, VISITOR, { link });
  await until(() => line.losses.length > 0, 'the transport tells it');
  t.match(line.losses, [{ kind: 'closed', isOurs: true }]);
});

/** Runs the clock of a transport as the session does, until it is told of a loss. */
async function tickUntilLost(line: RoomLine): Promise<number> {
  const startMs = monotonicMs();
  while (line.losses.length === 0) {
    line.transport.tick();
    if (monotonicMs() - startMs > 20_000) throw new Error('nothing was told within 20 s');
    await sleepMs(20);
  }
  return monotonicMs() - startMs;
}

t.test('RT-63 a bot whose customer never comes gives up after the solo time', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'solo');
  // 60 s become 1.2 s.
  const line = await openRoomLine(t, stack, roomName, VISITOR, { timeScale: 0.02 });
  const afterMs = await tickUntilLost(line);
  t.ok(afterMs > 1_000, `after ${afterMs.toFixed(0)} ms`);
  t.match(line.losses, [{ kind: 'vanished', reason: /did not come/ }]);
});

t.test('RT-63 a customer who comes within the solo time is served, with no end in sight', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'in-time');
  // 60 s become 6 s.
  const line = await openRoomLine(t, stack, roomName, VISITOR, { timeScale: 0.1 });
  line.transport.tick();
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  await until(() => line.narrow().length > 800, 'the late visitor is heard');
  const untilMs = monotonicMs() + 6_500;
  while (monotonicMs() < untilMs) {
    line.transport.tick();
    await sleepMs(50);
  }
  t.same([line.losses, line.stops], [[], []]);
  t.ok(visitor.frames(BOT).length > 0);
});

t.test('a room that was handed back is neither ended nor watched any more', async (t) => {
  const media = mediaServer(await useStack(t));
  const { roomName, visitor, line } = await meet(t, 'handed-back', { timeScale: 0.001 });
  const { link, customerIdentity } = line.transport.handBack();
  t.equal(link, line.link);
  t.equal(customerIdentity, VISITOR);
  await line.transport.hangUp('ignored');
  await line.transport.close(1000, 'ignored');
  line.transport.tick();
  t.match(await media.participant(roomName, VISITOR), { identity: VISITOR }, 'the customer stays');
  const before = line.narrow().length;
  await until(() => line.narrow().length > before + 800, 'the customer is still heard');
  await visitor.leave();
  await until(() => link.people().length === 0, 'the customer has left');
  line.transport.tick();
  t.same([line.stops, line.losses], [[], []], 'and nothing is told');
});
