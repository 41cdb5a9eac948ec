import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../platform/wav.ts';

/**
 * The stereo recording: left what the caller said, right what the dialler was sent, cut at each `clear`; both on the
 * line clock (RT-64). Samples wait in two rings and go to disk once a second, so a crash loses a second at the most
 * and a frame costs no system call.
 */
const RING_SAMPLES = 8 * LINE_RATE_HZ;
/** Right frames may lie this far ahead of the clock: the pacer's lead plus a stalled caller. */
const MAX_AHEAD_SAMPLES = 4 * LINE_RATE_HZ;
const WRITE_EVERY_SAMPLES = LINE_RATE_HZ;
/** Writes under way before the disk counts as too slow and recording stops. */
const MAX_PENDING_WRITES = 8;
const FORMAT = { sampleRate: LINE_RATE_HZ, channels: 2 };

export class Recorder {
  private readonly left = new Int16Array(RING_SAMPLES);
  private readonly right = new Int16Array(RING_SAMPLES);
  private readonly onStopped: (error: Error) => void;
  private readonly interleave = audioKernels().interleave;
  private file: FileHandle | undefined;
  private writes: Promise<void> = Promise.resolve();
  private pendingWrites = 0;
  private clock = 0;
  private writtenSamples = 0;
  private savedBytes = 0;
  private rightEnd = 0;
  private stopped = false;

  private constructor(file: FileHandle, onStopped: (error: Error) => void) {
    this.file = file;
    this.onStopped = onStopped;
  }

  /** `onStopped` is called once where recording ends early: a full disk, a disk too slow. The call goes on. */
  static async create(path: string, onStopped: (error: Error) => void): Promise<Recorder> {
    const file = await open(path, 'w', 0o600);
    await file.write(wavHeader(FORMAT, 0));
    return new Recorder(file, onStopped);
  }

  /** Caller audio; moves the clock. */
  caller(samples: Int16Array): void {
    for (let offset = 0; offset < samples.length; ) {
      const at = this.clock % RING_SAMPLES;
      const take = Math.min(samples.length - offset, RING_SAMPLES - at, WRITE_EVERY_SAMPLES);
      this.left.set(samples.subarray(offset, offset + take), at);
      this.clock += take;
      offset += take;
      this.writeWhenDue();
    }
  }

  /** Silence where the caller's audio is missing; moves the clock. */
  gap(samples: number): void {
    for (let rest = samples; rest > 0; ) {
      const at = this.clock % RING_SAMPLES;
      const take = Math.min(rest, RING_SAMPLES - at, WRITE_EVERY_SAMPLES);
      this.left.fill(0, at, at + take);
      this.clock += take;
      rest -= take;
      this.writeWhenDue();
    }
  }

  /** A frame that the caller hears from `playAtSample` on. What lies outside the ring is not recorded. */
  bot(frame: Int16Array, playAtSample: number): void {
    const from = Math.max(playAtSample, this.writtenSamples);
    const to = Math.min(
      playAtSample + frame.length,
      this.writtenSamples + MAX_AHEAD_SAMPLES + WRITE_EVERY_SAMPLES,
    );
    for (let sample = from; sample < to; sample++) {
      this.right[sample % RING_SAMPLES] = frame[sample - playAtSample] ?? 0;
    }
    if (to > this.rightEnd) this.rightEnd = to;
  }

  /** The far end dropped what it had not played: so does the recording. */
  cutBot(): void {
    for (let sample = Math.max(this.clock, this.writtenSamples); sample < this.rightEnd; sample++) {
      this.right[sample % RING_SAMPLES] = 0;
    }
    this.rightEnd = Math.min(this.rightEnd, this.clock);
  }

  /** Writes the rest and the true sizes. Resolves to whether a usable recording lies on disk. */
  async close(): Promise<boolean> {
    if (!this.stopped) this.write();
    await this.writes;
    const file = this.file;
    this.file = undefined;
    if (!file) return this.savedBytes > 0;
    try {
      await file.write(wavHeader(FORMAT, this.savedBytes), 0, WAV_HEADER_BYTES, 0);
      await file.datasync();
    } catch (error) {
      this.stop(error as Error);
    }
    await file.close().catch(() => undefined);
    return this.savedBytes > 0;
  }

  private writeWhenDue(): void {
    if (!this.stopped && this.clock - this.writtenSamples >= WRITE_EVERY_SAMPLES) this.write();
  }

  private write(): void {
    const samples = this.clock - this.writtenSamples;
    if (samples === 0) return;
    if (this.pendingWrites >= MAX_PENDING_WRITES) {
      this.stop(new Error(`the disk is too slow: ${this.pendingWrites} s of audio wait to be written`));
      return;
    }
    const stereo = new Int16Array(2 * samples);
    for (let done = 0; done < samples; ) {
      const at = (this.writtenSamples + done) % RING_SAMPLES;
      const take = Math.min(samples - done, RING_SAMPLES - at);
      this.interleave(
        this.left.subarray(at, at + take),
        this.right.subarray(at, at + take),
        stereo.subarray(2 * done, 2 * (done + take)),
      );
      this.right.fill(0, at, at + take);
      done += take;
    }
    this.writtenSamples = this.clock;
    this.pendingWrites++;
    this.writes = this.writes.then(() => this.save(stereo));
  }

  private async save(stereo: Int16Array): Promise<void> {
    try {
      if (this.stopped || !this.file) return;
      const bytes = new Uint8Array(stereo.buffer, stereo.byteOffset, stereo.byteLength);
      const position = WAV_HEADER_BYTES + this.savedBytes;
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
      this.savedBytes += bytes.length;
    } catch (error) {
      this.stop(error as Error);
    } finally {
      this.pendingWrites--;
    }
  }

  private stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    this.onStopped(error);
  }
}
