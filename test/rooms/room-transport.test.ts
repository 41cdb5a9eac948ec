import t from 'tap';
import { monotonicMs } from '../../src/platform/clock.ts';
import { joinAsGuest, type RoomGuest } from '../harness/room-guest.ts';
import { openRoomLine, type RoomLine } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { humanClip, wideHumanClip } from '../listen/fixtures/human-clips.ts';
import { describeFound, findAudio, levelDbfs } from '../stack/correlate.ts';
import { type Test, uniqueRoom, useStack } from '../stack/use-stack.ts';

const SPEECH = 'goforward.raw';
const BOT = 'bot-test';
const VISITOR = 'widget-user-12345678';
const LOUD_DBFS = -40;

/** A bot and its visitor in a room, each receiving the other. */
async function meet(
  t: Test,
  prefix: string,
): Promise<{ roomName: string; visitor: RoomGuest; line: RoomLine }> {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, prefix);
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  const line = await openRoomLine(t, stack, roomName, VISITOR);
  await until(
    () => visitor.frames(BOT).length > 10 && line.narrow().length > 1_600,
    'the two receive each other',
  );
  return { roomName, visitor, line };
}

/** A tone at 8 kHz, loud enough to be told from anything else. */
function tone(ms: number, hz = 440): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, at) => 8_000 * Math.sin((2 * Math.PI * hz * at) / 8_000));
}

function toneWide(ms: number, hz = 440): Int16Array {
  return Int16Array.from({ length: ms * 16 }, (_, at) => 8_000 * Math.sin((2 * Math.PI * hz * at) / 16_000));
}

const loudFrames = (visitor: RoomGuest, sinceMs: number) =>
  visitor.frames(BOT).filter(({ atMs, samples }) => atMs > sinceMs && levelDbfs(samples) > LOUD_DBFS);

t.test('RT-62 customer and bot hear each other whole, at both rates and at the right level', async (t) => {
  const { visitor, line } = await meet(t, 'both-ways');
  const [narrow, wide] = [humanClip(SPEECH), wideHumanClip(SPEECH)];
  const spokenMs = narrow.length / 8 + 1_000;
  const [toVisitor, toBot] = [visitor.heard(BOT).length, line.wide().length];
  await Promise.all([line.speak(narrow), visitor.play(wide)]);
  const enough = () =>
    visitor.heard(BOT).length - toVisitor > spokenMs * 8 && line.wide().length - toBot > spokenMs * 16;
  await until(enough, 'all of it was heard');

  const found = {
    'the visitor hears the bot': findAudio(narrow, visitor.heard(BOT)),
    'the bot hears the visitor at 16 kHz': findAudio(wide, line.wide(), { rate: 16_000 }),
    'the bot hears the visitor at 8 kHz': findAudio(narrow, line.narrow()),
  };
  for (const [who, audio] of Object.entries(found)) {
    t.comment(`${who}: ${describeFound(audio)}`);
    t.ok(audio.share >= 0.9, `${who}: nothing is missing`);
    t.ok(Math.abs(audio.levelDbfs - audio.knownLevelDbfs) < 3, `${who}: as loud as it was said`);
  }
  t.equal(line.wide().length, line.narrow().length * 2, 'both rates are the same stretch');
  t.equal(line.transport.noise().unsent_frames, undefined, 'every frame was taken');
  t.equal(line.transport.noise().unsent_audio_ms, undefined, 'every frame had room');
});

t.test('RT-62 what the bot has not said yet is dropped at once when it is interrupted', async (t) => {
  const { visitor, line } = await meet(t, 'clear');
  for (const round of [1, 2, 3]) {
    const startedAtMs = monotonicMs();
    // All of it lies in the queue, far more than the pacer ever keeps there.
    await line.speak(tone(900), 900);
    t.ok(line.transport.unplayedMs > 500, 'there is something to drop');
    await until(() => loudFrames(visitor, startedAtMs).length > 5, 'the visitor hears the bot');
    const firstMs = (loudFrames(visitor, startedAtMs)[0]?.atMs ?? 0) - startedAtMs;
    const clearedAtMs = monotonicMs();
    line.transport.sendMark('behind the dropped');
    line.transport.sendClear();
    const clearingMs = monotonicMs() - clearedAtMs;
    t.equal(line.transport.unplayedMs, 0, 'nothing is queued');
    await until(() => monotonicMs() - clearedAtMs > 1_000, 'a second passes');
    const lastMs = (loudFrames(visitor, clearedAtMs).at(-1)?.atMs ?? clearedAtMs) - clearedAtMs;
    t.comment(
      `round ${round}: first sound at the far end after ${firstMs.toFixed(0)} ms, last one ${lastMs.toFixed(0)} ms after the clear; clearing took ${clearingMs.toFixed(2)} ms`,
    );
    t.ok(lastMs < firstMs + 300, 'the line carries no more than what was already on it');
  }
  t.same(line.marks, [], 'a mark behind dropped audio is never answered');
});

t.test(
  'RT-62 a frame of memory that is written into again after it was given is not heard twice',
  async (t) => {
    const { visitor, line } = await meet(t, 'memory');
    const since = monotonicMs();
    // `speak` gives one and the same frame again and again and spoils it after each.
    await line.speak(tone(1_000), 1_000);
    await until(() => loudFrames(visitor, since).length >= 45, 'the tone was heard');
    await until(() => line.transport.unplayedMs === 0, 'it is over');
    const wrong = loudFrames(visitor, since)
      .slice(3, -3)
      .filter(({ samples }) => Math.abs(levelDbfs(samples) - levelDbfs(tone(20))) > 3);
    t.equal(wrong.length, 0, 'no frame of it has another level');
  },
);

