import t from 'tap';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { SpeechSegmenter } from '../../src/slot/listen/speech-segmenter.ts';
import { VoiceActivity } from '../../src/slot/listen/voice-activity.ts';
import { humanClip } from './fixtures/human-clips.ts';

const WINDOW = 256;
/** Of the hashed file silero_vad_v6.onnx (models/README.md). */
const GOLDEN_ZEROS = 0.01737;
const GOLDEN_SINE = [0.00469, 0.00183, 0.0009, 0.00104, 0.00123];
const WIDE_WINDOW = 512;
const GOLDEN_WIDE_ZEROS = 0.00167;
const GOLDEN_WIDE_SINE = [0.00237, 0.00048, 0.00019, 0.00012, 0.00015];
const TOLERANCE = 1e-3;

const modelPath = await loadModelPath('silero-vad', projectPath('models'));

t.test('R9 Silero at its native 8 kHz gives the golden probabilities', async (t) => {
  const activity = await VoiceActivity.create(modelPath);
  t.teardown(() => activity.close());
  const zeros = await activity.probability(new Int16Array(WINDOW));
  t.ok(Math.abs(zeros - GOLDEN_ZEROS) < TOLERANCE, `zeros: ${zeros}`);
  activity.reset();
  for (const [i, wanted] of GOLDEN_SINE.entries()) {
    const got = await activity.probability(sineWindow(i));
    t.ok(Math.abs(got - wanted) < TOLERANCE, `sine window ${i}: ${got}, golden ${wanted}`);
  }
});

t.test(
  'RT-01 Silero at 16 kHz gives the golden probabilities, and a call at 8 kHz leaves it no trace',
  async (t) => {
    const activity = await VoiceActivity.create(modelPath);
    t.teardown(() => activity.close());
    const zeros = await activity.probability(new Int16Array(WIDE_WINDOW));
    t.ok(Math.abs(zeros - GOLDEN_WIDE_ZEROS) < TOLERANCE / 10, `zeros: ${zeros}`);
    for (let i = 0; i < 20; i++) await activity.probability(sineWindow(i));
    activity.reset();
    for (const [i, wanted] of GOLDEN_WIDE_SINE.entries()) {
      const got = await activity.probability(sineWindow(i, 16_000));
      t.ok(Math.abs(got - wanted) < TOLERANCE / 10, `sine window ${i}: ${got}, golden ${wanted}`);
    }
  },
);

t.test('a reset forgets the call before, also when it comes while a window is judged', async (t) => {
  const activity = await VoiceActivity.create(modelPath);
  t.teardown(() => activity.close());
  const speech = humanClip('goforward.raw');
  const listen = async () => {
    const heard: number[] = [];
    for (let at = 0; at < 40 * WINDOW; at += WINDOW) {
      heard.push(await activity.probability(speech.subarray(at, at + WINDOW)));
    }
    return heard;
  };
  const first = await listen();
  const second = await listen();
  t.not(second[0], first[0], 'without a reset the memory reaches into the second time');
  activity.reset();
  t.same(await listen(), first, 'after a reset everything is as the first time');
  const inWork = activity.probability(speech.subarray(0, WINDOW));
  activity.reset();
  await inWork;
  t.same(await listen(), first, 'a reset under way takes effect after its window');
});

t.test('speech in real recordings is found, and silence around it is not speech', async (t) => {
  const activity = await VoiceActivity.create(modelPath);
  t.teardown(() => activity.close());
  // Where people hear speech begin and end in these clips, in seconds.
  const clips: [name: string, from: number, to: number][] = [
    ['goforward.raw', 0.5, 2.25],
    ['something.raw', 0.5, 2.25],
    ['cards/005.wav', 0.2, 3.3],
    ['librivox/sense_and_sensibility_01_austen_64kb-0870.wav', 0.25, 6.9],
  ];
  for (const [name, from, to] of clips) {
    activity.reset();
    const segmenter = new SpeechSegmenter({});
    const clip = humanClip(name);
    const heard = new Int16Array(clip.length + 8_000);
    heard.set(clip);
    const starts: number[] = [];
    const stops: number[] = [];
    for (let at = 0; at + WINDOW <= heard.length; at += WINDOW) {
      const event = segmenter.push(await activity.probability(heard.subarray(at, at + WINDOW)), at);
      if (event) (event.type === 'speech_start' ? starts : stops).push(event.atSample / 8000);
    }
    t.equal(starts.length, stops.length, `${name}: every segment is closed by the silence after the clip`);
    t.ok(Math.abs((starts[0] ?? -9) - from) < 0.25, `${name}: begins at ${starts[0]} s`);
    t.ok(Math.abs((stops.at(-1) ?? -9) - to) < 0.25, `${name}: ends at ${stops.at(-1)} s`);
  }
  activity.reset();
  for (let i = 0; i < 60; i++) {
    const probability = await activity.probability(new Int16Array(WINDOW));
    if (probability >= 0.3) t.fail(`digital silence, window ${i}: ${probability}`);
  }
});

t.test('a wrong window, a second one at once and one after close are refused in words', async (t) => {
  const activity = await VoiceActivity.create(modelPath);
  await t.rejects(activity.probability(new Int16Array(160)), {
    code: 'internal',
    message: /256 samples, or 512 at 16 kHz/,
  });
  const inWork = activity.probability(new Int16Array(WINDOW));
  await t.rejects(activity.probability(new Int16Array(WINDOW)), { code: 'internal', message: /one window/ });
  await activity.close();
  t.ok((await inWork) < 0.5, 'the window in work is finished before the session goes');
  await activity.close();
  await t.rejects(activity.probability(new Int16Array(WINDOW)), { code: 'internal' });
});

t.test('a file that is no model is reported as a missing model with the remedy', async (t) => {
  await t.rejects(VoiceActivity.create(projectPath('package.json')), {
    code: 'model_missing',
    message: /trunkline models/,
  });
});

/** 440 Hz at amplitude 0.5, window `index` of a continuous tone. */
function sineWindow(index: number, rateHz = 8_000): Int16Array {
  const length = (WINDOW * rateHz) / 8_000;
  return Int16Array.from({ length }, (_, i) =>
    Math.round(16_384 * Math.sin((2 * Math.PI * 440 * (index * length + i)) / rateHz)),
  );
}
