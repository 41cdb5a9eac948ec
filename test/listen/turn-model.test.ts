import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { loadModelPath } from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { createSession, onnxRuntime } from '../../src/slot/listen/onnx-session.ts';
import { FEATURE_CELLS, FEATURE_SHAPE, TurnFeatures } from '../../src/slot/listen/turn-features.ts';
import { noTurnModel, TurnModel, type TurnVerdict } from '../../src/slot/listen/turn-model.ts';
import { humanClip, wideHumanClip } from './fixtures/human-clips.ts';

/** Long enough that a busy test machine does not make a verdict late. */
const PATIENT_MS = 20_000;
const modelPath = await loadModelPath('smart-turn', projectPath('models'));
const clip = humanClip('goforward.raw');

t.test('RT-78 one question is in work, one waits, and a newer one takes the waiting place', async (t) => {
  const model = await TurnModel.start({ modelPath });
  t.teardown(() => model.close());
  const verdicts = await Promise.all([1, 2, 3, 4].map(() => model.judge(clip, PATIENT_MS)));
  t.same(
    verdicts.map((verdict) => (verdict.decidedBy === 'model' ? 'model' : verdict.reason)),
    ['model', 'busy', 'busy', 'model'],
  );
  const [first, , , last] = verdicts;
  t.equal(probabilityOf(first), probabilityOf(last), 'the same audio gets the same answer');
});

t.test(
  'RT-78 a verdict that misses its deadline is the silence rule`s, and the next one is right again',
  async (t) => {
    const model = await TurnModel.start({ modelPath });
    t.teardown(() => model.close());
    const wanted = probabilityOf(await model.judge(clip, PATIENT_MS));
    t.same(await model.judge(new Int16Array(64_000), 1), { decidedBy: 'silence_rule', reason: 'late' });
    const waiting = model.judge(clip, 1);
    t.same(
      await waiting,
      { decidedBy: 'silence_rule', reason: 'late' },
      'a waiting question keeps its deadline',
    );
    t.equal(
      probabilityOf(await model.judge(clip, PATIENT_MS)),
      wanted,
      'a late answer is not taken for this one',
    );
  },
);

t.test('a segment longer than 8 s counts with its end, and an empty one is answered', async (t) => {
  const model = await TurnModel.start({ modelPath });
  t.teardown(() => model.close());
  const long = new Int16Array(100_000).fill(999);
  long.set(new Int16Array(64_000), 36_000);
  long.set(clip, 100_000 - clip.length);
  const [heard, wanted] = [
    probabilityOf(await model.judge(long, PATIENT_MS)),
    probabilityOf(await model.judge(clip, PATIENT_MS)),
  ];
  t.ok(
    Math.abs(heard - wanted) < 0.01,
    `older than 8 s is not heard: ${heard}; padded with silence: ${wanted}`,
  );
  const silence = probabilityOf(await model.judge(new Int16Array(0), PATIENT_MS));
  t.ok(Math.abs(silence - 0.98704) < 0.01, `golden value of silence: ${silence}`);
});

t.test('RT-62 eight seconds at 16 kHz are heard whole, and rates may follow each other', async (t) => {
  const model = await TurnModel.start({ modelPath });
  t.teardown(() => model.close());
  const wideClip = wideHumanClip('goforward.raw');
  const narrow = probabilityOf(await model.judge(clip, PATIENT_MS));
  const wide = probabilityOf(await model.judge(wideClip, PATIENT_MS, 16_000));
  t.ok(Math.abs(wide - narrow) < 0.1, `the same sentence: ${narrow} at 8 kHz, ${wide} at 16 kHz`);
  const long = new Int16Array(200_000).fill(999);
  long.set(new Int16Array(128_000), 72_000);
  long.set(wideClip, 200_000 - wideClip.length);
  const ofLong = probabilityOf(await model.judge(long, PATIENT_MS, 16_000));
  t.ok(Math.abs(ofLong - wide) < 0.01, `older than 8 s is not heard: ${ofLong}`);
  t.equal(probabilityOf(await model.judge(clip, PATIENT_MS)), narrow, 'the next call is a telephone again');
});

t.test('RT-88 verdict after verdict, memory does not grow', async (t) => {
  const model = await TurnModel.start({ modelPath });
  t.teardown(() => model.close());
  const judgeTimes = async (count: number) => {
    for (let i = 0; i < count; i++) probabilityOf(await model.judge(clip, PATIENT_MS));
    return process.memoryUsage.rss() / 1e6;
  };
  const before = await judgeTimes(10);
  const after = await judgeTimes(40);
  t.comment(`resident memory before ${before.toFixed(0)} MB, 40 verdicts later ${after.toFixed(0)} MB`);
  t.ok(after - before < 60, 'a planner that kept 13 MB of each run would add 500 MB');
});