t.test('RT-62 marks are answered when the audio before them has left, in order', async (t) => {
  const { line } = await meet(t, 'marks');
  line.transport.sendMark('nothing before it');
  await until(() => line.marks.length === 1, 'the first mark');
  const startedAtMs = monotonicMs();
  await line.speak(tone(400), 400);
  line.transport.sendMark('one');
  await line.speak(tone(400), 400);
  line.transport.sendMark('two');
  t.equal(line.marks.length, 1, 'none is answered while its audio lies in the queue');
  await until(() => line.marks.length === 3, 'both marks');
  t.same(
    line.marks.map(({ name }) => name),
    ['nothing before it', 'one', 'two'],
  );
  t.ok((line.marks[1]?.atMs ?? 0) - startedAtMs >= 395, 'the first after its 400 ms');
  t.ok((line.marks[2]?.atMs ?? 0) - startedAtMs >= 795, 'the second after all 800 ms');
});

t.test('RT-62 nobody but the customer is heard, and nobody else’s audio is sent to the bot', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'rogue');
  const visitor = await joinAsGuest(t, stack, roomName, VISITOR);
  const stranger = await joinAsGuest(t, stack, roomName, 'stranger-1');
  const line = await openRoomLine(t, stack, roomName, VISITOR);
  const lateStranger = await joinAsGuest(t, stack, roomName, 'bot-other');
  await until(() => line.narrow().length > 8_000, 'the customer is heard');
  await Promise.all([
    stranger.play(toneWide(1_000, 600)),
    lateStranger.play(toneWide(1_000, 900)),
    visitor.play(new Int16Array(16_000)),
  ]);
  t.ok(levelDbfs(visitor.heard('stranger-1')) > -50, 'the strangers were loud');
  t.ok(levelDbfs(line.narrow()) < -80, `the bot heard ${levelDbfs(line.narrow()).toFixed(0)} dBFS`);
  const subscribed = [...line.link.room.remoteParticipants.values()].flatMap((person) =>
    [...person.trackPublications.values()].filter(({ track }) => track).map(() => person.identity),
  );
  t.same(subscribed, [VISITOR], 'only the customer’s track is received');

  const since = line.narrow().length;
  await visitor.play(toneWide(500));
  await until(() => levelDbfs(line.narrow().subarray(since)) > LOUD_DBFS, 'the customer is still heard');
});

t.test('RT-62 keys go both ways', async (t) => {
  const stack = await useStack(t);
  const roomName = uniqueRoom(t, stack, 'keys');
  const caller = await joinAsGuest(t, stack, roomName, 'sip-caller');
  const other = await joinAsGuest(t, stack, roomName, 'sip-other');
  const line = await openRoomLine(t, stack, roomName, 'sip-caller', { isSip: true });
  // Messages reach whoever receives something already.
  const isReceived = () => caller.frames(BOT).length > 5 && other.frames(BOT).length > 5;
  await until(() => isReceived() && line.narrow().length > 800, 'all receive each other');
  line.transport.sendDtmf?.('19x#d');
  await until(() => caller.keys.length === 4, 'the bot’s keys');
  t.same(caller.keys, ['1', '9', '#', 'D'], 'in order; what is no key is passed over');
  await other.room.localParticipant?.publishDtmf(7, '7');
  await caller.room.localParticipant?.publishDtmf(5, '5');
  await caller.room.localParticipant?.publishDtmf(10, '*');
  await until(() => line.keys.length === 2, 'the caller’s keys');
  t.same(line.keys, ['5', '*'], 'and nobody else’s');
});

t.test('a line to a browser has no keys of its own, so that tones are sent', async (t) => {
  const { line } = await meet(t, 'no-keys');
  t.equal(line.transport.sendDtmf, undefined);
  t.equal(line.transport.sendTransfer, undefined, 'and no transfer either');
});

t.test(
  'RT-63 transcript lines reach the customer’s screen, in order, whole, and nobody else’s',
  async (t) => {
    const { visitor, line, roomName } = await meet(t, 'transcript');
    const stranger = await joinAsGuest(t, await useStack(t), roomName, 'stranger-1', { speaks: false });
    line.transport.tellTranscript({ speaker: 'bot', text: 'नमस्ते', final: false, timestamp: 1.5 });
    line.transport.tellTranscript({ speaker: 'customer', text: 'hello', final: true, timestamp: 2 });
    line.transport.tellTranscript({ speaker: 'bot', text: 'ü'.repeat(20_000), final: true, timestamp: 3 });
    line.link.say('to-all', 'done');
    await until(() => visitor.messages.length === 4 && stranger.messages.length > 0, 'the lines');
    const [first, second, long] = visitor.messages;
    t.equal(first?.topic, 'transcript');
    t.same(JSON.parse(first?.text ?? ''), { speaker: 'bot', text: 'नमस्ते', final: false, timestamp: 1.5 });
    t.same(JSON.parse(second?.text ?? ''), { speaker: 'customer', text: 'hello', final: true, timestamp: 2 });
    const shortened = JSON.parse(long?.text ?? '') as { text: string; final: boolean };
    t.match(
      shortened.text,
      /^ü{4500}…$/,
      'a text beyond 15 kB is shortened, and the message stays a message',
    );
    t.equal(shortened.final, true);
    t.same(
      stranger.messages.map(({ topic }) => topic),
      ['to-all'],
    );
  },
);
