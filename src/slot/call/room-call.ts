import type { ErrorCode } from '../../contracts/error-catalogue.ts';
import { botIdentity, type RoomOwner } from '../../contracts/rooms.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SlotRoomCall } from '../../contracts/slot-messages.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { isoNow } from '../../platform/clock.ts';
import { closeRoom } from '../../platform/end-room.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaServer } from '../../platform/media-server.ts';
import { handoffSetup } from '../handoff/handoff-setup.ts';
import { JoinedRoom } from '../handoff/joined-room.ts';
import { tellMain } from '../main-link/slot-channel.ts';
import { PreAnswerWatch } from '../room/pre-answer-watch.ts';
import {
  answerCaller,
  awaitCustomer,
  type DialAnswer,
  dialCustomer,
  VISITOR_LIMIT_MS,
} from '../room/ringing.ts';
import type { RoomLink } from '../room/room-link.ts';
import { SIP_TRANSFER_WAIT_MS, SipTransfer } from '../room/sip-transfer.ts';
import { type EndSignal, type EndVerdict, judgeEnd } from '../wrap-up/end-arbiter.ts';
import type { OpenedProviders } from './call-providers.ts';
import { fetchConfig } from './fetch-config.ts';
import { type CallTools, holdCall, openCallProviders, type RunningCall } from './hold-call.ts';
import {
  beginRecord,
  createFolder,
  endRecord,
  journalEnd,
  keepAlive,
  type SpooledCall,
  shortText,
} from './spooled-call.ts';

/** What a room brings is heard at this rate. */
const ROOM_HEARING_HZ = 16_000;

/** A room call on its way to its conversation. */
interface RoomEntry {
  call: SlotRoomCall;
  media: MediaServer;
  preAnswerWatch: PreAnswerWatch;
  /** Somebody wants the call to end before there is a conversation. */
  ordered: Promise<EndSignal>;
  logger: Logger;
}

/**
 * One call through a room of the media server, from main's message to the finished spool folder: config and room, then
 * the answer, then the conversation. Resolves to the verdict, or null where no session came about; then the folder is
 * gone too. Never rejects: whatever fails ends the call, closes the room and is its result.
 */
export async function runRoomCall(
  call: SlotRoomCall,
  tools: CallTools,
  onRunning: (running: RunningCall) => void,
): Promise<EndVerdict | null> {
  const order = Promise.withResolvers<EndSignal>();
  onRunning({ order: ({ cause, reason }) => order.resolve({ kind: 'ordered', cause, reason }) });
  const folder = await createFolder(call, tools.init);
  const logger = tools.logger.child({ call_id: call.callId });
  // Loaded here and not with the slot: most slots never see a room, and both libraries cost memory.
  const { MediaServer } = await import('../../platform/media-server.ts');
  const media = new MediaServer(call.media);
  const entry: RoomEntry = {
    call,
    media,
    preAnswerWatch: new PreAnswerWatch(call.customerIdentity),
    ordered: order.promise,
    logger,
  };
  const missing = await whoIsMissing(entry);
  if (missing) {
    await folder.discard();
    return refuse(entry, missing.code, missing.reason);
  }
  // Nobody waits twice: the bot comes into the room, unheard, while the config is asked for.
  const [entered, answer] = await Promise.all([enter(entry), askForConfig(call, tools)]);
  if ('refusal' in answer) {
    await leave(entry, entered);
    await folder.discard();
    const { code, reason, error, advice } = answer.refusal;
    tellMain({ type: 'config_refused', callId: call.callId, error });
    return refuse(entry, code, reason, { error, advice });
  }
  const record = await beginRecord(folder, factsOf(call, answer.config, tools), tools);
  if (!record) {
    await leave(entry, entered);
    await folder.discard();
    return refuse(entry, CLOSE.internal, 'the host cannot write its spool');
  }
  if ('trouble' in entered) {
    refuse(entry, CLOSE.mediaUnavailable, entered.trouble);
    const verdict = await endUnanswered(entry, record, {
      kind: 'media_unavailable',
      reason: entered.trouble,
    });
    // Somebody may ring in there for whom nobody comes.
    await endRoom(entry);
    return verdict;
  }
  tellMain({ type: 'room_joined', callId: call.callId });
  return takeUp(entry, record, entered.link, tools, onRunning);
}

