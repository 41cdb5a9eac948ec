import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readStamp } from '../../bench/read-stamp.ts';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { levelDbfs } from '../../src/cli/voice-tracker.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import { readWav } from '../../src/platform/wav.ts';
import { Appliance } from '../harness/appliance.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';

/** What a caller hears of a bot that was paused, and of one with a background, over the wire. */
t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '1' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

async function callWith(
  change: Record<string, unknown>,
  live: (call: DiallerCall) => Promise<unknown>,
): Promise<{ call: DiallerCall; result: CallResults }> {
  const body = plane.scriptedBot(change);
  plane.config = () => ({ status: 200, body });
  const before = plane.results.length;
  const call = await placeWhenFree({ url: `${appliance.callUrl}scripted` });
  await live(call);
  await call.hangUp();
  const result = (await plane.until(before + 1)).at(-1);
  if (!result) throw new Error('no result came');
  return { call, result };
}

/** Numbers of the frames that were heard, in order; those of a resumed voice's first frame are faded away. */
function heardFrames(samples: Int16Array): number[] {
  const numbers: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    const stamp = readStamp(samples, at);
    if (stamp) numbers.push(stamp.frame);
  }
  return numbers;
}

t.test('RT-14 RT-17 the caller hears every frame of a reply that noise had paused', async (t) => {
  const story =
    'This is a long story that goes on for a while, so that whoever listens has the time to cough in the middle of it.';
  const { call, result } = await callWith(
    { opening_message: story, min_words_interruption: 2, stt: { provider: 'scripted', script: ['', ''] } },
    async (call) => {
      await call.event('bot_started', 60_000);
      await call.until(() => false, 800);
      await call.say(humanSpeech('cards/001.wav'));
      await call.until(() => call.quietMs > 2_000 && !call.botIsSpeaking, 60_000);
    },
  );
  const pauses = result.events.filter((event) => event.event === 'bot_held').length;
  t.ok(pauses > 0, 'the bot was paused');
  const frames = heardFrames(call.heard.samples);
  const whole = (story.length * 40) / 20;
  const distinct = new Set(frames).size;
  const steps = frames.slice(1).map((frame, at) => frame - (frames[at] ?? 0));
  t.comment(
    `${distinct} of ${whole} frames, ${frames.length - distinct} twice, steps ${Math.min(...steps)} to ${Math.max(...steps)}`,
  );
  // The first frame after a pause has no number left; a loaded machine plays out later than its own clock says.
  t.ok(distinct >= whole - pauses - 15, `${distinct} of ${whole} frames`);
  t.ok(frames.length - distinct <= pauses * 15, `${frames.length - distinct} came twice`);
  t.equal(frames.at(-1), whole - 1, 'up to the last one');
});

t.test(
  'RT-44 the caller hears the background without a break, the recording has the voice alone',
  async (t) => {
    const gainDb = -30;
    const { call, result } = await callWith(
      { opening_message: 'Hello.', ambient_sound: { enabled: true, sound: 'office', gain_db: gainDb } },
      async (call) => {
        await call.event('bot_started', 60_000);
        await call.until(() => call.heard.samples.length > 6 * LINE_RATE_HZ, 60_000);
      },
    );
    const heard = call.heard.samples.subarray(2 * LINE_RATE_HZ, 6 * LINE_RATE_HZ);
    t.ok(Math.abs(levelDbfs(heard) - gainDb) < 4, `the line has ${levelDbfs(heard).toFixed(1)} dBFS`);
    let silent = 0;
    for (let at = 0; at < heard.length; at += FRAME_SAMPLES) {
      if (levelDbfs(heard.subarray(at, at + FRAME_SAMPLES)) < -70) silent++;
    }
    t.ok(silent <= 60, `${silent} of ${heard.length / FRAME_SAMPLES} frames are silent`);
    const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', result.recording_key ?? '')));
    const bot = wav.samples.filter((_, at) => at % 2 === 1);
    t.ok(levelDbfs(bot.subarray(0, 2 * LINE_RATE_HZ)) > -60, 'the opening is on the recording');
    const after = bot.subarray(2 * LINE_RATE_HZ, 5 * LINE_RATE_HZ);
    t.ok(
      after.every((sample) => sample === 0),
      'and nothing else is',
    );
    t.match(
      result.transcript.map(({ speaker, text }) => ({ speaker, text })),
      [{ speaker: 'bot', text: 'Hello.' }],
    );
    t.equal(result.disconnected_by, 'customer');
  },
);
