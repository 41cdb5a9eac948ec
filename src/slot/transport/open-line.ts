import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { SlotCall } from '../../contracts/slot-messages.ts';
import type { JournalCall } from '../../contracts/spool.ts';
import type { ConnectedMessage } from '../../contracts/wire.ts';
import { awaitConnected } from './accept-socket.ts';
import type { LineRemark, SocketTransport } from './call-transport.ts';
import { awaitStart } from './partner-start.ts';
import { PartnerTransport } from './partner-transport.ts';
import { TelephonyTransport } from './telephony-transport.ts';

/** A line whose caller is known and whose audio has not begun. */
export interface OpenLine {
  connected: ConnectedMessage;
  transport: JournalCall['transport'];
  /** The carrier's id of the call, '' where the dialect has none. */
  callSid: string;
  /** Once the config is there; `remark` puts what the line notices into the record of the call. */
  createTransport(remark: LineRemark): SocketTransport;
}

/** Reads the first messages of a call in the dialect of its path; null where the socket was closed over them. */
export async function openLine(
  call: Pick<SlotCall, 'kind' | 'request'>,
  socket: WebSocket,
  line: Socket,
): Promise<OpenLine | null> {
  if (call.kind === 'partner') {
    const opening = await awaitStart(socket, call.request.url);
    if (!opening) return null;
    return {
      connected: opening.connected,
      transport: 'partner',
      callSid: opening.start.callSid,
      createTransport: (remark) => new PartnerTransport(socket, line, opening, remark),
    };
  }
  const connected = await awaitConnected(socket);
  if (!connected) return null;
  return {
    connected,
    transport: 'websocket',
    callSid: '',
    createTransport: () => new TelephonyTransport(socket, line, connected),
  };
}
