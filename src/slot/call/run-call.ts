import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SlotCall } from '../../contracts/slot-messages.ts';
import type { JournalCall } from '../../contracts/spool.ts';
import { CLOSE, type ConnectedMessage } from '../../contracts/wire.ts';
import { BridgedRoom } from '../handoff/bridged-room.ts';
import { handoffSetup } from '../handoff/handoff-setup.ts';
import { tellMain } from '../main-link/slot-channel.ts';
import { acceptSocket, awaitConnected } from '../transport/accept-socket.ts';
import type { LineRemark, SocketTransport } from '../transport/call-transport.ts';
import { awaitStart } from '../transport/partner-start.ts';
import { PartnerTransport } from '../transport/partner-transport.ts';
import { closeSocket, TelephonyTransport } from '../transport/telephony-transport.ts';
import type { EndVerdict } from '../wrap-up/end-arbiter.ts';
import { fetchConfig } from './fetch-config.ts';
import { type CallTools, holdCall, openCallProviders, type RunningCall } from './hold-call.ts';
import { beginRecord, createFolder, type SpooledCall, shortText } from './spooled-call.ts';

/**
 * One call from the handed-over socket to the finished spool folder. Resolves to the verdict, or null where no
 * session came about; then the folder is gone too. Never rejects: whatever fails ends the call and is its result.
 */
export async function runCall(
  call: SlotCall,
  line: Socket,
  tools: CallTools,
  onRunning: (running: RunningCall) => void,
): Promise<EndVerdict | null> {
  // The caller does not wait for the disk: its handshake is answered while the folder is made.
  const accepting = acceptSocket(call, line);
  const folder = await createFolder(call, tools.init);
  const socket = await accepting;
  if (!socket) {
    await folder.discard();
    return null;
  }
  // Until there is a session to end, an order from outside can only close the line.
  onRunning({ order: ({ reason }) => void closeSocket(socket, CLOSE.normal, reason) });
  const opened = await openSession(call, socket, line, tools);
  if (!opened) {
    await folder.discard();
    return null;
  }
  const { line: opening, config } = opened;
  const { connected, transport: kind } = opening;
  const record = await beginRecord(
    folder,
    { callId: call.callId, connected, transport: kind, config, configUrl: tools.init.configUrl },
    tools,
  );
  if (!record) {
    socket.resume();
    await closeSocket(socket, CLOSE.internal, 'the host cannot write its spool');
    await folder.discard();
    return null;
  }
  const transport = opening.createTransport((event, detail) => record.log.event(event, detail));
  const hearHz = transport.wideHz ?? LINE_RATE_HZ;
  const answered = {
    transport,
    providers: openCallProviders(record, tools, hearHz),
    handoff: bridgeSetup(call, record),
    open: () => socket.resume(),
  };
  return holdCall(record, answered, tools, onRunning);
}

/** A caller on a socket is brought into a room of their own; null where no media server is set up. */
function bridgeSetup({ media, callId, botId }: SlotCall, { journalCall, folder, log, logger }: SpooledCall) {
  const call = {
    callId,
    folder: folder.path,
    webhookUrl: journalCall.webhookUrl,
    callerNumber: journalCall.callerId,
  };
  return handoffSetup(
    call,
    media
      ? new BridgedRoom({
          access: media,
          callId,
          botId,
          nameRoom: (room) => folder.nameRoom(room),
          remark: (event, detail) => log.event(event, detail),
          logger,
        })
      : null,
  );
}

interface OpenedSession {
  line: OpenLine;
  config: RuntimeConfig;
}

/** Handshake and config; null where the call was refused, with the socket closed and the reason given. */
async function openSession(
  call: SlotCall,
  socket: WebSocket,
  line: Socket,
  tools: CallTools,
): Promise<OpenedSession | null> {
  const opening = await openLine(call, socket, line);
  if (!opening) return null;
  const { connected, callSid } = opening;
  if (callSid !== '') tellMain({ type: 'carrier_call', callId: call.callId, callSid });
  const answer = await fetchConfig({
    configUrl: tools.init.configUrl,
    botId: call.botId,
    callerId: shortText(connected.caller_id),
    streamId: shortText(connected.stream_id),
    connectedEvent: connected,
    coreSecret: tools.init.coreSecret,
    ownOrigins: tools.init.ownOrigins,
  });
  if ('config' in answer) return { line: opening, config: answer.config };
  const { error, code, reason, advice } = answer.refusal;
  tellMain({ type: 'config_refused', callId: call.callId, error });
  tools.logger.warn(
    { call_id: call.callId, bot_id: call.botId, error, code, reason, advice },
    'the call was refused',
  );
  socket.resume();
  await closeSocket(socket, code, reason);
  return null;
}

/** A line whose caller is known and whose audio has not begun. */
interface OpenLine {
  connected: ConnectedMessage;
  transport: JournalCall['transport'];
  /** The carrier's id of the call, '' where the dialect has none. */
  callSid: string;
  /** Once the config is there; `remark` puts what the line notices into the record of the call. */
  createTransport(remark: LineRemark): SocketTransport;
}

/** Reads the first messages of a call in the dialect of its path; null where the socket was closed over them. */
async function openLine(
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
