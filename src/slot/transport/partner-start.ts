import type { WebSocket } from 'ws';
import { CONNECTED_TIMEOUT_MS, MAX_CONNECTED_BYTES } from '../../contracts/limits.ts';
import { CLOSE, type ConnectedMessage } from '../../contracts/wire.ts';
import { type PartnerStart, readPartner } from './partner-messages.ts';
import { partnerRate } from './partner-rate.ts';
import { closeSocket } from './telephony-transport.ts';

/** `start` must follow `connected` within this (docs/partner-protocol.md). */
export const START_TIMEOUT_MS = 10_000;
const DEFAULT_RATE_HZ = 8000;

/** What the carrier has said before audio flows. */
export interface PartnerOpening {
  start: PartnerStart;
  /** The call's identity in the form of a dialler's first message; becomes `connected_event`. */
  connected: ConnectedMessage;
  rateHz: number;
  /** Frame size that the query asks for, or null. */
  frameBytes: number | null;
  /** What was counted and ignored on the way. */
  counts: Record<string, number>;
}

/**
 * Waits for `start`, which names the call; `connected` before it says nothing but that the stream is on its way.
 * Without it in time the socket is closed with 1008, and null comes back. The socket is paused then: nothing is lost
 * until the transport listens. `url` is the request's, its query may hold `sample-rate` and `frame-bytes`.
 */
export function awaitStart(socket: WebSocket, url: string): Promise<PartnerOpening | null> {
  return new Promise((resolve) => {
    const counts: Record<string, number> = {};
    const count = (what: string) => {
      counts[what] = (counts[what] ?? 0) + 1;
    };
    const settle = (opening: PartnerOpening | null, reason?: string, code: number = CLOSE.policy) => {
      clearTimeout(timer);
      socket.off('message', onMessage);
      socket.off('close', onClose);
      if (opening) socket.pause();
      resolve(opening);
      if (reason) void closeSocket(socket, code, reason);
    };
    const onClose = () => settle(null);
    const onMessage = (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        count('binary_message');
        return;
      }
      const inbound = readPartner(data.toString('utf8'));
      switch (inbound.kind) {
        case 'connected':
          clearTimeout(timer);
          timer = startTimer(START_TIMEOUT_MS, 'start');
          return;
        case 'start':
          if (data.length > MAX_CONNECTED_BYTES) {
            settle(null, `"start" is larger than ${MAX_CONNECTED_BYTES} bytes`, CLOSE.tooBig);
          } else {
            settle(openingOf(inbound.start, url, counts));
          }
          return;
        case 'stop':
          settle(null, 'the stream stopped before it started', CLOSE.normal);
          return;
        case 'bad':
          count(inbound.what);
          return;
        default:
          count(inbound.kind === 'audio' ? 'early_media' : inbound.kind);
      }
    };
    const startTimer = (timeoutMs: number, what: string) =>
      setTimeout(() => settle(null, `no "${what}" within ${timeoutMs / 1000} s`), timeoutMs);
    let timer = startTimer(CONNECTED_TIMEOUT_MS, 'connected');
    socket.on('message', onMessage as (data: unknown) => void);
    socket.on('close', onClose);
    // An oversized first message: ws closes with 1009 by itself.
    socket.on('error', () => undefined);
    socket.resume();
  });
}

/** Who calls whom, out of `start` and the query. Custom parameters cannot take the place of the carrier's own fields. */
export function openingOf(
  start: PartnerStart,
  url: string,
  counts: Record<string, number> = {},
): PartnerOpening {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const asked = query.get('sample-rate') ?? query.get('sample_rate');
  const rateHz = partnerRate(start.sampleRate) ?? partnerRate(asked === null ? null : Number(asked));
  if (rateHz === null && (start.sampleRate !== null || asked !== null)) {
    counts.bad_sample_rate = (counts.bad_sample_rate ?? 0) + 1;
  }
  const frameBytes = query.get('frame-bytes');
  const custom = start.customParameters;
  return {
    start,
    connected: {
      ...custom,
      event: 'connected',
      stream_id: start.streamSid,
      stream_sid: start.streamSid,
      call_sid: start.callSid,
      account_sid: start.accountSid,
      from: start.from,
      to: start.to,
      caller_id: start.from,
      from_number: start.to,
      call_direction: 'inbound',
    },
    rateHz: rateHz ?? DEFAULT_RATE_HZ,
    frameBytes: frameBytes === null ? null : Number(frameBytes),
    counts,
  };
}
