import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CORE_SECRET_HEADER } from '../../contracts/http-names.ts';
import type { MediaServerAccess } from '../../contracts/rooms.ts';
import type { SlotCall } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LeaseSource } from '../slots/slot-pool.ts';
import type { CallTarget } from './call-admission.ts';

/** Slots that are tried for one caller before it is refused. */
const SLOTS_TRIED = 2;

/**
 * Gives the caller's socket to a slot, which finishes the handshake and owns the connection from then on (D-1).
 * `full` and `failed` leave the socket with us, to be refused; `lost` means that it went down with a slot.
 */
export async function passSocket(
  pool: LeaseSource,
  target: CallTarget,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  media: MediaServerAccess | null,
  logger: Logger,
): Promise<'taken' | 'full' | 'failed' | 'lost'> {
  for (let tried = 0; tried < SLOTS_TRIED; tried++) {
    const slot = pool.lease();
    if (!slot) return tried === 0 ? 'full' : 'failed';
    if (!holdsHandle(socket)) {
      pool.release(slot);
      return 'lost';
    }
    stopReading(socket);
    const early = Buffer.concat([head, takeBuffered(socket)]);
    const call = slotCall(target, request, early, media);
    try {
      await slot.passSocket(call, socket);
      // This closes our descriptor only: the slot's is another one to the same connection.
      socket.destroy();
      logger.info(
        {
          call_id: call.callId,
          slot: slot.slotId,
          slot_pid: slot.pid,
          bot_id: target.botId,
          kind: target.kind,
        },
        'call handed to a slot',
      );
      return 'taken';
    } catch (error) {
      logger.warn(
        { call_id: call.callId, slot: slot.slotId, err: describeError(error) },
        'a slot did not take a call',
      );
      if (!holdsHandle(socket)) {
        socket.destroy();
        return 'lost';
      }
      head = early;
    }
  }
  return 'failed';
}

/**
 * Stops the kernel read at once. `pause()` alone lets libuv go on reading into the stream, and what arrives between
 * the send and the slot's acknowledgement would be read here and lost to the slot. Node has no public call for it.
 */
function stopReading(socket: Socket): void {
  socket.pause();
  const handle = (socket as unknown as { _handle: { reading: boolean; readStop(): number } | null })._handle;
  if (handle) {
    handle.reading = false;
    handle.readStop();
  }
}

function holdsHandle(socket: Socket): boolean {
  return !socket.destroyed && (socket as unknown as { _handle: unknown })._handle != null;
}

function takeBuffered(socket: Socket): Buffer {
  const bytes: unknown = socket.readableLength > 0 ? socket.read() : null;
  return bytes instanceof Buffer ? bytes : Buffer.alloc(0);
}

/** Credentials do their work at the ingress and belong into no other process. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([CORE_SECRET_HEADER, 'authorization']);

function slotCall(
  target: CallTarget,
  request: IncomingMessage,
  early: Buffer,
  media: MediaServerAccess | null,
): SlotCall {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (SECRET_HEADERS.has(name) || value === undefined) continue;
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const rawHeaders: string[] = [];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2);
    if (!SECRET_HEADERS.has(name.toLowerCase())) rawHeaders.push(name, value);
  }
  return {
    v: SLOT_MESSAGES_VERSION,
    type: 'call',
    callId: randomUUID(),
    kind: target.kind,
    botId: target.botId,
    request: {
      method: request.method ?? 'GET',
      url: withoutTicket(request.url ?? '/'),
      headers,
      rawHeaders,
    },
    head: early.toString('base64'),
    acceptedAtMs: Date.now(),
    media,
  };
}

/** A ticket has done its work at the ingress and belongs into no other process. */
function withoutTicket(url: string): string {
  const [path = '/', query = ''] = url.split('?', 2);
  const rest = new URLSearchParams(query);
  rest.delete('ticket');
  return rest.size === 0 ? path : `${path}?${rest}`;
}
