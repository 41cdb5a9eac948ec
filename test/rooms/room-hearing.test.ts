import t, { type Test } from 'tap';
import { DEMO_CLIPS, type DemoClip } from '../../src/cli/demo-script.ts';
import { demoBot } from '../../src/control/bots/demo-bot.ts';
import { plainContext } from '../../src/providers/contract/provider-context.ts';
import { openStt } from '../../src/providers/open-providers.ts';
import type { DecoderSession } from '../../src/providers/vendors/pocketsphinx/decoder-session.ts';
import { joinAsGuest } from '../harness/room-guest.ts';
import { joinAsBot } from '../harness/room-line.ts';
import { until } from '../harness/wait.ts';
import { lineAudio, roomAudio } from '../providers/recordings.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { inboundRouteTo } from '../stack/sip-routes.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { uniqueNumber, uniqueRoom, useStack } from '../stack/use-stack.ts';

/** Cards, a number, an order to move. */
t.setTimeout(280_000);

/** Those that no codec on the way made hard for the local model: lines of a novel, an order to move. */
const CLIPS = ['story', 'move', 'amiable'].flatMap((name) =>
  DEMO_CLIPS.filter(({ intent }) => intent === name),
);
const ROOM_HZ = 16_000;
const VISITOR = 'widget-user-87654321';

/** The local engine on what a room brings, as a call has it: frames as they come, a flush at the end of each turn. */
async function engine(t: Test) {
  const { stt } = demoBot('2026-01-01T00:00:00.000Z');
  const opened = await openStt(stt, { ...plainContext, sampleRate: ROOM_HZ });
  const session = (await opened.open({
    onInterim: () => undefined,
    onFailure: (error) => t.fail(error.message),
  })) as DecoderSession;
  t.teardown(() => session.close());
  let isLoud = false;
  let heard = 0;
  return {
    heard: () => heard,
    heardSpeech: () => isLoud,
    hear(samples: Int16Array) {
      heard += samples.length;
      isLoud ||= samples.some((sample) => Math.abs(sample) > 1_000);
      session.feed(samples);
    },
    async turn() {
      isLoud = false;
      return (await session.flush(AbortSignal.timeout(10_000))).text;
    },
  };
}

/** Plays the recordings one after another and writes down what the engine makes of each. */
async function understood(ears: Awaited<ReturnType<typeof engine>>, play: (clip: DemoClip) => Promise<void>) {
  const texts: string[] = [];
  for (const clip of CLIPS) {
    await play(clip);
    await until(ears.heardSpeech, 'the recording is heard');
    // What is on the way still belongs to the turn; silence follows it.
    const upto = ears.heard() + ROOM_HZ;
    await until(() => ears.heard() >= upto, 'the silence after it is heard');
    texts.push(await ears.turn());
  }
  return texts;
}

/** The codec's noise may cost the local model one of them; a deaf or garbled line would cost all. */
function checkTexts(t: Test, texts: string[]): void {
  const right = CLIPS.filter(({ expectedPhrase }, index) => texts[index] === expectedPhrase).length;
  t.comment(`${right} of ${CLIPS.length} understood: ${texts.join(' | ')}`);
  t.ok(right >= CLIPS.length - 1);
}

t.test('RT-62 a telephone caller in a room is understood by an engine that hears 16 kHz', async (t) => {
  const stack = await useStack(t);
  const room = uniqueRoom(t, stack, 'hearing-phone');
  const number = uniqueNumber();
  await inboundRouteTo(t, stack, { number, room });
  const bot = await joinAsBot(t, stack, room);
  const media = await openRtpEndpoint(t);
  const phone = await startSipp(t, 'uac-call', { to: stack.sipAddress, toUser: number, media });
  await until(() => bot.people().some(({ isSip }) => isSip), 'the caller is in the room');
  const caller = bot.people().find(({ isSip }) => isSip)?.identity ?? '';
  const ears = await engine(t);
  bot.hear(caller, (samples) => ears.hear(samples));
  await bot.publish();
  await phone.until(({ status, cseqMethod }) => status === 200 && cseqMethod === 'INVITE', 60_000);
  await until(() => ears.heard() > ROOM_HZ, 'audio comes');
  checkTexts(t, await understood(ears, (clip) => media.play(lineAudio(clip))));
});

t.test('RT-62 a visitor with a microphone is heard at 16 kHz and understood', async (t) => {
  const stack = await useStack(t);
  const room = uniqueRoom(t, stack, 'hearing-visitor');
  const visitor = await joinAsGuest(t, stack, room, VISITOR);
  const bot = await joinAsBot(t, stack, room);
  const ears = await engine(t);
  bot.hear(VISITOR, (samples) => ears.hear(samples));
  await until(() => ears.heard() > 1_600, 'audio comes');
  checkTexts(t, await understood(ears, (clip) => visitor.play(roomAudio(clip))));
});
