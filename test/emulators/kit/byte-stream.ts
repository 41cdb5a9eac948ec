import type { ServerResponse } from 'node:http';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { FrameLog } from './frame-log.ts';

/** How the body of an answer crosses the wire. A chunk is what the vendor wrote at once, such as one SSE event. */
export interface StreamShape {
  firstByteDelayMs?: number;
  betweenMs?: number;
  /** Positions in the body, in bytes, at which a TCP segment ends. */
  splitAt?: readonly number[];
  /** A segment ends after every so many bytes. */
  splitEvery?: number;
  cutAfterChunks?: number;
  /** After so many chunks nothing comes any more, and nothing ends. */
  stallAfterChunks?: number;
  lineEnd?: '\n' | '\r\n';
}

/** Between two pieces, in real time, so that they reach the client as two reads. */
const SEGMENT_GAP_MS = 2;

/** The body of a streamed answer. Every method tells whether the client is still there. */
export class ByteStream {
  readonly shape: StreamShape;
  private readonly response: ServerResponse;
  private readonly clock: ProviderClock;
  private readonly log: FrameLog;
  private readonly connection: number;
  private chunks = 0;
  private position = 0;

  constructor(
    response: ServerResponse,
    shape: StreamShape,
    notes: { clock: ProviderClock; log: FrameLog; connection: number; onBytes(bytes: number): void },
  ) {
    this.response = response;
    this.shape = shape;
    this.clock = notes.clock;
    this.log = notes.log;
    this.connection = notes.connection;
    this.onBytes = notes.onBytes;
    response.socket?.setNoDelay(true);
  }

  private readonly onBytes: (bytes: number) => void;

  get open(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
  }

  async write(chunk: string | Uint8Array): Promise<boolean> {
    const waitMs = this.chunks === 0 ? this.shape.firstByteDelayMs : this.shape.betweenMs;
    if (waitMs) await this.clock.sleep(waitMs);
    if (this.chunks === this.shape.cutAfterChunks) return this.cut();
    if (this.chunks === this.shape.stallAfterChunks) return this.stall();
    if (!this.open) return false;
    this.chunks += 1;
    const bytes = Buffer.from(chunk as Uint8Array);
    for (const piece of this.pieces(bytes)) {
      if (!this.open) return false;
      this.onBytes(piece.length);
      await new Promise<void>((resolve) => this.response.write(piece, () => resolve()));
      if (piece.length < bytes.length) await new Promise((resolve) => setTimeout(resolve, SEGMENT_GAP_MS));
    }
    this.log.add({
      connection: this.connection,
      direction: 'out',
      kind: 'chunk',
      bytes: bytes.length,
      ...(typeof chunk === 'string' ? { text: chunk } : {}),
    });
    return this.open;
  }

  /** Ends the body as it should end, unless it is ordered to break here. */
  async end(): Promise<boolean> {
    if (this.chunks === this.shape.cutAfterChunks) return this.cut();
    if (this.chunks === this.shape.stallAfterChunks) return this.stall();
    if (this.open) await new Promise<void>((resolve) => this.response.end(() => resolve()));
    return false;
  }

  /** The connection is gone in the middle of the body. */
  cut(): false {
    this.log.add({ connection: this.connection, direction: 'out', kind: 'fault', fault: 'cut' });
    this.response.destroy();
    return false;
  }

  private stall(): Promise<false> {
    this.log.add({ connection: this.connection, direction: 'out', kind: 'fault', fault: 'stall' });
    return new Promise((resolve) => {
      if (!this.open) return resolve(false);
      this.response.once('close', () => resolve(false));
    });
  }

  private pieces(bytes: Buffer): Buffer[] {
    const start = this.position;
    const end = start + bytes.length;
    this.position = end;
    const cuts = (this.shape.splitAt ?? []).filter((at) => at > start && at < end);
    const every = this.shape.splitEvery;
    if (every) for (let at = (Math.floor(start / every) + 1) * every; at < end; at += every) cuts.push(at);
    const pieces: Buffer[] = [];
    let from = start;
    for (const at of [...new Set(cuts), end].sort((a, b) => a - b)) {
      pieces.push(bytes.subarray(from - start, at - start));
      from = at;
    }
    return pieces;
  }
}
