import { readFileSync } from 'node:fs';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { findEngineData } from '../../src/platform/engine-programs.ts';
import { readWav } from '../../src/platform/wav.ts';

/** A recording of the Debian package pocketsphinx-testdata (human, 16 kHz) as a telephone line carries it: 8 kHz. */
export function humanSpeech(name: string): Int16Array {
  const path = findEngineData(`/usr/share/pocketsphinx/test/data/${name}`);
  if (!path) throw new Error(`${name} is missing; npm test installs pocketsphinx-testdata`);
  const file = readFileSync(path);
  const samples = name.endsWith('.raw')
    ? new Int16Array(file.buffer.slice(file.byteOffset, file.byteOffset + (file.length & ~1)))
    : readWav(file).samples;
  const toLine = new (audioKernels().Resampler)(16_000, 8_000);
  const [body, tail] = [toLine.process(samples), toLine.flush()];
  const speech = new Int16Array(body.length + tail.length);
  speech.set(body);
  speech.set(tail, body.length);
  return speech;
}
