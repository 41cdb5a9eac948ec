import { readFileSync } from 'node:fs';
import type { DemoClip } from '../../src/cli/demo-script.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { readWav } from '../../src/platform/wav.ts';
import type { SttSession } from '../../src/providers/contract/speech-to-text.ts';

/** A recording of a person as it would come over a telephone line: 8 kHz. */
export function lineAudio(clip: DemoClip): Int16Array {
  return resampled(roomAudio(clip), 16_000, 8_000);
}

/** A recording of a person as a browser would bring it into a room: 16 kHz. */
export function roomAudio(clip: DemoClip): Int16Array {
  const file = readFileSync(clip.file);
  return clip.file.endsWith('.wav')
    ? readWav(file).samples
    : new Int16Array(file.buffer.slice(file.byteOffset, file.byteOffset + (file.length & ~1)));
}

export function resampled(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  const resampler = new (audioKernels().Resampler)(fromHz, toHz);
  return Int16Array.from([...resampler.process(samples), ...resampler.flush()]);
}

/** Line noise from a fixed seed, as the pause around a turn. */
export function lineNoise(ms: number, amplitude: number, rateHz = 8_000): Int16Array {
  let state = 12_345;
  return Int16Array.from({ length: (ms * rateHz) / 1_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return ((state >> 16) % (2 * amplitude + 1)) - amplitude;
  });
}

/** Feeds 20 ms at a time, as a call does. */
export function feedFrames(session: SttSession, samples: Int16Array, rateHz = 8_000): void {
  const frame = rateHz / 50;
  for (let at = 0; at < samples.length; at += frame) session.feed(samples.subarray(at, at + frame));
}
