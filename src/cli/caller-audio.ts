import { readFile } from 'node:fs/promises';
import { LINE_RATE_HZ } from '../contracts/limits.ts';
import { audioKernels } from '../platform/audio-kernels.ts';
import { readWav, type WavAudio } from '../platform/wav.ts';

/** Largest recording that is read: ten minutes at 48 kHz stereo. */
const MAX_FILE_BYTES = 128 * 1_048_576;

/**
 * A recording as the telephone line carries it: 8 kHz mono. Takes any 16-bit PCM WAV file; a file named `.raw` is
 * read as 16 kHz mono without a header, the form of speech test data. Throws a sentence that names the file.
 */
export async function loadCallerAudio(path: string): Promise<Int16Array> {
  const file = await readFile(path);
  if (file.length > MAX_FILE_BYTES) {
    throw new Error(`${path}: larger than ${MAX_FILE_BYTES / 1_048_576} MB; cut it into shorter clips`);
  }
  if (path.endsWith('.raw'))
    return toLine({ sampleRate: 16_000, channels: 1, samples: bytesToSamples(file) });
  try {
    return toLine(readWav(file));
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Mono by the average of all channels, then resampled to the line's rate. */
export function toLine(audio: WavAudio): Int16Array {
  const mono = audio.channels === 1 ? audio.samples : mixDown(audio);
  if (audio.sampleRate === LINE_RATE_HZ) return mono;
  const { Resampler } = audioKernels();
  const resampler = new Resampler(audio.sampleRate, LINE_RATE_HZ);
  const head = resampler.process(mono);
  const tail = resampler.flush();
  const whole = new Int16Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole.subarray(resampler.delaySamples);
}

/** Little-endian bytes as samples; a copy, so that the bytes may be reused. */
export function bytesToSamples(bytes: Buffer): Int16Array {
  const samples = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(2 * i);
  return samples;
}

export function samplesToBytes(samples: Int16Array): Buffer {
  const bytes = Buffer.allocUnsafe(samples.length * 2);
  for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i] as number, 2 * i);
  return bytes;
}

function mixDown(audio: WavAudio): Int16Array {
  const frames = Math.floor(audio.samples.length / audio.channels);
  const mono = new Int16Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < audio.channels; channel++) {
      sum += audio.samples[frame * audio.channels + channel] as number;
    }
    mono[frame] = Math.round(sum / audio.channels);
  }
  return mono;
}
