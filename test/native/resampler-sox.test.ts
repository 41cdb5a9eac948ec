import { execFileSync } from 'node:child_process';
import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { convertAll, decibels } from './tones.ts';

const { Resampler } = audioKernels();
/** A spoken sentence of 2.8 s, 16 kHz, from the speech recogniser's test data that Debian ships. */
const SPEECH_FILE = '/usr/share/pocketsphinx/test/data/goforward.raw';

const PAIRS: [number, number][] = [
  [8000, 16000],
  [16000, 8000],
  [24000, 8000],
  [22050, 8000],
  [48000, 8000],
];

for (const [inputRate, outputRate] of PAIRS) {
  t.test(`speech from ${inputRate} to ${outputRate} Hz equals what sox makes of it`, async (t) => {
    const raw = (rate: number) => ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r', String(rate)];
    const sox = (input: Int16Array, from: number, to: number, effects: string[]) =>
      runSox(input, ['-D', ...raw(from), '-', ...raw(to), '-', ...effects]);
    const speech = runSox(new Int16Array(0), [
      '-D',
      ...raw(16000),
      SPEECH_FILE,
      ...raw(16000),
      '-',
      'vol',
      '0.7',
    ]);
    const source = inputRate === 16000 ? speech : sox(speech, 16000, inputRate, ['rate', '-h']);
    // Inside the telephone band both filters are flat, so what differs there would be a fault.
    const banded = sox(source, inputRate, inputRate, ['sinc', '-n', '2047', '-3400']);

    const full = compare(
      resample(source, inputRate, outputRate),
      sox(source, inputRate, outputRate, ['rate', '-h']),
    );
    const band = compare(
      resample(banded, inputRate, outputRate),
      sox(banded, inputRate, outputRate, ['rate', '-h']),
    );
    t.comment(
      `${inputRate} -> ${outputRate}: full band correlation ${full.correlation.toFixed(6)}, SNR ${full.snrDb.toFixed(1)} dB; ` +
        `to 3400 Hz correlation ${band.correlation.toFixed(8)}, SNR ${band.snrDb.toFixed(1)} dB`,
    );
    t.ok(Math.abs(full.lengthDifference) <= 1, 'same length within one sample');
    t.ok(full.correlation > 0.999, 'full band: only what lies above 3.6 kHz differs');
    t.ok(full.snrDb > 25);
    t.ok(band.correlation > 0.99999, 'telephone band: the same signal');
    t.ok(band.snrDb > 50);
  });
}

function resample(input: Int16Array, inputRate: number, outputRate: number): Int16Array {
  const resampler = new Resampler(inputRate, outputRate);
  return convertAll(resampler, input, inputRate / 50).subarray(resampler.delaySamples);
}

function compare(actual: Int16Array, expected: Int16Array) {
  const length = Math.min(actual.length, expected.length);
  let product = 0;
  let actualPower = 0;
  let expectedPower = 0;
  let difference = 0;
  for (let n = 0; n < length; n++) {
    const a = actual[n] ?? 0;
    const b = expected[n] ?? 0;
    product += a * b;
    actualPower += a * a;
    expectedPower += b * b;
    difference += (a - b) ** 2;
  }
  return {
    correlation: product / Math.sqrt(actualPower * expectedPower),
    snrDb: decibels(expectedPower / Math.max(difference, 1)),
    lengthDifference: actual.length - expected.length,
  };
}

function runSox(input: Int16Array, args: string[]): Int16Array {
  const output = execFileSync('sox', args, {
    input: Buffer.from(input.buffer, input.byteOffset, input.byteLength),
    maxBuffer: 16_000_000,
  });
  return new Int16Array(output.buffer.slice(output.byteOffset, output.byteOffset + output.byteLength));
}
