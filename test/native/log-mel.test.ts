import t, { type Test } from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';

const { logMel } = audioKernels();
const SAMPLES = 128000;
const FRAMES = 800;
const CELLS = 80 * FRAMES;
/** How far a cell may be off (D-37). */
const TOLERANCE = 2e-4;

/** Golden values of the reference implementation (D-37): (mel, frame, value). */
const SINE_CELLS: [number, number, number][] = [
  [9, 760, 1.61094],
  [10, 760, 1.80028],
  [11, 760, 1.88975],
  [12, 760, 1.74507],
  [11, 698, -0.11025],
  [11, 699, 0.8026],
  [11, 700, 1.74447],
  [0, 700, 1.28431],
  [11, 799, 1.88721],
  [30, 799, 0.54502],
];
const CHIRP_CELLS: [number, number, number][] = [
  [40, 760, 0.25904],
  [45, 770, 0.70561],
  [55, 790, 1.23705],
];

t.test('digital silence gives -1.5 in every cell', async (t) => {
  const out = features(new Float32Array(SAMPLES));
  t.ok(out.every((cell) => cell === -1.5));
});

t.test('one second of 440 Hz gives the golden features', async (t) => {
  const out = features(lastSecond((s) => 0.5 * Math.sin(2 * Math.PI * 440 * s)));
  checkCells(t, out, SINE_CELLS);
  const { least, most, mostAt, total } = summary(out);
  near(t, least, -0.110252, 'minimum');
  near(t, most, 1.889748, 'maximum');
  t.equal(mostAt, 11 * FRAMES + 702, 'the maximum lies at mel 11, frame 702');
  near(t, total / CELLS, -0.096046, 'mean');
  t.ok(Math.abs(total + 6146.9737) < 0.01, `total ${total.toFixed(4)}`);
});

t.test('one second of a rising chirp gives the golden features', async (t) => {
  const out = features(lastSecond((s) => 0.5 * Math.sin(2 * Math.PI * (200 * s + 1500 * s * s))));
  checkCells(t, out, CHIRP_CELLS);
  const { most, mostAt, total } = summary(out);
  near(t, most, 1.898497, 'maximum');
  t.equal(mostAt, 14 * FRAMES + 712, 'the maximum lies at mel 14, frame 712');
  t.ok(Math.abs(total + 5058.3282) < 0.01, `total ${total.toFixed(4)}`);
});

t.test('features do not depend on what the arrays held or where they start', async (t) => {
  const samples = lastSecond((s) => 0.3 * Math.sin(2 * Math.PI * 1234 * s) * Math.sin(20 * s));
  const expected = features(samples);
  const shifted = new Float32Array(SAMPLES + 3).subarray(3);
  shifted.set(samples);
  const dirty = new Float32Array(CELLS + 1).fill(Number.NaN).subarray(1);
  logMel(shifted, dirty);
  t.same(dirty, expected);
});

t.test('samples that are not finite count as silence', async (t) => {
  const samples = lastSecond((s) => 0.5 * Math.sin(2 * Math.PI * 440 * s));
  samples[50000] = 0;
  const expected = features(samples);
  samples[50000] = Number.NaN;
  t.same(features(samples), expected);
  samples[50000] = Number.POSITIVE_INFINITY;
  t.same(features(samples), expected);
});

t.test('wrong arrays throw and leave the output alone', async (t) => {
  const loose = logMel as (...values: unknown[]) => void;
  const out = new Float32Array(CELLS).fill(7);
  for (const values of [
    [],
    [out],
    [new Float64Array(SAMPLES), out],
    [[], out],
    [new Float32Array(SAMPLES), null],
  ]) {
    t.throws(() => loose(...values), { name: 'TypeError' });
  }
  for (const length of [0, 1, SAMPLES - 1, SAMPLES + 1]) {
    t.throws(() => logMel(new Float32Array(length), out), { name: 'RangeError', message: /128000/ });
  }
  t.throws(() => logMel(new Float32Array(SAMPLES), new Float32Array(CELLS - 1)), { name: 'RangeError' });
  t.ok(out.every((cell) => cell === 7));
});

t.test('the cost of the features is on record', async (t) => {
  const long = Float32Array.from({ length: SAMPLES }, (_, n) => (((n * 7919) % 65536) - 32768) / 65536);
  const short = lastSecond((s) => 0.5 * Math.sin(2 * Math.PI * 440 * s));
  t.comment(
    `8 s of sound: ${medianMs(long).toFixed(2)} ms; 1 s after 7 s of padding: ${medianMs(short).toFixed(2)} ms`,
  );
  t.ok(features(long).every((cell) => Number.isFinite(cell)));
});

function features(samples: Float32Array): Float32Array {
  const out = new Float32Array(CELLS);
  logMel(samples, out);
  return out;
}

/** Silence, then one second of the given signal, at 16 kHz. */
function lastSecond(signal: (seconds: number) => number): Float32Array {
  const samples = new Float32Array(SAMPLES);
  for (let n = 0; n < 16000; n++) samples[SAMPLES - 16000 + n] = signal(n / 16000);
  return samples;
}

function near(t: Test, value: number, expected: number, what: string) {
  t.ok(Math.abs(value - expected) <= TOLERANCE, `${what}: ${value.toFixed(6)}, golden ${expected}`);
}

function checkCells(t: Test, out: Float32Array, cells: [number, number, number][]) {
  for (const [mel, frame, value] of cells)
    near(t, out[mel * FRAMES + frame] ?? 0, value, `(${mel}, ${frame})`);
}

function summary(out: Float32Array) {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let mostAt = -1;
  let total = 0;
  out.forEach((cell, index) => {
    least = Math.min(least, cell);
    if (cell > most) {
      most = cell;
      mostAt = index;
    }
    total += cell;
  });
  return { least, most, mostAt, total };
}

function medianMs(samples: Float32Array): number {
  const out = new Float32Array(CELLS);
  const times = Array.from({ length: 25 }, () => {
    const start = process.hrtime.bigint();
    logMel(samples, out);
    return Number(process.hrtime.bigint() - start) / 1e6;
  });
  return times.sort((a, b) => a - b)[12] ?? 0;
}
