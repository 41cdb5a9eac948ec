/**
 * Frames are whole multiples of this, 20 ms at 8 kHz; the carrier leaves a gap otherwise (docs/partner-protocol.md).
 */
export const FRAME_UNIT_BYTES = 320;
/** Most bytes of audio in one message, both ways (RT-79). */
export const MAX_PARTNER_AUDIO_BYTES = 100_000;
/** A frame by default, whatever the rate: 1600 bytes at 8 kHz (RT-79). */
const DEFAULT_FRAME_MS = 100;
/** A longer frame could not keep within the lead of 300 ms. */
const MAX_FRAME_MS = 200;

/** Bytes of an outgoing frame: the wish where it follows the rules at this rate, else 100 ms. */
export function frameBytesFor(rateHz: number, requestedBytes: number | null): number {
  return isFrameSize(rateHz, requestedBytes) ? requestedBytes : (DEFAULT_FRAME_MS * rateHz * 2) / 1000;
}

/** Whether frames of this size may be sent at this rate. */
export function isFrameSize(rateHz: number, bytes: number | null): bytes is number {
  return (
    bytes !== null &&
    Number.isInteger(bytes) &&
    bytes >= FRAME_UNIT_BYTES &&
    bytes % FRAME_UNIT_BYTES === 0 &&
    bytes <= (MAX_FRAME_MS * rateHz * 2) / 1000
  );
}

/**
 * Collects samples, at the line's own rate, into frames of one size. A frame leaves as base64 text, so it owns its
 * memory and the collecting buffer is used again at once (RT-91).
 */
export class FrameCollector {
  private readonly frame: Int16Array;
  private readonly bytes: Buffer;
  private filled = 0;

  constructor(frameBytes: number) {
    const memory = new ArrayBuffer(frameBytes);
    this.frame = new Int16Array(memory);
    this.bytes = Buffer.from(memory);
  }

  get frameSamples(): number {
    return this.frame.length;
  }

  /** Samples of the frame that is not full yet. */
  get filledSamples(): number {
    return this.filled;
  }

  /** Calls `emit` with each frame that became full. */
  add(samples: Int16Array, emit: (payload: string) => void): void {
    let from = 0;
    while (from < samples.length) {
      const take = Math.min(this.frame.length - this.filled, samples.length - from);
      this.frame.set(samples.subarray(from, from + take), this.filled);
      this.filled += take;
      from += take;
      if (this.filled === this.frame.length) emit(this.take());
    }
  }

  /** The frame that is not full, made up with silence; null where nothing waits. */
  pad(): string | null {
    if (this.filled === 0) return null;
    this.frame.fill(0, this.filled);
    return this.take();
  }

  /** Forgets what waits. */
  drop(): void {
    this.filled = 0;
  }

  private take(): string {
    this.filled = 0;
    return this.bytes.toString('base64');
  }
}

/**
 * Writes the messages of one stream. Every message carries `stream_sid` and `sequence_number`, audio its `chunk` and
 * `timestamp` too: some carrier set-ups drop a stream without them (docs/partner-protocol.md). Media is put together
 * from ready text; a frame must not cost a walk through an object.
 */
export class PartnerWriter {
  private readonly streamSid: string;
  private sequenceNumber = 0;
  private chunk = 0;
  private sentMs = 0;

  constructor(streamSid: string) {
    this.streamSid = JSON.stringify(streamSid);
  }

  media(payload: string, frameMs: number): string {
    const timestamp = Math.round(this.sentMs);
    this.sentMs += frameMs;
    return `{"event":"media",${this.head()},"media":{"chunk":${++this.chunk},"timestamp":"${timestamp}","payload":"${payload}"}}`;
  }

  mark(name: string): string {
    return `{"event":"mark",${this.head()},"mark":{"name":${JSON.stringify(name)}}}`;
  }

  clear(): string {
    return `{"event":"clear",${this.head()}}`;
  }

  private head(): string {
    return `"sequence_number":${++this.sequenceNumber},"stream_sid":${this.streamSid}`;
  }
}
