/**
 * The dialler WebSocket `/ws/{bot_id}`: what travels, in both directions (docs/dialler-protocol.md).
 * JSON text frames with an `event` key; audio is LINEAR16, 8 kHz, mono, little-endian.
 */
export type Framing = 'json' | 'binary';
export type CallDirection = 'inbound' | 'outbound';

/** First message of a dialler. Every key beyond the named ones is custom and becomes `call.*`. */
export interface ConnectedMessage {
  event: 'connected';
  stream_id?: string;
  caller_id?: string;
  from_number?: string;
  call_direction?: CallDirection;
  media?: { encoding?: 'linear16'; sample_rate?: 8000; framing?: Framing };
  [custom: string]: unknown;
}

export type DiallerMessage =
  | ConnectedMessage
  | { event: 'media'; media: { payload: string; chunk?: number | string; timestamp?: number | string } }
  | { event: 'dtmf'; dtmf: { digit: string } }
  | { event: 'mark'; mark: { name: string } }
  | {
      event: 'transfer_result';
      status: 'ok' | 'failed';
      reason?: string;
      sip_code?: number;
      sip_status?: string;
    }
  | { event: 'stop'; reason?: string };

export type SlotMessage =
  | { event: 'ready'; session_id: string }
  | { event: 'media'; media: { payload: string } }
  | { event: 'clear' }
  | { event: 'mark'; mark: { name: string } }
  | {
      event: 'transfer';
      transfer: { destination: string; target?: string; reason?: string; headers: Record<string, string> };
    }
  | { event: 'hangup'; reason: string };

/** Close codes of a call socket. 4xxx mirror the HTTP status that the config route answered. */
export const CLOSE = {
  normal: 1000,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  /** The caller was passed on; the leg itself lives on elsewhere (RT-35). */
  transferred: 4200,
  botNotFound: 4404,
  /** Of calls through a room only, which have no socket to close: the customer is not in the room. */
  roomGone: 4409,
  configFailed: 4500,
  outsideHours: 4503,
  /** Of calls through a room only: the media server cannot be reached. */
  mediaUnavailable: 4504,
} as const;
