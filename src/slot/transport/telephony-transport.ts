import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { MAX_BURST_MS, MAX_DROPPED_AUDIO_MS, MAX_MESSAGE_BYTES } from '../../contracts/limits.ts';
import { CLOSE, type ConnectedMessage, type Framing, type SlotMessage } from '../../contracts/wire.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import { ArrivalBudget } from './arrival-budget.ts';
import { AudioPayload } from './audio-payload.ts';
import type { LineLoss, SocketTransport, TransferRequest, TransportHandlers } from './call-transport.ts';
import { readInbound, transferResult } from './inbound-message.ts';
import { PeerWatch } from './peer-watch.ts';

/** A peer that does not answer our close frame is cut off after this. */
const CLOSE_GRACE_MS = 2_000;
const MEDIA_HEAD = '{"event":"media","media":{"payload":"';
const MEDIA_TAIL = '"}}';

/**
 * The dialler WebSocket behind the handshake (docs/dialler-protocol.md). Noise is counted and ignored;
 * breaking the protocol, flooding, not reading and vanishing each end the call with a clear reason and bounded memory.
 */
export class TelephonyTransport implements SocketTransport {
  private readonly socket: WebSocket;
  private readonly watch: PeerWatch;
  private readonly framing: Framing;
  private readonly payload = new AudioPayload(MAX_MESSAGE_BYTES);
  private readonly budget = new ArrivalBudget({ burstMs: MAX_BURST_MS, now: monotonicMs });
  private readonly counts: Record<string, number> = {};
  private handlers: TransportHandlers | undefined;
  private isReady = false;
  private isGone = false;
  private isTransferAsked = false;

  /** `line` is the connection below the WebSocket; it tells what really left. */
  constructor(socket: WebSocket, line: Socket, connected: ConnectedMessage) {
    this.socket = socket;
    this.watch = new PeerWatch(line, 'dialler');
    this.framing = connected.media?.framing === 'binary' ? 'binary' : 'json';
  }

  /** From here on the handlers are called, in order, on this thread. */
  attach(handlers: TransportHandlers): void {
    this.handlers = handlers;
    this.watch.follow(
      this.socket,
      (data, isBinary) => this.onMessage(data, isBinary),
      (how) => this.gone(how),
    );
  }

  ready(sessionId: string): void {
    this.isReady = true;
    this.watch.heard();
    this.send({ event: 'ready', session_id: sessionId });
  }

  sendAudio(frame: Int16Array): void {
    if (this.isGone) return;
    const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
    if (this.framing === 'binary') {
      // A frame that stays in the queue must own its memory; the pacer reuses its own.
      this.socket.send(Buffer.from(bytes), { binary: true });
    } else {
      this.socket.send(MEDIA_HEAD + bytes.toString('base64') + MEDIA_TAIL);
    }
  }

  sendClear(): void {
    this.send({ event: 'clear' });
  }

  sendMark(name: string): void {
    this.send({ event: 'mark', mark: { name } });
  }

  sendTransfer(request: TransferRequest): 'asked' | 'impossible' {
    if (this.isGone || this.socket.readyState !== this.socket.OPEN) return 'impossible';
    const { destination, target, reason, headers } = request;
    this.isTransferAsked = true;
    this.send({
      event: 'transfer',
      transfer: {
        destination,
        ...(target === null ? {} : { target }),
        ...(reason === '' ? {} : { reason }),
        headers,
      },
    });
    return 'asked';
  }

  async hangUp(reason: string): Promise<void> {
    this.send({ event: 'hangup', reason });
    await this.close(CLOSE.normal, reason);
  }

  async close(code: number, reason: string): Promise<void> {
    this.isGone = true;
    await closeSocket(this.socket, code, reason);
  }

  noise(): Record<string, number> {
    const dropped = Math.round(this.budget.droppedMs);
    return { ...this.counts, ...(dropped > 0 ? { dropped_audio_ms: dropped } : {}) };
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    this.watch.heard();
    if (isBinary) {
      if (this.framing === 'binary') this.onAudio(this.payload.fromBinary(data));
      else this.count('unexpected_binary');
      return;
    }
    const inbound = readInbound(data.toString('utf8'));
    switch (inbound.kind) {
      case 'audio':
        this.onAudio(this.payload.fromBase64(inbound.payload));
        return;
      case 'bad':
        this.count(inbound.what);
        return;
      case 'unknown_event':
        this.count('unknown_event');
        return;
      case 'malformed':
        this.end(CLOSE.policy, 'malformed JSON: every text frame is an object with an "event" key');
        return;
      case 'message':
        this.onEvent(inbound.message);
    }
  }

  private onEvent(message: Extract<ReturnType<typeof readInbound>, { kind: 'message' }>['message']): void {
    switch (message.event) {
      case 'mark':
        this.handlers?.onMark(message.mark.name);
        return;
      case 'dtmf':
        this.handlers?.onDtmf(message.dtmf.digit);
        return;
      case 'stop':
        this.handlers?.onStop(message.reason ?? '');
        return;
      case 'connected':
        this.count('repeated_connected');
        return;
      case 'transfer_result':
        if (this.isTransferAsked) this.handlers?.onTransferResult?.(transferResult(message));
        else this.count('unexpected_transfer_result');
    }
  }

  private onAudio(samples: Int16Array | null): void {
    if (!samples) {
      this.count('bad_media');
      return;
    }
    if (!this.isReady) {
      this.count('early_media');
      return;
    }
    this.watch.heardAudio();
    if (this.budget.admit(samples.length)) {
      this.handlers?.onAudio(samples);
    } else if (this.budget.droppedMs > MAX_DROPPED_AUDIO_MS) {
      this.end(CLOSE.policy, 'audio arrives faster than real time; send 50 frames of 20 ms a second');
    }
  }

  tick(): void {
    if (this.isGone) return;
    const loss = this.watch.look(this.isReady);
    if (loss) this.lose(loss);
  }

  private send(message: SlotMessage): void {
    if (!this.isGone && this.socket.readyState === this.socket.OPEN)
      this.socket.send(JSON.stringify(message));
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Ends the call for a fault of the peer, with a close frame. */
  private end(code: number, reason: string): void {
    if (this.isGone) return;
    this.gone({ kind: 'protocol', reason });
    void this.close(code, reason);
  }

  /** Ends the call where a close frame would never arrive. */
  private lose(loss: LineLoss): void {
    this.gone(loss);
    this.socket.terminate();
  }

  private gone(loss: LineLoss): void {
    if (this.isGone) return;
    this.isGone = true;
    this.handlers?.onGone(loss);
  }
}

/** Closes with a code, waits a moment for the peer's answer, then cuts. The reason is cut to the 123 bytes of RFC 6455. */
export async function closeSocket(socket: WebSocket, code: number, reason: string): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)));
  let text = reason;
  while (Buffer.byteLength(text) > 123) text = text.slice(0, -1);
  socket.close(code, text);
  if (!(await within(closed, CLOSE_GRACE_MS, false))) socket.terminate();
}
