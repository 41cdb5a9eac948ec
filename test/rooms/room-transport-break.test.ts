import t from 'tap';
import { monotonicMs } from '../../src/platform/clock.ts';
import { loadRtc } from '../../src/slot/room/load-rtc.ts';
import { joinAsGuest, mediaServer, type RoomGuest, silentLogger } from '../harness/room-guest.ts';
import { openRoomLine, type RoomLine } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { levelDbfs } from '../stack/correlate.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import { ownStack, type Test, uniqueRoom, useStack } from '../stack/use-stack.ts';

const BOT = 'bot-test';
const VISITOR = 'widget-user-12345678';
const LOUD_DBFS = -40;

async function meet(
  t: Test,
  stack: StackAddresses,
  prefix: string,
): Promise<{ roomName: string; visitor: RoomGuest; line: RoomLine }> {
  const roomName = uniqueRoom(t, stack, prefix);
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  const line = await openRoomLine(t, stack, roomName, VISITOR);
  await until(
    () => visitor.frames(BOT).length > 5 && line.narrow().length > 800,
    'the two receive each other',
  );
  return { roomName, visitor, line };
}

const toneNarrow = Int16Array.from({ length: 4_000 }, (_, at) => 8_000 * Math.sin(at / 2));
const toneWide = Int16Array.from({ length: 8_000 }, (_, at) => 8_000 * Math.sin(at / 4));

/** A visitor who has received nothing for so long does what a page does: it loads itself anew. */
const RELOAD_AFTER_MS = 10_000;

/** Both say something and are heard; again until it is so, since a connection that was made anew has to come up first. */
async function talk(visitor: RoomGuest, line: RoomLine, limitMs = 90_000): Promise<void> {
  const [toVisitor, toBot] = [visitor.heard(BOT).length, line.narrow().length];
  const levels = () => [
    levelDbfs(visitor.heard(BOT).subarray(toVisitor)),
    levelDbfs(line.narrow().subarray(toBot)),
  ];
  const endMs = monotonicMs() + limitMs;
  let reloadAtMs = monotonicMs() + RELOAD_AFTER_MS;
  let received = visitor.frames(BOT).length;
  while (!levels().every((level) => level > LOUD_DBFS)) {
    if (monotonicMs() > endMs || line.losses.length > 0) {
      const heard = levels().map((level) => `${level.toFixed(0)} dBFS`);
      throw new Error(
        `within ${limitMs} ms visitor and bot heard ${heard.join(' and ')} of each other; ${states(line).join(', ')}; ${line.losses.map(({ reason }) => reason).join()}`,
      );
    }
    await Promise.all([line.speak(toneNarrow), visitor.play(toneWide)]);
    if (visitor.frames(BOT).length > received) reloadAtMs = monotonicMs() + RELOAD_AFTER_MS;
    received = visitor.frames(BOT).length;
    if (monotonicMs() < reloadAtMs) continue;
    // The far end is a client of the same SDK, and may itself be the deaf one.
    await visitor.reload().catch(() => undefined);
    reloadAtMs = monotonicMs() + RELOAD_AFTER_MS;
  }
}

const states = (line: RoomLine) =>
  line.remarks.filter(({ event }) => event === 'room_connection').map(({ detail }) => detail.status);

t.test('RT-62 a connection that breaks and is taken up again costs the call nothing', async (t) => {
  const { visitor, line } = await meet(t, await useStack(t), 'resume');
  const { SimulateScenarioKind } = loadRtc(silentLogger);
  await line.link.room.simulateScenario(SimulateScenarioKind.SIMULATE_SIGNAL_RECONNECT);
  await until(() => states(line).includes('reconnected'), 'the connection stands again');
  await talk(visitor, line);
  t.same(states(line), ['reconnecting', 'reconnected']);
  t.same([line.stops, line.losses], [[], []]);
});

