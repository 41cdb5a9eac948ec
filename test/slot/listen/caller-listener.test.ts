import t, { type Test } from 'tap';
import { loadModelPath } from '../../../src/platform/model-files.ts';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { DoubleRate, HalveRate } from '../../../src/slot/audio/half-rate.ts';
import type { HearingHz } from '../../../src/slot/audio/hearing-rate.ts';
import { CallerListener } from '../../../src/slot/listen/caller-listener.ts';
import { VoiceActivity } from '../../../src/slot/listen/voice-activity.ts';
import { wideHumanClip } from '../../listen/fixtures/human-clips.ts';

const LINE_HZ = 8_000;
const PRE_ROLL_SAMPLES = LINE_HZ / 2;
/** Two seconds of silence, a sentence, a second of silence: as a room brings it, and as a telephone does. */
const WIDE = joined(new Int16Array(32_000), wideHumanClip('goforward.raw'), new Int16Array(16_000));
const NARROW = halved(WIDE);

interface Frame {
  samples: Int16Array;
  wide?: Int16Array | undefined;
}

/** A listener, and what its engine was fed. */
async function listener(
  t: Test,
  options: {
    hearHz?: HearingHz;
    wantsSilence?: boolean;
    deaf?: boolean;
    judge?: (window: Int16Array) => void;
  },
) {
  const fed: Int16Array[] = [];
  const starts: number[] = [];
  const stops: number[] = [];
  const vad = options.deaf
    ? null
    : await VoiceActivity.create(await loadModelPath('silero-vad', projectPath('models')));
  const { judge } = options;
  const spy = {
    probability: async (window: Int16Array) => {
      judge?.(window.slice());
      return 0;
    },
    reset: () => undefined,
  } as unknown as VoiceActivity;
  const ears = new CallerListener({
    vad: judge ? spy : vad,
    stt: {
      feed: (samples) => void fed.push(samples.slice()),
      flush: async () => ({ text: '', confidence: null }),
      discard: () => undefined,
      close: async () => undefined,
    },
    wantsSilence: () => options.wantsSilence ?? false,
    config: {},
    ...(options.hearHz ? { hearHz: options.hearHz } : {}),
    hooks: {
      onSpeechStart: (fromSample) => starts.push(fromSample),
      onSpeechStop: (lastSample) => stops.push(lastSample),
      onDoubt: () => undefined,
      onWindow: () => undefined,
    },
  });
  t.teardown(() => ears.close());
  /** Feeds frames and waits until all of them have been looked at. */
  const hear = async (frames: Iterable<Frame>) => {
    let heard = 0;
    for (const { samples, wide } of frames) {
      ears.hear(samples, wide);
      heard += samples.length;
      // A transport uses its memory again as soon as the call has returned.
      samples.fill(7_777);
      wide?.fill(7_777);
      // The windows of one second wait at the most, so that nothing is overwritten before it was looked at.
      while (heard - ears.heardUptoSample > LINE_HZ) await new Promise((resolve) => setImmediate(resolve));
    }
    while (heard - ears.heardUptoSample >= 256) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ears, fed: () => joined(...fed), starts, stops, hear };
}

t.test('RT-62 in a room the engine hears 16 kHz, sample for sample, from the pre-roll on', async (t) => {
  const room = await listener(t, { hearHz: 16_000 });
  const phone = await listener(t, {});
  await room.hear(framesOf(NARROW, WIDE));
  await phone.hear(framesOf(NARROW));
  t.equal(room.starts.length, 1);
  const within = (a: readonly number[], b: readonly number[]) =>
    a.length === b.length && a.every((place, at) => Math.abs(place - (b[at] as number)) <= 2 * 256);
  t.ok(within(room.starts, phone.starts), 'speech begins where it does on a telephone line');
  t.ok(within(room.stops, phone.stops), 'and ends there, within two windows');
  const from = (room.starts[0] as number) - PRE_ROLL_SAMPLES;
  t.ok(from > 0);
  const narrow = phone.fed();
  t.ok(narrow.length > 1.5 * LINE_HZ, 'the sentence was fed');
  t.ok(isSame(narrow, NARROW.subarray(from, from + narrow.length)));
  const wide = room.fed();
  t.equal(wide.length, 2 * narrow.length, 'twice the samples');
  t.ok(isSame(wide, WIDE.subarray(2 * from, 2 * from + wide.length)));
});

t.test('RT-01 voice activity hears a room at 16 kHz, and a telephone line at 8 kHz as it came', async (t) => {
  for (const [hearHz, whole] of [
    [16_000, WIDE],
    [8_000, NARROW],
  ] as const) {
    const windows: Int16Array[] = [];
    const { hear } = await listener(t, { hearHz, deaf: true, judge: (window) => windows.push(window) });
    await hear(framesOf(NARROW, WIDE));
    t.ok(
      windows.every(({ length }) => length === hearHz / 31.25),
      `windows of 32 ms at ${hearHz} Hz`,
    );
    const heard = joined(...windows);
    t.ok(heard.length > whole.length - 600 && isSame(heard, whole.subarray(0, heard.length)), 'in one piece');
  }
});