/** From the joined room to the end of the call. */
async function takeUp(
  entry: RoomEntry,
  record: SpooledCall,
  link: RoomLink,
  tools: CallTools,
  onRunning: (running: RunningCall) => void,
): Promise<EndVerdict> {
  const letGo = keepAlive(record.folder);
  // Ready before anybody picks up: who answers is spoken to at once, and a bot that cannot speak calls nobody.
  const providers = openCallProviders(record, tools, ROOM_HEARING_HZ);
  const answer = await providers.then(
    () => awaitAnswer(entry, record, link),
    (error): DialAnswer => ({
      kind: 'over',
      signal: { kind: 'pipeline_error', error: `the call could not start: ${describeError(error)}` },
    }),
  );
  letGo();
  if (answer.kind === 'over') {
    await leave(entry, { link });
    const verdict = await endUnanswered(entry, record, answer.signal);
    await providers.then(putAway).catch(() => undefined);
    return verdict;
  }
  noteAnswer(entry.call, record);
  const transport = await roomTransport(entry, record, link);
  const handoff = roomSetup(entry, record, link, () => transport.handBack());
  return holdCall(record, { transport, providers, handoff, open: () => undefined }, tools, onRunning);
}

/** An agent of the desk comes into the room that the call is in already. */
function roomSetup(
  { call, media }: RoomEntry,
  { journalCall, folder, logger }: SpooledCall,
  link: RoomLink,
  handBack: () => void,
) {
  return handoffSetup(
    {
      callId: call.callId,
      folder: folder.path,
      webhookUrl: journalCall.webhookUrl,
      callerNumber: journalCall.callerId,
    },
    new JoinedRoom({ link, media, owner: ownerOf(call), customer: call.customerIdentity, handBack, logger }),
  );
}

async function roomTransport({ call, media }: RoomEntry, { log, logger }: SpooledCall, link: RoomLink) {
  const { RoomTransport } = await import('../room/room-transport.ts');
  const { roomName: room, customerIdentity: identity } = call;
  const transport = new RoomTransport({
    link,
    customer: identity,
    media,
    roomName: room,
    isSip: call.kind !== 'widget',
    remark: (event, detail) => log.event(event, detail),
    logger,
    ...(call.kind === 'widget'
      ? {}
      : {
          startTransfer: (request, onResult) => new SipTransfer({ media, room, identity, request, onResult }),
          transferWaitMs: SIP_TRANSFER_WAIT_MS,
        }),
  });
  if (call.kind === 'widget') {
    // An entry of the bot grows as it is heard: a later line of the same speaker and time takes the place of the first.
    log.onTranscript = ({ speaker, text, timestamp, heard }) =>
      transport.tellTranscript({ speaker, text, timestamp, final: speaker !== 'bot' || heard === 'mark' });
  }
  return transport;
}

function awaitAnswer(entry: RoomEntry, { log }: SpooledCall, link: RoomLink): Promise<DialAnswer> {
  const { call, media } = entry;
  switch (call.kind) {
    case 'sip_outbound': {
      if (!call.dial) {
        const reason = 'the order to dial names no trunk';
        return Promise.resolve({ kind: 'over', signal: { kind: 'not_dialled', reason } });
      }
      log.event('dialling');
      const { roomName, customerIdentity: customer } = call;
      return dialCustomer(entry, media, { ...call.dial, roomName, customer });
    }
    case 'sip_inbound':
      return answerCaller(entry, link);
    case 'attach':
    case 'widget':
      return awaitCustomer(entry, VISITOR_LIMIT_MS);
  }
}

/** Time begins (RT-31). A call that a dialler has screened was answered earlier, and is billed from there. */
function noteAnswer({ attached, kind }: SlotRoomCall, { log }: SpooledCall): void {
  const answeredAtMs = attached?.answeredAt ? Date.parse(attached.answeredAt) : Number.NaN;
  const at = Number.isNaN(answeredAtMs) ? isoNow() : new Date(answeredAtMs).toISOString();
  const ringMs = Math.round(log.ringSeconds * 1000);
  log.answered(Number.isNaN(answeredAtMs) ? 0 : Math.max(0, (Date.now() - answeredAtMs) / 1000));
  log.event('answered', { at, ...(kind === 'attach' ? {} : { ring_ms: ringMs }) });
}