t.test('without a model, and after close, every verdict is the silence rule`s', async (t) => {
  const off: TurnVerdict = { decidedBy: 'silence_rule', reason: 'off' };
  t.same(await noTurnModel.judge(clip), off);
  const model = await TurnModel.start({ modelPath });
  const open = [model.judge(clip, PATIENT_MS), model.judge(clip, PATIENT_MS)];
  await model.close();
  t.same(await Promise.all(open), [off, off], 'open questions are answered at once');
  t.same(await model.judge(clip), off);
  await model.close();
});

t.test('R36 a worker that dies is reported once and never takes the call down', async (t) => {
  const deaths: Error[] = [];
  const { model, worker } = await startWatched((error) => deaths.push(error));
  t.equal((await model.judge(clip, PATIENT_MS)).decidedBy, 'model');
  await worker.terminate();
  await delay(20);
  const failed: TurnVerdict = { decidedBy: 'silence_rule', reason: 'failed' };
  t.same(await model.judge(clip, PATIENT_MS), failed);
  t.same(await model.judge(clip, PATIENT_MS), failed);
  t.equal(deaths.length, 1);
  await model.close();
});

t.test('a worker that hears nothing any more counts as dead after five seconds', async (t) => {
  const deaths: Error[] = [];
  const { model, worker } = await startWatched((error) => deaths.push(error));
  const deliver = worker.postMessage.bind(worker);
  worker.postMessage = () => undefined;
  t.same(await model.judge(clip, PATIENT_MS), { decidedBy: 'silence_rule', reason: 'failed' });
  t.match(deaths.map(String).join(), /no answer for 5000 ms/);
  deliver({ type: 'close' });
});

t.test('a model file that is missing or no model is refused with the remedy', async (t) => {
  for (const path of [projectPath('models/no-such.onnx'), projectPath('package.json')]) {
    await t.rejects(TurnModel.start({ modelPath: path }), {
      code: 'model_missing',
      message: /trunkline models/,
    });
  }
});

t.test('a verdict does not stop the audio: the main thread stays free while one is computed', async (t) => {
  const model = await TurnModel.start({ modelPath });
  t.teardown(() => model.close());
  const session = await createSession(modelPath);
  t.teardown(() => session.release());
  const features = new Float32Array(FEATURE_CELLS);
  const turnFeatures = new TurnFeatures();
  const feeds = { input_features: new (onnxRuntime().Tensor)('float32', features, FEATURE_SHAPE) };
  const onMainThread = async () => {
    turnFeatures.compute(clip, features);
    await session.run(feeds);
  };
  const lags = { bare: [] as number[], worker: [] as number[], main: [] as number[] };
  for (let round = 0; round < 9; round++) {
    lags.bare.push(await longestLagMs(() => delay(50)));
    lags.worker.push(await longestLagMs(() => model.judge(clip, PATIENT_MS)));
    lags.main.push(await longestLagMs(onMainThread));
  }
  const [bare, worker, main] = [median(lags.bare), median(lags.worker), median(lags.main)];
  t.comment(
    `longest event-loop lag, median of 9: bare ${bare.toFixed(1)}, worker ${worker.toFixed(1)}, main ${main.toFixed(1)} ms`,
  );
  t.ok(worker - bare < (main - bare) / 2, 'the lag is nowhere near that of a verdict on the main thread');
});

function probabilityOf(verdict: TurnVerdict | undefined): number {
  if (verdict?.decidedBy !== 'model') throw new Error(`the silence rule decided: ${JSON.stringify(verdict)}`);
  return verdict.probability;
}

/** A turn model together with its worker thread, which only the process's own event gives away. */
async function startWatched(onDied: (error: Error) => void): Promise<{ model: TurnModel; worker: Worker }> {
  let worker: Worker | undefined;
  process.once('worker', (started) => {
    worker = started;
  });
  const model = await TurnModel.start({ modelPath, onDied });
  if (!worker) throw new Error('no worker was started');
  return { model, worker };
}

/** How long the event loop was held up at the most while `work` went on. */
async function longestLagMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let going = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (going) setTimeout(tick, 1);
  };
  setTimeout(tick, 1);
  await work();
  going = false;
  // A wait that work's own thread caused ends only now, with the next turn of the loop.
  await new Promise((resolve) => setTimeout(resolve, 1));
  return Math.max(longest, performance.now() - last);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}