t.test('RT-62 RT-10 the audio of a turn is found by positions of the line clock at both rates', async (t) => {
  const room = await listener(t, { hearHz: 16_000, deaf: true });
  const phone = await listener(t, { deaf: true });
  await room.hear(framesOf(NARROW, WIDE));
  await phone.hear(framesOf(NARROW));
  t.equal(room.ears.hearHz, 16_000);
  t.equal(phone.ears.hearHz, 8_000);
  for (const [from, to] of [
    [4_000, 9_001],
    [20_000, 33_333],
    [30_000, NARROW.length],
  ] as const) {
    const begin = from - PRE_ROLL_SAMPLES;
    t.ok(isSame(phone.ears.turnAudio(from, to), NARROW.subarray(begin, to)));
    t.ok(isSame(room.ears.turnAudio(from, to), WIDE.subarray(2 * begin, 2 * to)));
  }
  const long = await listener(t, { hearHz: 16_000, deaf: true });
  for (let round = 0; round < 6; round++) await long.hear(framesOf(NARROW, WIDE));
  const whole = long.ears.turnAudio(0, 6 * NARROW.length);
  t.equal(whole.length, 8 * 16_000, 'of more than 8 s the end, 8 s long');
  t.ok(isSame(whole.subarray(-WIDE.length), WIDE));
});

t.test('RT-62 RT-03 silence stands in for missing audio at 16 kHz too', async (t) => {
  const room = await listener(t, { hearHz: 16_000, wantsSilence: true, deaf: true });
  const gap = new Int16Array(12_345);
  const half = NARROW.length >> 1;
  await room.hear(framesOf(NARROW.subarray(0, half), WIDE.subarray(0, 2 * half)));
  await room.hear([{ samples: gap }]);
  await room.hear(framesOf(NARROW.subarray(half), WIDE.subarray(2 * half)));
  const fed = room.fed();
  t.equal(fed.length, 2 * (NARROW.length + gap.length));
  t.ok(isSame(fed.subarray(0, 2 * half), WIDE.subarray(0, 2 * half)));
  t.ok(
    fed.subarray(2 * half, 2 * (half + gap.length)).every((sample) => sample === 0),
    'the gap is silent',
  );
  t.ok(
    isSame(fed.subarray(2 * (half + gap.length)), WIDE.subarray(2 * half)),
    'what follows is in its place',
  );
});

t.test(
  'RT-62 frames without their wide half are doubled, and the wide ones stay where they belong',
  async (t) => {
    const room = await listener(t, { hearHz: 16_000, wantsSilence: true, deaf: true });
    const frames = [...framesOf(NARROW, WIDE)].map((frame, index) => {
      // A hundred frames with it, a hundred without, a hundred with one of a wrong length.
      const kind = Math.floor(index / 100) % 3;
      if (kind === 1) return { samples: frame.samples };
      return kind === 2 ? { ...frame, wide: frame.wide?.subarray(1) } : frame;
    });
    const expected = WIDE.slice();
    const double = new DoubleRate();
    for (const [index, { samples }] of frames.entries()) {
      if (Math.floor(index / 100) % 3 === 0) continue;
      double.process(samples, expected.subarray(320 * index, 320 * index + 2 * samples.length));
    }
    await room.hear(frames);
    const fed = room.fed();
    t.equal(fed.length, WIDE.length, 'no sample is lost or doubled');
    t.ok(frames.length > 250, 'all three kinds were there');
    t.ok(isSame(fed, expected));
  },
);

t.test('RT-62 a telephone line takes no notice of audio at 16 kHz', async (t) => {
  const phone = await listener(t, { wantsSilence: true, deaf: true });
  await phone.hear(framesOf(NARROW, WIDE));
  t.ok(isSame(phone.fed(), NARROW));
});

t.test('RT-62 RT-10 however a room cuts its audio, the engine is fed the same', async (t) => {
  for (const sizes of [[80], [160, 30, 1, 479], [4_096], [10_000, 7]]) {
    const room = await listener(t, { hearHz: 16_000, wantsSilence: true, deaf: true });
    await room.hear(framesOf(NARROW, WIDE, sizes));
    t.ok(isSame(room.fed(), WIDE), `frames of ${sizes.join(', ')}`);
  }
});

/** Both rates of one stretch, cut at the same places. */
function* framesOf(narrow: Int16Array, wide?: Int16Array, sizes = [160]): Generator<Frame> {
  for (let at = 0, index = 0; at < narrow.length; index++) {
    const size = sizes[index % sizes.length] as number;
    const samples = narrow.slice(at, at + size);
    const wideHalf = wide?.slice(2 * at, 2 * (at + samples.length));
    at += samples.length;
    yield { samples, wide: wideHalf };
  }
}

function joined(...parts: Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function halved(wide: Int16Array): Int16Array {
  const halve = new HalveRate();
  const narrow = new Int16Array(wide.length >> 1);
  wide.forEach((sample, at) => {
    const out = halve.push(sample);
    if (!Number.isNaN(out)) narrow[at >> 1] = Math.round(out);
  });
  return narrow;
}

function isSame(a: Int16Array, b: Int16Array): boolean {
  return a.length === b.length && a.every((sample, at) => sample === b[at]);
}