/** The result of a call without a conversation. */
async function endUnanswered(entry: RoomEntry, record: SpooledCall, signal: EndSignal): Promise<EndVerdict> {
  const { log } = record;
  const verdict: EndVerdict = { ...judgeEnd(signal, false), lineStands: false };
  const sip = signal.kind === 'not_answered' ? signal : null;
  if (entry.call.kind === 'sip_outbound') {
    log.event('not_answered', {
      ...(sip ? { sip_code: sip.sipCode, sip_status: sip.sipStatus } : {}),
      reason: verdict.reason,
      ring_ms: Math.round(log.ringSeconds * 1000),
    });
  }
  log.event('disconnected', { by: verdict.by, reason: verdict.reason, ...log.durations() });
  journalEnd(record, verdict);
  await endRecord(record, {
    verdict,
    recorded: false,
    facts: sip ? { sip_code: sip.sipCode, sip_reason: sip.sipStatus } : {},
  });
  return verdict;
}

/** A conversation that never began has no session to close its providers. */
async function putAway({ llm, tts, finish }: OpenedProviders): Promise<void> {
  await Promise.all([llm.close(), tts.close()]);
  finish();
}

type Entered = { link: RoomLink } | { trouble: string };

/** Claims the room for this host and joins it, heard by nobody yet. Never rejects. */
async function enter({ call, media, preAnswerWatch, logger }: RoomEntry): Promise<Entered> {
  try {
    await media.createRoom(call.roomName, JSON.stringify(ownerOf(call)));
    const { joinRoom } = await import('../room/room-link.ts');
    const link = await joinRoom({
      access: call.media,
      roomName: call.roomName,
      identity: botIdentity(call.callId),
      name: 'Bot',
      handlers: preAnswerWatch.handlers,
      logger,
    });
    preAnswerWatch.look(link);
    return { link };
  } catch (error) {
    return { trouble: `the room cannot be joined: ${describeError(error)}; check the media server` };
  }
}

/** What the room says of itself. */
function ownerOf(call: SlotRoomCall): RoomOwner {
  return { trunkline: { host: call.hostId, call_id: call.callId, bot_id: call.botId } };
}

/** Leaves, and closes the room with everybody in it. */
async function leave(entry: RoomEntry, entered: Entered): Promise<void> {
  if ('link' in entered) await entered.link.leave();
  await endRoom(entry);
}

async function endRoom({ call, media, logger }: RoomEntry): Promise<void> {
  const { status, reason } = await closeRoom(media, call.roomName);
  if (status === 'failed') logger.warn({ err: reason }, 'the room of a call could not be closed');
}

function configUrlOf(call: SlotRoomCall, init: CallTools['init']): string {
  return call.configUrl ?? init.configUrl;
}

function askForConfig(call: SlotRoomCall, { init }: CallTools) {
  return fetchConfig({
    configUrl: configUrlOf(call, init),
    botId: call.botId,
    callerId: shortText(call.connected.caller_id),
    streamId: shortText(call.connected.stream_id),
    connectedEvent: call.connected,
    coreSecret: init.coreSecret,
    ownOrigins: init.ownOrigins,
  });
}

/**
 * A campaign's customer who is gone meanwhile is the dialler's to know at once: no session is asked for, and the room
 * is not made anew. Null where nobody is missed.
 */
async function whoIsMissing({ call, media }: RoomEntry): Promise<{ code: number; reason: string } | null> {
  if (call.kind !== 'attach') return null;
  try {
    if (await media.participant(call.roomName, call.customerIdentity)) return null;
    return { code: CLOSE.roomGone, reason: 'the customer is not in the room' };
  } catch (error) {
    return {
      code: CLOSE.mediaUnavailable,
      reason: `the media server does not answer: ${describeError(error)}`,
    };
  }
}

/** `more` is for the log alone. */
function refuse(
  { call, logger }: RoomEntry,
  code: number,
  reason: string,
  more: { error?: ErrorCode; advice?: string | undefined } = {},
): null {
  logger.warn({ bot_id: call.botId, code, reason, ...more }, 'the call was refused');
  tellMain({ type: 'room_refused', callId: call.callId, code, reason });
  return null;
}

function factsOf(call: SlotRoomCall, config: RuntimeConfig, { init }: CallTools) {
  return {
    callId: call.callId,
    connected: call.connected,
    transport: call.kind === 'widget' ? ('rtc_widget' as const) : ('rtc_sip' as const),
    config,
    configUrl: configUrlOf(call, init),
    room: {
      roomName: call.roomName,
      toNumber: call.dial?.toNumber ?? shortText(call.connected.to_number),
      ...(call.dial ? { trunkId: call.dial.trunkId } : {}),
    },
  };
}
