import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { convertAll } from './tones.ts';

const { Resampler } = audioKernels();
const RATES_HZ = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000];
const rate = fc.constantFrom(...RATES_HZ);
const samples = fc.int16Array({ maxLength: 3000 });

t.test('any chunking of a stream gives the same bits', async () => {
  const cuts = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(rate, rate, samples, cuts, (inputRate, outputRate, input, lengths) => {
      const whole = new Resampler(inputRate, outputRate);
      const cut = new Resampler(inputRate, outputRate);
      const expected = [...whole.process(input), ...whole.flush()];
      const actual: number[] = [];
      for (let at = 0, turn = 0; at < input.length; turn++) {
        // A zero among the lengths stands for an empty chunk; the one added here keeps the walk going.
        const length = (lengths[turn % lengths.length] ?? 0) + (turn % lengths.length === 0 ? 1 : 0);
        actual.push(...cut.process(input.subarray(at, at + length)));
        at += length;
      }
      actual.push(...cut.flush());
      return Buffer.from(Int16Array.from(actual).buffer).equals(
        Buffer.from(Int16Array.from(expected).buffer),
      );
    }),
    { seed: 20240611, numRuns: 150 },
  );
});

t.test('outputs count exactly: inputs times the ratio, rounded up, and a tail of the delay', async () => {
  fc.assert(
    fc.property(rate, rate, samples, (inputRate, outputRate, input) => {
      const resampler = new Resampler(inputRate, outputRate);
      const streamed = resampler.process(input).length;
      const tail = resampler.flush().length;
      const due = Math.ceil((input.length * outputRate) / inputRate);
      return streamed === due && tail === (input.length === 0 ? 0 : resampler.delaySamples);
    }),
    { seed: 7, numRuns: 300 },
  );
});

t.test('20 ms in is 20 ms out, frame by frame, at every rate', async (t) => {
  for (const inputRate of RATES_HZ.filter((hz) => hz % 50 === 0)) {
    for (const outputRate of RATES_HZ.filter((hz) => hz % 50 === 0)) {
      const resampler = new Resampler(inputRate, outputRate);
      const lengths = new Set<number>();
      for (let frame = 0; frame < 50; frame++) {
        lengths.add(resampler.process(new Int16Array(inputRate / 50)).length);
      }
      t.strictSame([...lengths], [outputRate / 50], `${inputRate} -> ${outputRate}`);
    }
  }
});

t.test('an impulse comes out at the stated delay, and dropping the delay aligns the stream', async (t) => {
  for (const [inputRate, outputRate] of [
    [8000, 16000],
    [22050, 8000],
    [44100, 48000],
  ] as const) {
    const resampler = new Resampler(inputRate, outputRate);
    const input = new Int16Array(2000);
    input[0] = 30000;
    const output = convertAll(resampler, input, 160);
    const peak = output.indexOf(output.reduce((most, sample) => Math.max(most, sample)));
    t.equal(peak, resampler.delaySamples, `${inputRate} -> ${outputRate}`);
  }
});

t.test('empty and single-sample inputs are ordinary inputs', async (t) => {
  const resampler = new Resampler(8000, 16000);
  t.equal(resampler.flush().length, 0, 'nothing came, nothing is left');
  t.equal(resampler.process(new Int16Array(0)).length, 0);
  t.equal(resampler.flush().length, 0);
  t.equal(resampler.process(Int16Array.of(1000)).length, 2);
  t.equal(resampler.flush().length, 64);
  const down = new Resampler(48000, 8000);
  const lengths = Array.from({ length: 12 }, () => down.process(Int16Array.of(1)).length);
  t.strictSame(lengths, [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
});

t.test('after flush a resampler is as new', async (t) => {
  const input = Int16Array.from({ length: 777 }, (_, n) => ((n * 7919) % 65536) - 32768);
  const resampler = new Resampler(22050, 8000);
  const first = [...resampler.process(input), ...resampler.flush()];
  t.strictSame([...resampler.process(input), ...resampler.flush()], first);
});

t.test('RT-91 converted audio owns its memory: later calls do not change it', async (t) => {
  const resampler = new Resampler(8000, 16000);
  const input = new Int16Array(160).fill(9000);
  const output = resampler.process(input);
  const copy = Int16Array.from(output);
  input.fill(-9000);
  resampler.process(input);
  resampler.flush();
  t.same(output, copy);
  t.equal(output.byteOffset, 0);
  t.equal(output.buffer.byteLength, output.byteLength);
});

t.test('wrong arguments throw and never crash', async (t) => {
  const loose = Resampler as unknown as (new (
    ...values: unknown[]
  ) => InstanceType<typeof Resampler>) &
    ((...values: unknown[]) => unknown);
  for (const values of [[], ['8000', 16000], [8000], [8000, null], [{}, []], [8000n, 16000]]) {
    t.throws(() => new loose(...values), { name: 'TypeError' });
  }
  for (const values of [
    [8000, 9000],
    [0, 8000],
    [-8000, 8000],
    [8000, Number.NaN],
    [Number.POSITIVE_INFINITY, 8000],
    [8000.5, 8000],
    [96000, 8000],
  ]) {
    t.throws(() => new loose(...values), { name: 'RangeError', message: /must be 8000, 11025/ });
  }
  t.throws(() => loose(8000, 16000), { name: 'TypeError' }, 'called without new');
  const process = new Resampler(8000, 16000).process as (...values: unknown[]) => unknown;
  const resampler = new loose(8000, 16000);
  for (const value of [undefined, null, 1, 'x', [1, 2], {}, new Uint8Array(4), Buffer.alloc(4)]) {
    t.throws(() => process.call(resampler, value), { name: 'TypeError' });
  }
  t.throws(() => process.call({}, new Int16Array(4)), { name: 'TypeError' }, 'a foreign receiver');
  t.throws(() => process.call(Object.create(Resampler.prototype), new Int16Array(4)), { name: 'TypeError' });
  const detached = new Int16Array(16);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  t.equal((resampler.process(detached) as Int16Array).length, 0, 'a transferred array is an empty one');
});

t.test('worker threads load the kernels beside the main thread', async (t) => {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const { Resampler } = require(${JSON.stringify(projectPath('native/build/audio_kernels.node'))});
    parentPort.postMessage([...new Resampler(22050, 8000).process(new Int16Array(441).fill(5000))]);`;
  const expected = [...new Resampler(22050, 8000).process(new Int16Array(441).fill(5000))];
  const answers = await Promise.all(
    [0, 1].map(
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(code, { eval: true });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  t.strictSame(answers, [expected, expected]);
});

t.test('the cost of one 20 ms frame is on record', async (t) => {
  for (const [inputRate, outputRate] of [
    [8000, 16000],
    [22050, 8000],
  ] as const) {
    const resampler = new Resampler(inputRate, outputRate);
    const frame = Int16Array.from({ length: inputRate / 50 }, (_, n) => ((n * 7919) % 40000) - 20000);
    const rounds = 3000;
    let produced = 0;
    for (let round = 0; round < 300; round++) resampler.process(frame);
    const startNs = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) produced += resampler.process(frame).length;
    const microseconds = Number(process.hrtime.bigint() - startNs) / rounds / 1000;
    t.comment(`${inputRate} -> ${outputRate}: ${microseconds.toFixed(1)} microseconds per 20 ms frame`);
    t.equal(produced, rounds * (outputRate / 50));
  }
});
