import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { assembleResults } from '../../contracts/assemble-results.ts';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SlotCall, SlotInit } from '../../contracts/slot-messages.ts';
import type { JournalCall } from '../../contracts/spool.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { isoNow, monotonicMs } from '../../platform/clock.ts';
import { parseNetwork } from '../../platform/guarded-http/network.ts';
import { createGuardedHttp } from '../../platform/guarded-http.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import { ownIdentity } from '../../platform/process-identity.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import { realClock } from '../../providers/provider-clock.ts';
import type { ProviderContext } from '../../providers/provider-context.ts';
import type { ProviderWeather } from '../../providers/resilient/provider-weather.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { Recorder } from '../record/recorder.ts';
import { SpoolFolder } from '../record/spool-folder.ts';
import type { Heartbeat } from '../slot-channel.ts';
import { tellMain } from '../slot-channel.ts';
import { acceptSocket } from '../transport/accept-socket.ts';
import { type OpenLine, openLine } from '../transport/open-line.ts';
import { closeSocket } from '../transport/telephony-transport.ts';
import { CallLog } from '../wrap-up/call-log.ts';
import { postCallWork } from '../wrap-up/post-call-work.ts';
import { type OpenedProviders, openProviders } from './call-providers.ts';
import { CallSession } from './call-session.ts';
import type { EndVerdict } from './end-arbiter.ts';
import { fetchConfig } from './fetch-config.ts';

/** What a slot lends to each of its calls. */
export interface CallTools {
  init: SlotInit;
  vad: VoiceActivity | null;
  turnModel: TurnModel | null;
  /** How the providers do, as this host has met them. */
  weather: ProviderWeather;
  heartbeat: Heartbeat;
  logger: Logger;
}

export interface RunningCall {
  /** Ends the conversation from outside. */
  order(reason: string): void;
}

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
  onRunning({ order: (reason) => void closeSocket(socket, CLOSE.normal, reason) });
  const opened = await openSession(call, socket, line, tools);
  if (!opened) {
    await folder.discard();
    return null;
  }
  return holdCall(opened, call, socket, folder, tools, onRunning);
}

function createFolder(call: SlotCall, init: SlotInit): Promise<SpoolFolder> {
  return SpoolFolder.create(join(init.dataDir, 'spool'), {
    v: SPOOL_VERSION,
    callId: call.callId,
    ...ownIdentity(),
    slotId: init.slotId,
    botId: call.botId,
    version: PRODUCT_VERSION,
    createdAt: isoNow(),
  });
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
    callerId: text(connected.caller_id),
    streamId: text(connected.stream_id),
    connectedEvent: connected,
    coreSecret: tools.init.coreSecret,
    ownOrigins: tools.init.ownOrigins,
  });
  if ('config' in answer) return { line: opening, config: answer.config };
  const { code, reason } = answer.refusal;
  tools.logger.warn({ call_id: call.callId, bot_id: call.botId, code, reason }, 'the call was refused');
  socket.resume();
  await closeSocket(socket, code, reason);
  return null;
}

