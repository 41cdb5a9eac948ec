import { execFileSync } from 'node:child_process';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { findEngine } from '../../src/platform/engine-programs.ts';
import { humanSpeech } from './human-speech.ts';

/** Sounds of a telephone line made by construction, with a seed, so that labels are known and runs are equal. */
export type Random = () => number;

/** Sines of the given frequencies together, each at `dbfs` (a sine of full scale has -3 dB of power; this is its peak). */
export function tones(hz: readonly number[], ms: number, dbfs: number, rateHz = 8_000): Int16Array {
  const amplitude = 32_768 * 10 ** (dbfs / 20);
  return Int16Array.from({ length: Math.round((ms * rateHz) / 1_000) }, (_, n) => {
    let sum = 0;
    for (const one of hz) sum += Math.sin((2 * Math.PI * one * n) / rateHz);
    return clip(amplitude * sum);
  });
}

/** Adds white noise so many dB below the power that `samples` have while they sound. */
export function withNoise(samples: Int16Array, snrDb: number, random: Random): Int16Array {
  let energy = 0;
  let count = 0;
  for (const value of samples) {
    energy += value * value;
    if (value !== 0) count++;
  }
  return addNoise(samples, Math.sqrt(energy / Math.max(1, count)) * 10 ** (-snrDb / 20), random);
}

/** Adds white noise of a given root mean square. */
export function addNoise(samples: Int16Array, rms: number, random: Random): Int16Array {
  // Twelve evenly spread numbers make a nearly normal one of variance 1.
  return samples.map((value) => {
    let sum = -6;
    for (let i = 0; i < 12; i++) sum += random();
    return clip(value + sum * rms);
  });
}

export function joined(...parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function silence(ms: number, rateHz = 8_000): Int16Array {
  return new Int16Array(Math.round((ms * rateHz) / 1_000));
}

/** A text in a voice of espeak-ng, as a telephone line carries it. */
export function spoken(text: string, voice: string, wordsPerMinute = 170): Int16Array {
  const engine = findEngine('espeak-ng');
  if (!engine) throw new Error('espeak-ng is missing; npm test installs it');
  const wav = execFileSync(engine.path, ['--stdout', '-v', voice, '-s', String(wordsPerMinute), text], {
    env: { ...process.env, ...engine.env },
  });
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + (wav.length & ~1)));
  return new (audioKernels().Resampler)(22_050, 8_000).process(samples).slice();
}

/** Every human recording of the Debian package pocketsphinx-testdata. */
export const HUMAN_RECORDINGS: readonly string[] = [
  'goforward.raw',
  'something.raw',
  'numbers.raw',
  'cards/001.wav',
  'cards/002.wav',
  'cards/003.wav',
  'cards/004.wav',
  'cards/005.wav',
  'librivox/sense_and_sensibility_01_austen_64kb-0870.wav',
  'librivox/sense_and_sensibility_01_austen_64kb-0880.wav',
  'librivox/sense_and_sensibility_01_austen_64kb-0890.wav',
  'librivox/sense_and_sensibility_01_austen_64kb-0920.wav',
  'librivox/sense_and_sensibility_01_austen_64kb-0930.wav',
];

export function humanRecordings(): Int16Array[] {
  return HUMAN_RECORDINGS.map(humanSpeech);
}

/** The share `found / n` with its Wilson interval at 95 %, in per cent. */
export function interval(found: number, n: number): string {
  const z = 1.96;
  const share = found / n;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  const percent = (value: number) => (100 * Math.max(0, Math.min(1, value))).toFixed(1);
  return `${found} of ${n} (${percent(share)} %, 95 % interval ${percent(middle - half)} to ${percent(middle + half)})`;
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
