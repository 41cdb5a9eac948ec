import { createServer, type Server, type Socket } from 'node:net';
import { FRAME_SAMPLES } from '../src/contracts/limits.ts';
import { monotonicMs, within } from '../src/platform/clock.ts';
import type { DeadlineLoop } from './deadline-loop.ts';
import { JITTER_BUFFER_MS } from './load-call.ts';
import { SpurtLateness } from './spurt-lateness.ts';

const FRAME_BYTES = FRAME_SAMPLES * 2;
const SILENCE = Buffer.alloc(FRAME_BYTES);
/** Frames that are fitted to one grid: as long as a longer reply of the bench bot. */
const SPURT_FRAMES = 300;

/** The far end of the bare pacers: hears their frames, and sends them as many as a caller sends to a slot. */
export class PacerLines {
  received = 0;
  private readonly loop: DeadlineLoop;
  private readonly server: Server;
  private readonly lines: SpurtLateness[] = [];
  private readonly sockets: Socket[] = [];
  private onLine: () => void = () => undefined;

  constructor(loop: DeadlineLoop) {
    this.loop = loop;
    this.server = createServer((socket) => this.take(socket));
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.server.listen(0, '127.0.0.1', () => {
        const address = this.server.address();
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
  }

  /** Waits for so many pacers. Throws when they do not come. */
  async connected(count: number, timeoutMs: number): Promise<void> {
    const all = new Promise<true>((resolve) => {
      this.onLine = () => {
        if (this.sockets.length === count) resolve(true);
      };
      this.onLine();
    });
    if (!(await within(all, timeoutMs, false)))
      throw new Error(`${this.sockets.length} of ${count} bare pacers came`);
  }

  /** Begins or ends the measured time; both begin a new spurt on every line. */
  record(on: boolean): void {
    for (const line of this.lines) {
      line.end();
      line.recording = on;
    }
  }

  readings(): number[] {
    return this.lines.flatMap((line) => line.readings);
  }

  lateFrames(): number {
    return this.lines.reduce((total, line) => total + line.lateFrames, 0);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private take(socket: Socket): void {
    const line = new SpurtLateness({ leadFrames: 0, bufferMs: JITTER_BUFFER_MS });
    let bytes = 0;
    let frames = 0;
    socket.setNoDelay(true);
    socket.on('data', (data) => {
      const atMs = monotonicMs();
      bytes += data.length;
      while (bytes >= FRAME_BYTES) {
        bytes -= FRAME_BYTES;
        this.received++;
        if (frames++ % SPURT_FRAMES === 0) line.end();
        line.take(atMs, true);
      }
    });
    const stop = this.loop.add(monotonicMs(), () => socket.write(SILENCE));
    socket.on('close', stop);
    socket.on('error', stop);
    this.sockets.push(socket);
    this.lines.push(line);
    this.onLine();
  }
}
