import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';

/** What a connection's audio amounts to, beside its sound. */
export interface AudioTruth {
  samples: number;
  audioMs: number;
  /** From the first frame to the last, on the emulator's clock. */
  wallMs: number;
  /** Audio per wall time: 1 is real time. 0 until there are two frames. */
  realTimeRatio: number;
  /** Length of each frame as it came, in milliseconds of audio. */
  frameMs: number[];
  longestGapMs: number;
  /** The samples would be smoother with their bytes swapped. */
  byteOrderSuspect: boolean;
}

/** Frames whose sizes are kept; later ones are only counted. */
const MAX_FRAME_SIZES = 50_000;
/** How much smoother swapped samples must be before the order is suspected. */
const SWAPPED_IS_SMOOTHER = 2;

const BYTES_PER_SAMPLE: Record<string, number> = {
  linear16: 2,
  pcm_s16le: 2,
  linear32: 4,
  mulaw: 1,
  alaw: 1,
};

/** Decodes the audio of one connection and measures it against the clock. */
export class HeardAudio {
  readonly sampleRate: number;
  readonly encoding: string;
  private readonly clock: ProviderClock;
  private readonly frameMs: number[] = [];
  private samples = 0;
  private firstFrameMs = 0;
  private lastFrameMs = 0;
  private lastLengthMs = 0;
  private longestGapMs = 0;
  private roughness = 0;
  private swappedRoughness = 0;

  constructor(options: { sampleRate: number; encoding: string; clock: ProviderClock }) {
    this.sampleRate = options.sampleRate;
    this.encoding = options.encoding;
    this.clock = options.clock;
  }

  /** LINEAR16 samples, or null where the bytes cannot be of the encoding that was agreed. */
  add(bytes: Buffer): Int16Array | null {
    const width = BYTES_PER_SAMPLE[this.encoding] ?? 1;
    if (bytes.length % width !== 0) return null;
    const nowMs = this.clock.nowMs();
    if (this.samples === 0) this.firstFrameMs = nowMs;
    else this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.lastFrameMs);
    this.lastFrameMs = nowMs;
    const count = bytes.length / width;
    this.lastLengthMs = (count * 1000) / this.sampleRate;
    this.samples += count;
    if (this.frameMs.length < MAX_FRAME_SIZES) this.frameMs.push(this.lastLengthMs);
    const samples = decode(bytes, width, this.encoding);
    if (width === 2) this.compareByteOrders(bytes);
    return samples;
  }

  truth(): AudioTruth {
    const audioMs = (this.samples * 1000) / this.sampleRate;
    const wallMs = this.lastFrameMs - this.firstFrameMs;
    return {
      samples: this.samples,
      audioMs,
      wallMs,
      // The last frame's own length lies after the last time stamp.
      realTimeRatio: wallMs > 0 ? (audioMs - this.lastLengthMs) / wallMs : 0,
      frameMs: [...this.frameMs],
      longestGapMs: this.longestGapMs,
      byteOrderSuspect: this.roughness > SWAPPED_IS_SMOOTHER * this.swappedRoughness,
    };
  }

  private compareByteOrders(bytes: Buffer): void {
    for (let at = 2; at + 2 <= bytes.length; at += 2) {
      this.roughness += Math.abs(bytes.readInt16LE(at) - bytes.readInt16LE(at - 2));
      this.swappedRoughness += Math.abs(bytes.readInt16BE(at) - bytes.readInt16BE(at - 2));
    }
  }
}

function decode(bytes: Buffer, width: number, encoding: string): Int16Array {
  const samples = new Int16Array(bytes.length / width);
  for (let n = 0; n < samples.length; n += 1) {
    if (width === 2) samples[n] = bytes.readInt16LE(n * 2);
    else if (width === 4) samples[n] = bytes.readInt32LE(n * 4) >> 16;
    else if (encoding === 'mulaw') samples[n] = fromMuLaw(bytes[n] ?? 0);
  }
  return samples;
}

/** ITU-T G.711, written from its definition: sign, three bits of exponent, four of mantissa, all inverted. */
function fromMuLaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7);
  return bits & 0x80 ? 0x84 - magnitude : magnitude - 0x84;
}
