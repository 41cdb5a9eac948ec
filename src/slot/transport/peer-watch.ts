import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import {
  MAX_UNSENT_BYTES,
  PEER_GONE_BEFORE_AUDIO_MS,
  PEER_GONE_MS,
  SEND_STALL_MS,
} from '../../contracts/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { LineLoss } from './call-transport.ts';

/** Both ways a peer can be gone without saying so: it is silent (RT-03), or it does not read (RT-90). */
export class PeerWatch {
  private readonly line: Socket;
  private readonly peer: string;
  private lastHeardAtMs = monotonicMs();
  private anyAudio = false;
  private flushedBytes = 0;
  private flushedAtMs = monotonicMs();

  /** `line` is the connection below the WebSocket, which tells what really left; `peer` names it in reasons. */
  constructor(line: Socket, peer: string) {
    this.line = line;
    this.peer = peer;
  }

  /** From here on both are called, in order, on this thread: with each message, and with how the connection ended. */
  follow(
    socket: WebSocket,
    onMessage: (data: Buffer, isBinary: boolean) => void,
    onGone: (how: LineLoss) => void,
  ): void {
    socket.on('message', (data, isBinary) => onMessage(data as Buffer, isBinary));
    socket.on('close', (code, reason) => {
      const said = reason.toString('utf8');
      onGone(
        code === 1006
          ? { kind: 'broken', reason: 'the connection broke without a close' }
          : { kind: 'closed', reason: `closed by the ${this.peer} with ${code}${said ? `: ${said}` : ''}` },
      );
    });
    // ws reports an oversized or malformed frame here and closes with the fitting code by itself.
    socket.on('error', (error) => onGone({ kind: 'protocol', reason: error.message }));
    socket.on('ping', () => this.heard());
    if (socket.readyState !== socket.OPEN) {
      const reason = `the ${this.peer} left while the config loaded`;
      queueMicrotask(() => onGone({ kind: 'closed', reason }));
    }
  }

  /** Anything came from the peer. */
  heard(): void {
    this.lastHeardAtMs = monotonicMs();
  }

  /** Audio came; from here on a shorter silence counts. */
  heardAudio(): void {
    this.anyAudio = true;
  }

  /** Called several times a second: how the line was lost, or null. Silence counts from `ready` on. */
  look(isReady: boolean): LineLoss | null {
    const nowMs = monotonicMs();
    const silentMs = nowMs - this.lastHeardAtMs;
    if (isReady && silentMs > (this.anyAudio ? PEER_GONE_MS : PEER_GONE_BEFORE_AUDIO_MS)) {
      return {
        kind: 'vanished',
        reason: `nothing came from the ${this.peer} for ${Math.round(silentMs / 1000)} s`,
      };
    }
    const unsentBytes = this.line.writableLength;
    const flushedBytes = this.line.bytesWritten - unsentBytes;
    if (unsentBytes === 0 || flushedBytes > this.flushedBytes) this.flushedAtMs = nowMs;
    this.flushedBytes = flushedBytes;
    if (unsentBytes > MAX_UNSENT_BYTES || nowMs - this.flushedAtMs > SEND_STALL_MS) {
      return {
        kind: 'stalled',
        reason: `the ${this.peer} does not read: ${unsentBytes} bytes wait to be sent`,
      };
    }
    return null;
  }
}