t.test('RT-62 a connection that is made anew takes the call with it, audio both ways', async (t) => {
  const { visitor, line } = await meet(t, await useStack(t), 'anew');
  const { SimulateScenarioKind } = loadRtc(silentLogger);
  for (const round of [1, 2]) {
    const brokeAtMs = monotonicMs();
    const scenario =
      round === 1 ? SimulateScenarioKind.SIMULATE_FULL_RECONNECT : SimulateScenarioKind.SIMULATE_NODE_FAILURE;
    const before = states(line).length;
    await line.link.room.simulateScenario(scenario);
    await until(() => states(line).length > before + 1, 'it stands again');
    await talk(visitor, line);
    const afterMs = (monotonicMs() - brokeAtMs).toFixed(0);
    t.comment(`round ${round}: talking again within ${afterMs} ms, ${states(line).slice(before).join(', ')}`);
  }
  // For the media server everybody has left and come again.
  t.same([line.stops, line.losses], [[], []], 'nobody has left');
  t.same(
    line.link.people().map(({ identity }) => identity),
    [VISITOR],
  );
});

t.test('RT-62 a connection that does not come back is replaced by a fresh join', async (t) => {
  const { visitor, line } = await meet(t, await useStack(t), 'ended');
  const { DisconnectReason } = loadRtc(silentLogger);
  const { room: former } = line.link;
  // The SDK gives up.
  former.emit('disconnected', DisconnectReason.CONNECTION_TIMEOUT);
  await until(() => states(line).includes('joined_anew'), 'it is joined anew');
  t.not(line.link.room, former);
  await talk(visitor, line);
  t.match(line.remarks.at(-1), { detail: { reason: /connection_timeout/ } });
  t.same([line.stops, line.losses], [[], []]);
});

t.test(
  'RT-63 a visitor who joins again because the connection broke is still the same customer',
  async (t) => {
    const stack = await useStack(t);
    const { roomName, line } = await meet(t, stack, 'visitor-anew');
    // The media server throws the earlier connection of the same person out.
    const again = await joinAsGuest(t, stack, roomName, VISITOR);
    await until(() => again.frames(BOT).length > 5, 'the new connection carries audio');
    await talk(again, line);
    t.same([line.stops, line.losses], [[], []]);
  },
);

t.test('RT-62 after a restart of the media server the call goes on', async (t) => {
  const stack = await ownStack(t);
  const { visitor, line } = await meet(t, stack, 'restart');
  await stack.killServer();
  await until(() => states(line).includes('reconnecting'), 'the break is noticed');
  await stack.startServer();
  const startedAtMs = monotonicMs();
  await talk(visitor, line);
  const since = `${((monotonicMs() - startedAtMs) / 1000).toFixed(1)} s`;
  t.comment(`talking again ${since} after the media server was back: ${states(line).join(', ')}`);
  t.same(line.losses, []);
  t.same(line.stops, [], 'the customer is not blamed');
  await line.transport.hangUp('over');
  t.same(await mediaServer(stack).listRooms(), [], 'and the room is closed in the end');
});

t.test(
  'RT-62 a media server that stays away ends the call in time, and nobody blames the customer',
  async (t) => {
    const stack = await ownStack(t);
    const { line } = await meet(t, stack, 'killed');
    const killedAtMs = monotonicMs();
    await stack.killServer();
    // What the bot says meanwhile goes nowhere and holds nothing up.
    await line.speak(toneNarrow);
    line.transport.tellTranscript({ speaker: 'bot', text: 'hello', final: true, timestamp: 1 });
    await until(() => line.losses.length > 0, 'the loss is told');
    const lostAfterMs = monotonicMs() - killedAtMs;
    t.match(line.losses, [{ kind: 'broken', isOurs: true, reason: 'the media server is gone' }]);
    t.same(line.stops, []);
    const closingAtMs = monotonicMs();
    await line.transport.close(1000, 'gone');
    const closedMs = monotonicMs() - closingAtMs;
    t.comment(`told after ${lostAfterMs.toFixed(0)} ms, closed in ${closedMs.toFixed(0)} ms`);
    t.ok(lostAfterMs < 35_000, 'told within the bound');
    t.ok(closedMs < 20_000, 'and closing does not hang');
  },
);
