import { audioKernels } from '../../platform/audio-kernels.ts';

/** Quieter than this is nobody speaking, on any line that carries speech (dBFS). */
const QUIET_DBFS = -50;
const LOOK_MS = 20;

/** The latest audio of a stream. Positions are samples since the stream began. */
export class AudioRing {
  readonly sampleRate: number;
  private readonly samples: Int16Array;
  private end = 0;

  constructor(sampleRate: number, seconds: number) {
    this.sampleRate = sampleRate;
    this.samples = new Int16Array(Math.ceil(sampleRate * seconds));
  }

  /** Behind the latest sample. */
  get endAt(): number {
    return this.end;
  }

  /** The oldest sample that is still here. */
  get startAt(): number {
    return Math.max(0, this.end - this.samples.length);
  }

  push(samples: Int16Array): void {
    const size = this.samples.length;
    const kept = samples.length > size ? samples.subarray(samples.length - size) : samples;
    this.end += samples.length - kept.length;
    const at = this.end % size;
    const head = Math.min(kept.length, size - at);
    this.samples.set(kept.subarray(0, head), at);
    this.samples.set(kept.subarray(head), 0);
    this.end += kept.length;
  }

  /** A copy of what lies between two positions, as far as it is still here. */
  copy(fromAt: number, toAt: number): Int16Array {
    const from = Math.max(fromAt, this.startAt);
    const length = Math.max(0, Math.min(toAt, this.end) - from);
    const out = new Int16Array(length);
    const at = from % this.samples.length;
    const head = this.samples.subarray(at, Math.min(at + length, this.samples.length));
    out.set(head);
    out.set(this.samples.subarray(0, length - head.length), head.length);
    return out;
  }

  /** The first position from there on where it is not quiet; the end where all is. */
  firstLoudAt(fromAt: number): number {
    const block = Math.round((this.sampleRate * LOOK_MS) / 1000);
    const { level } = audioKernels();
    for (let at = Math.max(fromAt, this.startAt); at < this.end; at += block) {
      if (level(this.copy(at, at + block)) > QUIET_DBFS) return at;
    }
    return this.end;
  }
}
