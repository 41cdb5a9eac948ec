import type { ProviderContext } from '../contract/provider-context.ts';

/** Audio that the line does not take is kept this long, then the oldest goes (D-31). */
const KEPT_MS = 2_000;
/** Unsent audio that the system may hold besides; `highWaterBytes` of the socket. */
const LINE_MS = 500;
/** Places where the two clocks differ that are remembered; older ones lose their precision, not their order. */
const MAX_MARKS = 64;

/** From `sent` on, the sample numbered `fed` by the call is what the vendor hears. */
interface Mark {
  sent: number;
  fed: number;
  /** False where the vendor hears silence that the call never fed. */
  advancing: boolean;
}

/**
 * Caller audio on its way to a vendor: cut into chunks of one length, kept back while the line is congested, at most
 * two seconds of it, and counted, so that the vendor's time stamps can be told as samples of the call. No memory is
 * allocated for a frame.
 */
export class AudioOutlet {
  readonly sampleRate: number;
  /** Samples that the call fed. */
  fedSamples = 0;
  /** Samples that the vendor was sent, silence of our own included. */
  sentSamples = 0;
  private readonly context: ProviderContext;
  private readonly provider: string;
  private readonly send: (chunk: Buffer, evenIfCongested: boolean) => boolean;
  private readonly ring: Int16Array;
  private readonly chunk: Int16Array;
  private readonly chunkBytes: Buffer;
  /** Samples in the ring: from `#readAt`, counted without end. */
  private readAt = 0;
  private writeAt = 0;
  private marks: Mark[] = [{ sent: 0, fed: 0, advancing: true }];
  private droppedSamples = 0;

  constructor(options: {
    context: ProviderContext;
    provider: string;
    chunkMs: number;
    /** Sends one chunk, whose memory is used again afterwards; false when the line is congested. */
    send(chunk: Buffer, evenIfCongested: boolean): boolean;
  }) {
    this.context = options.context;
    this.provider = options.provider;
    this.send = options.send;
    this.sampleRate = options.context.sampleRate;
    const chunkSamples = (this.sampleRate * options.chunkMs) / 1000;
    this.chunk = new Int16Array(chunkSamples);
    this.chunkBytes = Buffer.from(this.chunk.buffer);
    this.ring = new Int16Array((this.sampleRate * KEPT_MS) / 1000 + chunkSamples);
  }

  /** What the vendor's socket should take as its `highWaterBytes`. */
  static highWaterBytes(sampleRate: number): number {
    return (sampleRate * 2 * LINE_MS) / 1000;
  }

  /** Takes the caller's audio; whole chunks leave at once. */
  feed(samples: Int16Array): void {
    let at = 0;
    while (at < samples.length) {
      // A flood longer than the ring goes through it piece by piece, so that an open line loses nothing.
      const piece = samples.subarray(at, at + this.chunk.length);
      this.store(piece);
      at += piece.length;
      this.pump();
    }
  }

  /** Sends whole chunks while the line takes them: after `feed`, and when there is room again. */
  pump(): void {
    while (this.writeAt - this.readAt >= this.chunk.length) {
      if (!this.sendChunk(this.chunk.length, false)) return;
    }
    this.reportDropped();
  }

  /** Sends everything, a part of a chunk too, before a control message that must come after it. */
  flush(): void {
    while (this.writeAt > this.readAt) {
      this.sendChunk(Math.min(this.chunk.length, this.writeAt - this.readAt), true);
    }
  }

  /** Sends one whole chunk that ends in silence nobody fed, after the part of a chunk that still waited. */
  sendSilence(): void {
    while (this.writeAt - this.readAt >= this.chunk.length) this.sendChunk(this.chunk.length, true);
    const waiting = this.writeAt - this.readAt;
    this.copyOut(waiting);
    this.chunk.fill(0, waiting);
    this.send(this.chunkBytes, true);
    this.readAt += waiting;
    this.mark({ sent: this.sentSamples + waiting, fed: this.readAt, advancing: false });
    this.sentSamples += this.chunk.length;
    this.mark({ sent: this.sentSamples, fed: this.readAt, advancing: true });
  }

  /** Tells the call's record how much was dropped since the line became congested, if anything was. */
  reportDropped(): void {
    if (this.droppedSamples === 0) return;
    const droppedMs = Math.round((this.droppedSamples * 1000) / this.sampleRate);
    this.droppedSamples = 0;
    this.context.report({
      event: 'provider_audio_dropped',
      provider: this.provider,
      family: 'stt',
      dropped_ms: droppedMs,
    });
  }

  /** Seconds on the vendor's clock as a number of samples that the call fed, never more than were fed. */
  fedSampleAt(vendorSeconds: number): number {
    const sent = Math.min(Math.max(0, Math.round(vendorSeconds * this.sampleRate)), this.sentSamples);
    let index = this.marks.length - 1;
    while (index > 0 && (this.marks[index] as Mark).sent > sent) index--;
    const mark = this.marks[index] as Mark;
    const next = this.marks[index + 1]?.fed ?? this.readAt;
    return Math.min(mark.fed + (mark.advancing ? Math.max(0, sent - mark.sent) : 0), next);
  }

  private store(samples: Int16Array): void {
    const over = this.writeAt + samples.length - this.readAt - this.ring.length;
    if (over > 0) this.drop(over);
    const at = this.writeAt % this.ring.length;
    const head = Math.min(samples.length, this.ring.length - at);
    this.ring.set(samples.subarray(0, head), at);
    this.ring.set(samples.subarray(head), 0);
    this.writeAt += samples.length;
    this.fedSamples += samples.length;
  }

  private drop(samples: number): void {
    this.readAt += samples;
    this.mark({ sent: this.sentSamples, fed: this.readAt, advancing: true });
    // Told once for each congestion: a report for every frame would fill the call's record.
    this.droppedSamples += samples;
  }

  private sendChunk(samples: number, evenIfCongested: boolean): boolean {
    this.copyOut(samples);
    const bytes = samples === this.chunk.length ? this.chunkBytes : this.chunkBytes.subarray(0, samples * 2);
    if (!this.send(bytes, evenIfCongested)) return false;
    this.readAt += samples;
    this.sentSamples += samples;
    return true;
  }

  /** The oldest `samples` of the ring into the chunk. */
  private copyOut(samples: number): void {
    const at = this.readAt % this.ring.length;
    const head = Math.min(samples, this.ring.length - at);
    this.chunk.set(this.ring.subarray(at, at + head), 0);
    this.chunk.set(this.ring.subarray(0, samples - head), head);
  }

  private mark(mark: Mark): void {
    const last = this.marks.at(-1) as Mark;
    if (last.sent === mark.sent) this.marks[this.marks.length - 1] = mark;
    else this.marks.push(mark);
    if (this.marks.length > MAX_MARKS) this.marks.shift();
  }
}
