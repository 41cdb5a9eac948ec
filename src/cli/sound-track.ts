import { LINE_RATE_HZ } from '../contracts/limits.ts';
import { wavHeader } from '../platform/wav.ts';

/** A growing piece of 8 kHz audio with a firm end: what does not fit any more is not kept. */
export class SoundTrack {
  private buffer = new Int16Array(LINE_RATE_HZ);
  private used = 0;
  private readonly maxSamples: number;

  constructor(maxMs: number) {
    this.maxSamples = Math.floor((maxMs * LINE_RATE_HZ) / 1000);
  }

  get samples(): Int16Array {
    return this.buffer.subarray(0, this.used);
  }

  append(samples: Int16Array): void {
    const room = Math.min(samples.length, this.maxSamples - this.used);
    if (room <= 0) return;
    if (this.used + room > this.buffer.length) {
      const larger = new Int16Array(
        Math.min(this.maxSamples, Math.max(this.used + room, this.buffer.length * 2)),
      );
      larger.set(this.samples);
      this.buffer = larger;
    }
    this.buffer.set(samples.subarray(0, room), this.used);
    this.used += room;
  }
}

/** Two tracks as one stereo WAV file: left first. The shorter one is filled up with silence. */
export function stereoWav(left: Int16Array, right: Int16Array): Buffer {
  const length = Math.max(left.length, right.length);
  const body = Buffer.alloc(length * 4);
  for (let i = 0; i < length; i++) {
    body.writeInt16LE(left[i] ?? 0, 4 * i);
    body.writeInt16LE(right[i] ?? 0, 4 * i + 2);
  }
  return Buffer.concat([wavHeader({ sampleRate: LINE_RATE_HZ, channels: 2 }, body.length), body]);
}
