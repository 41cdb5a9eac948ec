import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { sleepMs } from '../../src/platform/clock.ts';
import { loadRtc } from '../../src/slot/room/load-rtc.ts';
import { mediaServer, silentLogger } from '../harness/room-guest.ts';
import { joinAsBot } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { uniqueRoom, useStack } from '../stack/use-stack.ts';

const SETTLING_ROUNDS = 8;
const ROUNDS = 15;
/** Two of each round, and a fresh one in place of the second. */
const JOINS = 3;
const LOOKS = 8;
const LOOK_EVERY_MS = 500;
/** What the SDK keeps of each join was measured as 0.4 MB; a room of ours that is kept would be several times as much. */
const MAX_GROWTH_MB_OF_A_JOIN = 1.2;
/** The SDK's threads with nothing to do, and those of the process. */
const IDLE_THREADS = 40;

function ofProcess(file: string, key: string): number {
  const value = new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/self/${file}`, 'utf8'));
  return Number(value?.[1]);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Private memory once the threads of finished calls, which live on for some seconds, are gone with their stacks: the
 * least of several looks, since garbage that nobody has collected yet is not kept.
 */
async function settledMb(): Promise<number> {
  await until(() => ofProcess('status', 'Threads') < IDLE_THREADS, 'the threads end');
  let leastMb = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    collectGarbage();
    leastMb = Math.min(leastMb, ofProcess('smaps_rollup', 'Anonymous') / 1024);
    await sleepMs(LOOK_EVERY_MS);
  }
  return leastMb;
}

t.test('RT-62 a process that joins, joins anew and leaves again and again grows by little', async (t) => {
  const stack = await useStack(t);
  const { DisconnectReason } = loadRtc(silentLogger);
  const media = mediaServer(stack);
  let healed = 0;
  const joinTwice = async () => {
    const roomName = uniqueRoom(t, stack, 'again');
    const bot = await joinAsBot(t, stack, roomName, 'bot-again');
    const listener = await joinAsBot(t, stack, roomName, 'caller-again', {
      onState: (state) => {
        if (state === 'joined_anew') healed++;
      },
    });
    let heard = 0;
    listener.hear('bot-again', () => {
      heard++;
    });
    await bot.publish();
    bot.sendAudio(new Int16Array(1_600).fill(1_000));
    await until(() => heard > 5, 'the audio arrives');
    // The end of a connection by itself, as the SDK tells it: the next one takes its place.
    const healedBefore = healed;
    listener.room.emit('disconnected', DisconnectReason.SIGNAL_CLOSE);
    await until(() => healed > healedBefore, 'the listener has joined anew');
    heard = 0;
    await until(() => heard > 5, 'the audio arrives again');
    const people = (await media.participants(roomName)).map(({ identity }) => identity).sort();
    t.same(people, ['bot-again', 'caller-again'], 'nobody stands in the room twice');
    await Promise.all([bot.leave(), listener.leave()]);
  };
  for (let round = 0; round < SETTLING_ROUNDS; round++) await joinTwice();
  const before = await settledMb();
  for (let round = 0; round < ROUNDS; round++) await joinTwice();
  const after = await settledMb();
  const grown = (after - before) / (ROUNDS * JOINS);
  t.comment(
    `${before.toFixed(1)} MB private after ${SETTLING_ROUNDS * JOINS} joins, ${after.toFixed(1)} MB after ${ROUNDS * JOINS} more: ${grown.toFixed(2)} MB a join; ${healed} joined anew`,
  );
  t.ok(grown < MAX_GROWTH_MB_OF_A_JOIN, `${grown.toFixed(2)} MB a join`);
});
