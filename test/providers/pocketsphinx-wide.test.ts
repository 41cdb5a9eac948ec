import t from 'tap';
import { DEMO_CLIPS, type DemoClip } from '../../src/cli/demo-script.ts';
import { demoBot } from '../../src/control/bots/demo-bot.ts';
import { plainContext } from '../../src/providers/contract/provider-context.ts';
import { openStt } from '../../src/providers/open-providers.ts';
import type { DecoderSession } from '../../src/providers/vendors/pocketsphinx/decoder-session.ts';
import { createWideBand } from '../../src/providers/vendors/pocketsphinx/wide-band.ts';
import { crashDecoder, decoderPid } from '../harness/processes.ts';
import { until } from '../harness/wait.ts';
import { decodeMuLaw, encodeMuLaw } from '../stack/mu-law.ts';
import { feedFrames, lineAudio, lineNoise, resampled, roomAudio } from './recordings.ts';

// Some 140 turns of real speech are decoded.
t.setTimeout(300_000);

const never = new AbortController().signal;
const { stt } = demoBot('2026-01-01T00:00:00.000Z');

/** How a recording reaches the engine. */
interface Way {
  name: string;
  rateHz: number;
  audio(clip: DemoClip): Int16Array;
}

const TELEPHONE: Way = { name: 'telephone line, 8 kHz', rateHz: 8_000, audio: lineAudio };
const ROOM: Way = { name: 'room, 16 kHz', rateHz: 16_000, audio: roomAudio };
/** What a room is given of a caller with a telephone codec (PCMU): 16 kHz with nothing above 4 kHz. */
const TELEPHONE_IN_ROOM: Way = {
  name: 'telephone in a room, 16 kHz',
  rateHz: 16_000,
  audio(clip) {
    const line = lineAudio(clip);
    const packets = new Uint8Array(line.length);
    encodeMuLaw(line, packets);
    return resampled(decodeMuLaw(packets), 8_000, 16_000);
  },
};

async function open(rateHz: number): Promise<DecoderSession> {
  const engine = await openStt(stt, { ...plainContext, sampleRate: rateHz });
  return (await engine.open({
    onInterim: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  })) as DecoderSession;
}

/** All recordings behind noise of some strengths, all in one call and each in a call of its own. */
async function understood(way: Way, amplitudes: readonly number[]): Promise<{ right: number; n: number }> {
  const count = { right: 0, n: 0 };
  for (const amplitude of amplitudes) {
    for (const isAlone of [false, true]) {
      let session: DecoderSession | null = null;
      for (const clip of DEMO_CLIPS) {
        if (isAlone) await session?.close();
        if (isAlone || !session) session = await open(way.rateHz);
        const listening = session;
        feedFrames(listening, lineNoise(240, amplitude, way.rateHz), way.rateHz);
        feedFrames(listening, way.audio(clip), way.rateHz);
        feedFrames(listening, lineNoise(200, amplitude, way.rateHz), way.rateHz);
        // A real caller speaks in real time, so the decoder has kept up when the turn ends.
        await until(() => listening.lagSamples === 0);
        count.n++;
        if ((await listening.flush(never)).text === clip.expectedPhrase) count.right++;
      }
      await session?.close();
    }
  }
  return count;
}

t.test('RT-62 the local engine understands callers in rooms as well as those on the telephone', async (t) => {
  const all = [0, 30];
  const [telephone, room, inRoom] = await Promise.all([
    understood(TELEPHONE, all),
    understood(ROOM, all),
    understood(TELEPHONE_IN_ROOM, [3]),
  ]);
  t.comment(`${TELEPHONE.name}: ${describeRate(telephone)}`);
  t.comment(`${ROOM.name}: ${describeRate(room)}`);
  t.comment(`${TELEPHONE_IN_ROOM.name}: ${describeRate(inRoom)}`);
  t.equal(room.n, DEMO_CLIPS.length * 4);
  // Processors that round differently may move one or two.
  t.ok(room.right >= telephone.right - 2, 'no worse than on the telephone');
  t.ok(inRoom.right >= 0.85 * inRoom.n, 'a telephone behind a room is understood too');
});

t.test('RT-62 a turn of a room call may be cut into frames of any length', async (t) => {
  const clip = DEMO_CLIPS[0] as DemoClip;
  const session = await open(16_000);
  t.teardown(() => session.close());
  const audio = roomAudio(clip);
  for (let at = 0, size = 1; at < audio.length; at += size, size = (size * 7) % 911 || 1) {
    session.feed(audio.subarray(at, at + size));
  }
  t.equal((await session.flush(never)).text, clip.expectedPhrase);
});

t.test(
  'RT-57 RT-62 a decoder that dies in a room call is replaced, and the turn is understood',
  async (t) => {
    const clip = DEMO_CLIPS.find(({ intent }) => intent === 'move') as DemoClip;
    const audio = roomAudio(clip);
    const session = await open(16_000);
    t.teardown(() => session.close());
    feedFrames(session, audio.subarray(0, audio.length >> 1), 16_000);
    await crashDecoder();
    feedFrames(session, audio.subarray(audio.length >> 1), 16_000);
    t.equal((await session.flush(never)).text, clip.expectedPhrase);
  },
);

t.test('audio that waits for a decoder is bounded in seconds, at 16 kHz too', async (t) => {
  const session = await open(16_000);
  t.teardown(() => session.close());
  const hung = decoderPid();
  process.kill(hung, 'SIGSTOP');
  for (let second = 0; second < 14; second++) session.feed(new Int16Array(16_000));
  t.ok(session.lagSamples > 13 * 16_000, '14 s may wait');
  for (let second = 0; second < 2; second++) session.feed(new Int16Array(16_000));
  await t.rejects(session.flush(never), { code: 'provider_timeout', message: /15000 ms behind/ });
});

t.test('the upper band is mirrored wherever a stream is cut, at both rates', async (t) => {
  const audio = roomAudio(DEMO_CLIPS[0] as DemoClip).subarray(8_000, 12_001);
  for (const rateHz of [8_000, 16_000]) {
    const whole = createWideBand(rateHz)(audio);
    const pieces = createWideBand(rateHz);
    const joined: number[] = [];
    for (let at = 0; at < audio.length; at += 37) joined.push(...pieces(audio.subarray(at, at + 37)));
    t.same(joined, [...whole]);
  }
  const loudest = createWideBand(16_000)(new Int16Array(1_000).fill(-32_768));
  t.ok(
    loudest.every((sample) => sample < 0),
    'nothing runs over 16 bits',
  );
  t.throws(() => createWideBand(44_100), /44100 Hz/);
});

/** The rate with its 95 % Wilson interval. */
function describeRate({ right, n }: { right: number; n: number }): string {
  const z = 1.96;
  const p = right / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return `${right} of n=${n}, ${percent(p)} (95 % Wilson interval ${percent(middle - half)} to ${percent(middle + half)})`;
}