async function holdCall(
  opened: OpenedSession,
  call: SlotCall,
  socket: WebSocket,
  folder: SpoolFolder,
  tools: CallTools,
  onRunning: (running: RunningCall) => void,
): Promise<EndVerdict | null> {
  const { line, config } = opened;
  const journalCall = describeCall(call, line, config, tools.init);
  const logger = tools.logger.child({ call_id: call.callId, session_id: config.session_id });
  const log = new CallLog({ journal: (entry) => folder.append(entry), now: monotonicMs });
  try {
    await folder.begin(journalCall);
  } catch (error) {
    // Without a journal a crash would lose the call, so it does not begin.
    logger.error({ err: describeError(error) }, 'the spool cannot be written; the call is refused');
    socket.resume();
    await closeSocket(socket, CLOSE.internal, 'the host cannot write its spool');
    await folder.discard();
    return null;
  }
  tellMain({
    type: 'session',
    callId: call.callId,
    sessionId: config.session_id,
    maxCallSeconds: config.max_call_duration_seconds,
  });
  logger.info({ bot_id: config.bot_id, caller: maskNumber(journalCall.callerId) }, 'the call begins');

  const report: ProviderContext['report'] = ({ event, ...details }) => log.event(event, details);
  const openingProviders = openProviders(config, {
    dataDir: tools.init.dataDir,
    weather: tools.weather,
    logger,
    report,
  });
  openingProviders.catch(() => undefined);
  const recorder = await startRecorder(folder, log, logger);
  const transport = line.createTransport((event, detail) => log.event(event, detail));
  let verdict: EndVerdict;
  let facts: Record<string, unknown> = {};
  let providers: OpenedProviders | null = null;
  try {
    providers = await openingProviders;
    const networks = (config.outbound_allowed_networks ?? []).flatMap((text) => parseNetwork(text) ?? []);
    const session = new CallSession({
      config,
      transport,
      providers,
      http: createGuardedHttp({ allowedNetworks: () => networks }),
      vad: tools.vad,
      turnModel: tools.turnModel,
      recorder,
      log,
      logger,
      onPulse: () => {
        if (tools.heartbeat.beat(call.callId)) folder.touch();
      },
      onVerdict: (decided) => {
        // The pacer is about to stop; the wind-down lives by the timer.
        tools.heartbeat.beatenByPacer = false;
        journalEnd(folder, log, decided);
      },
      onTurnLogged: () => void folder.sync(),
    });
    transport.attach(session.transportHandlers);
    socket.resume();
    onRunning({ order: (reason) => session.end({ kind: 'ordered', reason }) });
    tools.heartbeat.beatenByPacer = true;
    verdict = await session.run();
    facts = session.facts;
  } catch (error) {
    verdict = failedStart(error);
    journalEnd(folder, log, verdict);
    log.event('disconnected', { by: 'error', error: describeError(error) });
    socket.resume();
    await closeSocket(socket, CLOSE.internal, verdict.reason);
  } finally {
    tools.heartbeat.beatenByPacer = false;
  }
  const durationSeconds = log.events.findLast((entry) => entry.event === 'disconnected')?.ts ?? log.seconds;
  const recorded = (await recorder?.close()) ?? false;
  const postCall = await postCallWork({
    config,
    transcript: log.transcriptEntries,
    ending: { disconnectedBy: verdict.disconnectedBy, durationSeconds },
    log,
    logger,
    context: { sampleRate: LINE_RATE_HZ, clock: realClock, report },
  });
  await finish(folder, logger, {
    v: SPOOL_VERSION,
    webhookUrl: journalCall.webhookUrl,
    payload: assembleResults({
      call: journalCall,
      disconnectedBy: verdict.disconnectedBy,
      durationSeconds,
      transcript: log.transcriptEntries,
      events: log.events,
      usage: log.usage,
      recorded,
      postCall,
      endDetail: {
        ...facts,
        reason: verdict.reason,
        cause: verdict.cause,
        ...(log.leftOut > 0 ? { left_out: log.leftOut } : {}),
      },
    }),
  });
  logger.info({ disconnected_by: verdict.disconnectedBy, seconds: durationSeconds }, 'the call has ended');
  await providers?.finish();
  return verdict;
}

/** Disk room comes back, on most days; until then the slot keeps its result and stays busy. */
const FINISH_RETRY_MS = 5_000;
const FINISH_TRIES = 60;

async function finish(
  folder: SpoolFolder,
  logger: Logger,
  result: Parameters<SpoolFolder['finish']>[0],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await folder.finish(result);
      return;
    } catch (error) {
      logger.error({ err: describeError(error), attempt }, 'the result cannot be written to the spool');
      // What is in the journal by now is what main will salvage.
      if (attempt === FINISH_TRIES) return;
      await new Promise((resolve) => setTimeout(resolve, FINISH_RETRY_MS));
    }
  }
}

async function startRecorder(folder: SpoolFolder, log: CallLog, logger: Logger): Promise<Recorder | null> {
  const stopped = (error: unknown) => {
    log.event('recording_stopped', { error: describeError(error) });
    logger.warn({ err: describeError(error) }, 'recording stopped; the call goes on');
  };
  try {
    return await Recorder.create(folder.recordingPath, stopped);
  } catch (error) {
    stopped(error);
    return null;
  }
}

function journalEnd(folder: SpoolFolder, log: CallLog, verdict: EndVerdict): void {
  folder.append({ kind: 'end', disconnectedBy: verdict.disconnectedBy, ts: log.seconds });
  void folder.sync();
}

function failedStart(error: unknown): EndVerdict {
  return {
    disconnectedBy: 'error',
    by: 'error',
    trigger: null,
    cause: 'failed_start',
    reason: `the call could not start: ${describeError(error)}`,
    lineStands: true,
  };
}

function describeCall(
  call: SlotCall,
  { connected, transport }: OpenLine,
  config: RuntimeConfig,
  init: SlotInit,
): JournalCall {
  const startedAt = isoNow();
  return {
    v: SPOOL_VERSION,
    kind: 'call',
    sessionId: config.session_id,
    botId: config.bot_id,
    streamId: text(connected.stream_id),
    callerId: text(connected.caller_id),
    fromNumber: typeof connected.from_number === 'string' ? connected.from_number : null,
    direction: connected.call_direction === 'outbound' ? 'outbound' : 'inbound',
    transport,
    webhookUrl: config.webhook_url,
    recordingUrl:
      init.baseUrl === ''
        ? null
        : `${init.baseUrl}${RECORDS_PATH}/${encodeURIComponent(config.session_id)}/recording`,
    // The call id is ours and unique; a session id may come from a foreign system and come twice.
    recordingKey: `${startedAt.slice(0, 10).replaceAll('-', '/')}/${call.callId}.wav`,
    maxCallSeconds: config.max_call_duration_seconds,
    startedAt,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 200) : '';
}
