import type { CallEventName } from '../../contracts/call-events.ts';

/** What a live call needs of its line, whatever carries it: the one neutral leg interface (RT-61). */
export interface CallTransport {
  /** Length of one frame on the wire, where it is not the pacer's own 20 ms. */
  readonly chunkMs?: number;
  /** How far ahead of the caller's ear the pacer gives its frames, where this line has a need of its own. */
  readonly leadMs?: number;
  /** What was handed over and cannot have been heard yet, where the line keeps a clock of its own. */
  readonly unplayedMs?: number;
  /** Set where nobody at the far end echoes marks and the line answers them itself. */
  readonly echoesItself?: true;
  /** Set where the caller is heard at this rate: `onAudio` then brings the same audio at both rates. */
  readonly wideHz?: 16_000;
  /** How a transfer over this line is told in results; `websocket_reverse_transfer` where it says nothing. */
  readonly transferMethod?: 'websocket_reverse_transfer' | 'livekit_sip_refer';
  /** How long the answer to a transfer is waited for, where it is not the wait of the dialler protocol. */
  readonly transferWaitMs?: number;
  /** The config is loaded, audio may flow. */
  ready(sessionId: string): void;
  /** One frame of LINEAR16 at 8 kHz; the memory is the caller's again when this returns. */
  sendAudio(frame: Int16Array): void;
  /** Drop what is queued at the far end. */
  sendClear(): void;
  /** Asks for an echo once everything sent so far has been played. */
  sendMark(name: string): void;
  /**
   * Asks the far end to move its leg to another line (D-18). `asked`: it answers by `onTransferResult` or by
   * closing. `by_close`: closing the line is the transfer. `impossible`, or no such method: this line knows none.
   */
  sendTransfer?(request: TransferRequest): 'asked' | 'by_close' | 'impossible';
  /** Presses keys at the far end, for lines that carry them as messages; on others they are sent as tones. */
  sendDtmf?(keys: string): void;
  /** Says why, closes in order, and forces the socket down when the peer does not answer. */
  hangUp(reason: string): Promise<void>;
  /** Closes with a code and a reason, without a hang-up message. */
  close(code: number, reason: string): Promise<void>;
  /** Called several times a second while the call runs: finds a peer that is gone without saying so. */
  tick(): void;
  /** What was counted and ignored, for the results. */
  noise(): Record<string, number>;
}

export interface TransportHandlers {
  /**
   * Caller audio at 8 kHz; the memory is reused after the call returns. `wide` is the same stretch at 16 kHz, twice as
   * many samples, from lines with `wideHz`.
   */
  onAudio(samples: Int16Array, wide?: Int16Array): void;
  onMark(name: string): void;
  onDtmf(digit: string): void;
  /** What became of a transfer that was asked for. */
  onTransferResult?(result: TransferResult): void;
  /** The customer hung up, as the dialler says. */
  onStop(reason: string): void;
  /** The line is gone: closed by the peer, broken, or given up by us. */
  onGone(how: LineLoss): void;
  /** The far end has dropped what it had queued, without being asked. */
  onCleared?(): void;
}

/** A transport on a socket, before it has somebody to tell. */
export interface SocketTransport extends CallTransport {
  /** From here on the handlers are called, in order, on this thread. */
  attach(handlers: TransportHandlers): void;
}

export interface TransferRequest {
  destination: string;
  /** Configured name of the destination; null where it has none. */
  target: string | null;
  reason: string;
  headers: Record<string, string>;
}

export interface TransferResult {
  status: 'ok' | 'failed';
  reason: string;
  sipCode: number | null;
  sipStatus: string | null;
}

/** Puts what a line notices about itself into the record of the call. */
export type LineRemark = (event: CallEventName, detail: Record<string, unknown>) => void;

export interface LineLoss {
  kind: 'closed' | 'broken' | 'protocol' | 'stalled' | 'vanished';
  reason: string;
  /** Set where the loss is ours and not the caller's: the media server failed, or an operator closed the room. */
  isOurs?: true;
}
