import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { measureTone, tone } from './tones.ts';

const { Resampler } = audioKernels();
const AMPLITUDE = 16000;
const TONE_S = 0.2;

const PAIRS: [number, number][] = [
  [8000, 16000],
  [16000, 8000],
  [24000, 8000],
  [22050, 8000],
  [48000, 8000],
];

for (const [inputRate, outputRate] of PAIRS) {
  t.test(`${inputRate} to ${outputRate} Hz keeps speech and lets no image or alias through`, async (t) => {
    const figures = measurePair(inputRate, outputRate);
    t.comment(
      `${inputRate} -> ${outputRate}: pass band to 3400 Hz within ${figures.rippleDb.toFixed(4)} dB, ` +
        `3600 Hz ${figures.edgeDb.toFixed(3)} dB, stop band ${figures.stopDb.toFixed(1)} dB, ` +
        `delay ${figures.delaySamples} samples = ${figures.delayMs.toFixed(2)} ms, ` +
        `deviation from linear phase ${figures.phaseErrorSamples.toFixed(5)} samples`,
    );
    t.ok(figures.rippleDb < 0.1, 'flat within 0.1 dB to 3400 Hz');
    t.ok(Math.abs(figures.edgeDb) < 1, 'within 1 dB at 3600 Hz');
    t.ok(figures.stopDb < -70, 'at least 70 dB of stop band');
    t.ok(figures.delayMs <= 4, 'at most 4 ms of delay');
    t.ok(figures.phaseErrorSamples < 0.01, 'the stated delay holds for every frequency');
  });
}

t.test('a resampler states its delay in output samples', async (t) => {
  t.equal(new Resampler(8000, 16000).delaySamples, 64);
  t.equal(new Resampler(16000, 8000).delaySamples, 32);
  t.equal(new Resampler(22050, 8000).delaySamples, 32);
  t.equal(new Resampler(16000, 16000).delaySamples, 0, 'equal rates add none');
});

t.test('full-scale speech saturates instead of wrapping around', async (t) => {
  const square = Int16Array.from({ length: 4000 }, (_, n) => (Math.floor(n / 20) % 2 === 0 ? 32767 : -32768));
  const output = new Resampler(8000, 16000).process(square);
  const delay = new Resampler(8000, 16000).delaySamples;
  t.equal(
    output.reduce((most, sample) => Math.max(most, sample)),
    32767,
  );
  t.equal(
    output.reduce((least, sample) => Math.min(least, sample)),
    -32768,
  );
  for (let n = delay + 80; n < output.length; n++) {
    const position = ((n - delay) / 2) % 20;
    if (position < 2 || position > 18) continue;
    const high = Math.floor((n - delay) / 40) % 2 === 0;
    if (high !== (output[n] ?? 0) > 0) return t.fail(`output ${n} has the wrong sign: it wrapped around`);
  }
});

interface PairFigures {
  rippleDb: number;
  edgeDb: number;
  stopDb: number;
  delaySamples: number;
  delayMs: number;
  phaseErrorSamples: number;
}

/** Sends tones through a pair of rates, one at a time, from 50 Hz up to half the input rate. */
function measurePair(inputRate: number, outputRate: number): PairFigures {
  const delaySamples = new Resampler(inputRate, outputRate).delaySamples;
  const send = (frequencyHz: number) => {
    const input = tone(frequencyHz, inputRate, Math.round(inputRate * TONE_S), AMPLITUDE);
    const output = new Resampler(inputRate, outputRate).process(input);
    return measureTone(output, frequencyHz, outputRate, AMPLITUDE, delaySamples);
  };
  let rippleDb = 0;
  let stopDb = Number.NEGATIVE_INFINITY;
  let phaseErrorSamples = 0;
  for (let frequencyHz = 50; frequencyHz <= 3400; frequencyHz += 67) {
    const figures = send(frequencyHz);
    rippleDb = Math.max(rippleDb, Math.abs(figures.gainDb));
    stopDb = Math.max(stopDb, figures.residualDb);
    phaseErrorSamples = Math.max(phaseErrorSamples, Math.abs(figures.delaySamples - delaySamples));
  }
  rippleDb = Math.max(rippleDb, Math.abs(send(3400).gainDb));
  // Towards half of 8 kHz an interpolated tone casts its nearest image; beyond it, whatever is left is an alias.
  if (outputRate > inputRate) {
    for (let frequencyHz = 3410; frequencyHz <= 3990; frequencyHz += 20) {
      stopDb = Math.max(stopDb, send(frequencyHz).residualDb);
    }
  } else {
    for (let frequencyHz = 4010; frequencyHz < inputRate / 2; frequencyHz += frequencyHz < 4600 ? 20 : 211) {
      stopDb = Math.max(stopDb, send(frequencyHz).totalDb);
    }
  }
  const delayMs = (delaySamples / outputRate) * 1000;
  return { rippleDb, edgeDb: send(3600).gainDb, stopDb, delaySamples, delayMs, phaseErrorSamples };
}
