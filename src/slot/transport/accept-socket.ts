import { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { WebSocket, WebSocketServer } from 'ws';
import { CONNECTED_TIMEOUT_MS, MAX_CONNECTED_BYTES, MAX_MESSAGE_BYTES } from '../../contracts/limits.ts';
import type { SlotCall } from '../../contracts/slot-messages.ts';
import { CLOSE, type ConnectedMessage } from '../../contracts/wire.ts';
import { isRecord } from '../../platform/json-shapes.ts';
import { readInbound } from './inbound-message.ts';
import { closeSocket } from './telephony-transport.ts';

// Loading a CommonJS package through require saves a slot 4 to 9 MB against import (D-14).
const ws = createRequire(import.meta.url)('ws') as { WebSocketServer: typeof WebSocketServer };

const server = new ws.WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  clientTracking: false,
});

/**
 * Finishes the WebSocket handshake on a socket that main handed over (D-1). Resolves null where the
 * request is no WebSocket upgrade or the peer has left; ws has then answered and closed by itself. The WebSocket comes
 * paused: nothing is lost until somebody listens.
 */
export function acceptSocket(
  call: Pick<SlotCall, 'request' | 'head'>,
  socket: Socket,
): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    const request = new IncomingMessage(socket);
    request.method = call.request.method;
    request.url = call.request.url;
    request.headers = call.request.headers;
    socket.on('error', () => resolve(null));
    socket.once('close', () => resolve(null));
    socket.setNoDelay(true);
    server.handleUpgrade(request, socket, Buffer.from(call.head, 'base64'), (accepted) => {
      accepted.pause();
      resolve(accepted);
    });
  });
}

/**
 * Waits for `connected`, the first message. Anything else, or nothing within the time, closes the socket with 1008
 * and a reason, and resolves null.
 */
export function awaitConnected(socket: WebSocket): Promise<ConnectedMessage | null> {
  return new Promise((resolve) => {
    const settle = (message: ConnectedMessage | null, reason?: string, code: number = CLOSE.policy) => {
      clearTimeout(timer);
      socket.off('message', onMessage);
      socket.off('close', onClose);
      // The connection must stay quiet until the transport listens, or messages in between would be lost.
      if (message) socket.pause();
      resolve(message);
      if (reason) void closeSocket(socket, code, reason);
    };
    const onClose = () => settle(null);
    const onMessage = (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        settle(null, 'the first message must be "connected", as JSON text');
        return;
      }
      if (data.length > MAX_CONNECTED_BYTES) {
        settle(null, `"connected" is larger than ${MAX_CONNECTED_BYTES} bytes`, CLOSE.tooBig);
        return;
      }
      const inbound = readInbound(data.toString('utf8'));
      if (inbound.kind === 'malformed') {
        settle(null, 'malformed JSON: every text frame is an object with an "event" key');
      } else if (inbound.kind !== 'message' || inbound.message.event !== 'connected') {
        settle(null, 'the first message must be "connected"');
      } else {
        const fault = mediaFault(inbound.message);
        settle(fault ? null : inbound.message, fault);
      }
    };
    const timer = setTimeout(
      () => settle(null, `no "connected" within ${CONNECTED_TIMEOUT_MS / 1000} s`),
      CONNECTED_TIMEOUT_MS,
    );
    socket.on('message', onMessage as (data: unknown) => void);
    socket.on('close', onClose);
    // An oversized first message: ws closes with 1009 by itself.
    socket.on('error', () => undefined);
    socket.resume();
  });
}

/** What is wrong with the audio a dialler announces, or undefined. */
function mediaFault(message: ConnectedMessage): string | undefined {
  const media: unknown = message.media;
  if (media === undefined) return undefined;
  if (!isRecord(media)) return '"media" must be an object';
  if (media.encoding !== undefined && media.encoding !== 'linear16')
    return 'media.encoding must be "linear16"';
  if (media.sample_rate !== undefined && media.sample_rate !== 8000) return 'media.sample_rate must be 8000';
  if (media.framing !== undefined && media.framing !== 'json' && media.framing !== 'binary') {
    return 'media.framing must be "json" or "binary"';
  }
  return undefined;
}
