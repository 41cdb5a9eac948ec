import t from 'tap';
import { monotonicMs } from '../../src/platform/clock.ts';
import { forgetRoom } from '../../src/slot/room/load-rtc.ts';
import { joinAsGuest, mediaServer } from '../harness/room-guest.ts';
import { joinAsBot, openRoomLine, type RoomLine } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { levelDbfs } from '../stack/correlate.ts';
import { type Test, uniqueRoom, useStack } from '../stack/use-stack.ts';

const BOT = 'bot-test';
const VISITOR = 'widget-user-12345678';
const LOUD_DBFS = -40;
const tone = Int16Array.from({ length: 8_000 }, (_, at) => 8_000 * Math.sin(at / 2));
const wideTone = Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / 4));

// Each waits for seconds to pass, and none has much to do.
t.jobs = 3;

/**
 * A line whose connection is deaf from its first moment, as the SDK's own now and then is on a busy machine: it is told
 * of nothing that happens in the room, not even of tracks that it asked for.
 */
async function deafLine(t: Test, { isFirst }: { isFirst: boolean }) {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'deaf');
  const visitorFirst = isFirst ? null : await joinAsGuest(t, stack, roomName, VISITOR);
  const link = await joinAsBot(t, stack, roomName);
  const former = link.room;
  forgetRoom(former);
  const visitor = visitorFirst ?? (await joinAsGuest(t, stack, roomName, VISITOR));
  const startedAtMs = monotonicMs();
  const line = await openRoomLine(t, stack, roomName, VISITOR, { link });
  return { media: mediaServer(stack), roomName, visitor, link, former, line, startedAtMs };
}

const states = ({ remarks }: RoomLine) =>
  remarks.filter(({ event }) => event === 'room_connection').map(({ detail }) => detail.status);

for (const isFirst of [false, true]) {
  const whom = isFirst ? 'whose track was never told of' : 'whose track stays silent';
  t.test(`RT-62 a customer ${whom} is heard after a fresh join`, { buffered: true }, async (t) => {
    const { media, roomName, visitor, link, former, line, startedAtMs } = await deafLine(t, { isFirst });
    await until(() => line.wide().length > 1_600, 'the customer is heard');
    const heardAfterMs = monotonicMs() - startedAtMs;
    t.comment(`heard after ${heardAfterMs.toFixed(0)} ms: ${states(line).join(', ')}`);
    t.not(link.room, former);
    t.ok(heardAfterMs > 2_500, 'a slow track has its time');
    const wanted = ['reconnecting', 'joined_anew'];
    t.same(states(line), isFirst ? wanted : ['asked_anew', ...wanted], 'and the result says so');
    t.match(line.remarks.at(-1), { detail: { reason: /not heard/, duration_ms: Number } });

    const [toVisitor, toBot] = [visitor.frames(BOT).length, line.narrow().length];
    await Promise.all([line.speak(tone), visitor.play(wideTone)]);
    await until(() => levelDbfs(line.narrow().subarray(toBot)) > LOUD_DBFS, 'the bot hears the customer');
    const loud = () =>
      visitor
        .frames(BOT)
        .slice(toVisitor)
        .filter(({ samples }) => levelDbfs(samples) > LOUD_DBFS);
    await until(() => loud().length > 30, 'the customer hears the bot');
    const people = (await media.participants(roomName)).map(({ identity }) => identity);
    t.same(people.sort(), [BOT, VISITOR], 'the former participant is gone');
    t.same([line.stops, line.losses], [[], []], 'and nobody has left');
    await visitor.leave();
    await until(() => line.stops.length > 0, 'who leaves later has hung up');
  });
}

t.test('RT-62 a connection that goes deaf in mid-call is replaced, too', { buffered: true }, async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'deafened');
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  const line = await openRoomLine(t, stack, roomName, VISITOR);
  await until(() => line.narrow().length > 800, 'the customer is heard');
  forgetRoom(line.link.room);
  // Their page comes back with another track, of which the bot is not told.
  await visitor.reload();
  await until(() => states(line).includes('joined_anew'), 'the room is joined anew');
  const since = line.narrow().length;
  await visitor.play(wideTone);
  await until(() => levelDbfs(line.narrow().subarray(since)) > LOUD_DBFS, 'the bot hears the customer');
  t.same([line.stops, line.losses], [[], []]);
});

t.test('RT-62 a visitor without a microphone is no reason to join anew', { buffered: true }, async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'mute');
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR, { speaks: false });
  const line = await openRoomLine(t, stack, roomName, VISITOR);
  const { room } = line.link;
  const endMs = monotonicMs() + 8_000;
  await until(() => monotonicMs() > endMs, 'time passes');
  t.equal(line.link.room, room);
  t.same(states(line), []);
  await visitor.leave();
});
