import { readFileSync } from 'node:fs';
import type { DemoClip } from '../../src/cli/demo-script.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { readWav } from '../../src/platform/wav.ts';
import type { SttSession } from '../../src/providers/speech-to-text.ts';

/** A recording of a person as it would come over a telephone line: 8 kHz. */
export function lineAudio(clip: DemoClip): Int16Array {
  const file = readFileSync(clip.file);
  const samples = clip.file.endsWith('.wav')
    ? readWav(file).samples
    : new Int16Array(file.buffer.slice(file.byteOffset, file.byteOffset + (file.length & ~1)));
  const resampler = new (audioKernels().Resampler)(16_000, 8_000);
  return Int16Array.from([...resampler.process(samples), ...resampler.flush()]);
}

/** Line noise from a fixed seed, as the pause around a turn. */
export function lineNoise(ms: number, amplitude: number): Int16Array {
  let state = 12_345;
  return Int16Array.from({ length: ms * 8 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return ((state >> 16) % (2 * amplitude + 1)) - amplitude;
  });
}

/** Feeds 20 ms at a time, as a call does. */
export function feedFrames(session: SttSession, samples: Int16Array): void {
  for (let at = 0; at < samples.length; at += 160) session.feed(samples.subarray(at, at + 160));
}
