import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { RawData, WebSocket } from 'ws';
import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import type { FrameLog } from './frame-log.ts';

export interface EmulatedSocketParts {
  index: number;
  socket: WebSocket;
  raw: Duplex;
  log: FrameLog;
  clock: ProviderClock;
  onBytes(direction: 'in' | 'out', bytes: number): void;
}

type TextHandler = (json: unknown, text: string) => void;

/** One live connection at the vendor's end: what the vendor does with it, and every fault that a test orders. */
export class EmulatedSocket {
  /** Counts accepted connections of the emulator from 0. */
  readonly index: number;
  /** Whatever the vendor's session keeps for itself. */
  readonly state: Record<string, unknown> = {};
  /** Set while a script decides what is said: what the vendor would say by itself (`answer`) is then held back. */
  scripted = false;
  /** Each outgoing frame is sent so much later, in order. */
  delayAllMs = 0;
  private readonly parts: EmulatedSocketParts;
  private readonly textHandlers: TextHandler[] = [];
  private readonly binaryHandlers: ((bytes: Buffer) => void)[] = [];
  private readonly closeHandlers: ((code: number, reason: string) => void)[] = [];
  private readonly sentHandlers: ((json: unknown) => void)[] = [];
  private silent = false;
  private notBeforeMs = 0;
  private last: unknown = null;

  constructor(parts: EmulatedSocketParts) {
    this.parts = parts;
    this.index = parts.index;
    parts.socket.on('message', (data, isBinary) => this.received(data, isBinary));
    parts.socket.on('ping', (data) => this.note('in', 'ping', data.length));
    parts.socket.on('close', (code, reason) => {
      this.parts.log.add({
        connection: this.index,
        direction: 'in',
        kind: 'close',
        code,
        reason: reason.toString(),
      });
      for (const handler of this.closeHandlers) handler(code, reason.toString());
    });
    // A cut connection reports its error and then its close; the close is what counts.
    parts.socket.on('error', () => undefined);
  }

  get isOpen(): boolean {
    return this.parts.socket.readyState === this.parts.socket.OPEN;
  }

  /** Called with each text frame; `json` is undefined where it does not parse. */
  onText(handler: TextHandler): void {
    this.textHandlers.push(handler);
  }

  onBinary(handler: (bytes: Buffer) => void): void {
    this.binaryHandlers.push(handler);
  }

  /** Called with each JSON message as it goes out, whoever sent it: the vendor, a script or a test. */
  onSent(handler: (json: unknown) => void): void {
    this.sentHandlers.push(handler);
  }

  onClose(handler: (code: number, reason: string) => void): void {
    this.closeHandlers.push(handler);
  }

  /** What the vendor says by itself; nothing while a script speaks for it. */
  answer(json: unknown): void {
    if (!this.scripted) this.send(json);
  }

  send(json: unknown): void {
    this.last = json;
    this.sendText(JSON.stringify(json), json);
  }

  sendText(text: string, json?: unknown): void {
    this.out(() => {
      this.parts.log.add({ connection: this.index, direction: 'out', kind: 'text', json, text });
      this.parts.onBytes('out', Buffer.byteLength(text));
      this.parts.socket.send(text);
      for (const handler of this.sentHandlers) handler(json);
    });
  }

  sendBinary(bytes: Uint8Array): void {
    this.out(() => {
      this.note('out', 'binary', bytes.length);
      this.parts.socket.send(bytes);
    });
  }

  close(code = 1000, reason = ''): void {
    this.out(() => {
      this.parts.log.add({ connection: this.index, direction: 'out', kind: 'close', code, reason });
      this.parts.socket.close(code, reason);
    });
  }

  /** The connection is gone without a close frame: the client sees 1006. */
  cut(): void {
    this.fault('cut');
    this.parts.raw.destroy();
  }

  /** As `cut`, by a TCP reset. Over TLS it is a plain cut. */
  reset(): void {
    this.fault('reset');
    const { raw } = this.parts;
    if (raw instanceof Socket && !(raw instanceof TLSSocket)) raw.resetAndDestroy();
    else raw.destroy();
  }

  /** A half-open connection: nothing is read, answered or ponged any more, and nothing is closed either. */
  goSilent(): void {
    this.fault('silent');
    this.silent = true;
    this.parts.socket.pause();
  }

  /** The connection comes back to life; what the client sent meanwhile is read now. */
  wake(): void {
    this.silent = false;
    this.parts.socket.resume();
  }

  /** A whole frame with the first half of a JSON text. */
  sendHalfJson(text = JSON.stringify(this.last ?? { type: 'Results', transcript: 'half of it' })): void {
    this.fault('half json');
    this.sendText(text.slice(0, Math.max(1, text.length >> 1)));
  }

  /** The beginning of a frame, and then the end of the connection. */
  cutInFrame(): void {
    this.fault('cut in frame');
    this.parts.raw.write(Buffer.concat([Buffer.from([0x81, 100]), Buffer.from('{"type":"Res')]), () =>
      this.parts.raw.destroy(),
    );
  }

  sendOversized(bytes = 16 * 1024 * 1024): void {
    this.fault('oversized frame');
    this.sendText(JSON.stringify({ type: 'Oversized', padding: 'x'.repeat(bytes) }));
  }

  /** A message of a type that no documentation knows; clients ignore it. */
  sendUnknown(
    message: unknown = { type: 'SomethingNew', event: 'something.new', detail: { since: 2027 } },
  ): void {
    this.fault('unknown message');
    this.sendText(JSON.stringify(message), message);
  }

  duplicateLast(): void {
    this.fault('duplicate');
    if (this.last !== null) this.send(this.last);
  }

  /** Ends whatever is left of it, when the emulator closes. */
  destroy(): void {
    this.parts.socket.terminate();
    this.parts.raw.destroy();
  }

  private received(data: RawData, isBinary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    this.parts.onBytes('in', bytes.length);
    if (isBinary) {
      this.parts.log.add({ connection: this.index, direction: 'in', kind: 'binary', bytes: bytes.length });
      for (const handler of this.binaryHandlers) handler(bytes);
      return;
    }
    const text = bytes.toString();
    const json = parsed(text);
    this.parts.log.add({ connection: this.index, direction: 'in', kind: 'text', json, text });
    for (const handler of this.textHandlers) handler(json, text);
  }

  private out(act: () => void): void {
    if (this.silent) return;
    const nowMs = this.parts.clock.nowMs();
    const dueMs = Math.max(this.notBeforeMs, nowMs + this.delayAllMs);
    this.notBeforeMs = dueMs;
    const actIfOpen = () => {
      if (!this.silent && this.isOpen) act();
    };
    if (dueMs <= nowMs) actIfOpen();
    else this.parts.clock.after(dueMs - nowMs, actIfOpen);
  }

  private note(direction: 'in' | 'out', kind: 'binary' | 'ping', bytes: number): void {
    this.parts.onBytes(direction, bytes);
    this.parts.log.add({ connection: this.index, direction, kind, bytes });
  }

  private fault(fault: string): void {
    this.parts.log.add({ connection: this.index, direction: 'out', kind: 'fault', fault });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
