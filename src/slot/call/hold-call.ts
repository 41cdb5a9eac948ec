import type { HangupOrder } from '../../contracts/hangup-orders.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { SlotInit } from '../../contracts/slot-messages.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { parseNetwork } from '../../platform/guarded-http/network.ts';
import { createGuardedHttp } from '../../platform/guarded-http.ts';
import type { Logger } from '../../platform/logger.ts';
import { realClock } from '../../providers/contract/provider-clock.ts';
import type { ProviderContext } from '../../providers/contract/provider-context.ts';
import type { ProviderHealth } from '../../providers/resilient/provider-health.ts';
import type { HandoffSetup } from '../handoff/handoff-setup.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import type { Heartbeat } from '../main-link/slot-channel.ts';
import { Recorder } from '../record/recorder.ts';
import type { SocketTransport } from '../transport/call-transport.ts';
import type { EndVerdict } from '../wrap-up/end-arbiter.ts';
import { postCallWork } from '../wrap-up/post-call-work.ts';
import { type OpenedProviders, openProviders } from './call-providers.ts';
import { CallSession } from './call-session.ts';
import { endRecord, journalEnd, keepAlive, type SpooledCall } from './spooled-call.ts';

/** What a slot lends to each of its calls. */
export interface CallTools {
  init: SlotInit;
  vad: VoiceActivity | null;
  turnModel: TurnModel | null;
  /** How the providers do, as this host has met them. */
  providerHealth: ProviderHealth;
  heartbeat: Heartbeat;
  logger: Logger;
}

export interface RunningCall {
  /** Ends the conversation from outside. */
  order(order: HangupOrder): void;
}

/** A line that is answered, over which the conversation can begin. */
export interface AnsweredLine {
  transport: SocketTransport;
  /** Opened ahead; they belong to the conversation from now on. */
  providers: Promise<OpenedProviders>;
  /** For handing the caller to a person; null where that can never be. */
  handoff: HandoffSetup | null;
  /** Lets what the line has held back come in; called once the transport has somebody to tell. */
  open(): void;
}

/** Opens the providers of a call, whose troubles go into its record. `hearHz` is the rate of the caller's audio. */
export function openCallProviders(
  { config, log, logger }: SpooledCall,
  tools: CallTools,
  hearHz: 8_000 | 16_000,
): Promise<OpenedProviders> {
  const opening = openProviders(config, {
    dataDir: tools.init.dataDir,
    providerHealth: tools.providerHealth,
    logger,
    hearHz,
    report: reportTo(log),
    meter: (metric) => log.metric(metric),
  });
  opening.catch(() => undefined);
  return opening;
}

/**
 * The conversation of an answered call, whatever its line: to the hang-up, the analysis and the finished spool folder.
 * Never rejects; whatever fails ends the call and is its result.
 */
export async function holdCall(
  record: SpooledCall,
  line: AnsweredLine,
  tools: CallTools,
  onRunning: (running: RunningCall) => void,
): Promise<EndVerdict> {
  const { callId, config, folder, log, logger } = record;
  const { transport } = line;
  const recorder = await startRecorder(record);
  let verdict: EndVerdict;
  let facts: Record<string, unknown> = {};
  let providers: OpenedProviders | null = null;
  let letGo = () => {};
  const decide = (decided: EndVerdict) => {
    // The pacer is about to stop; the wind-down lives by the timers.
    tools.heartbeat.beatenByPacer = false;
    letGo = keepAlive(folder);
    journalEnd(record, decided);
  };
  try {
    providers = await line.providers;
    const networks = (config.outbound_allowed_networks ?? []).flatMap((text) => parseNetwork(text) ?? []);
    const session = new CallSession({
      config,
      transport,
      providers,
      http: createGuardedHttp({ allowedNetworks: () => networks }),
      vad: tools.vad,
      turnModel: tools.turnModel,
      recorder,
      handoff: line.handoff,
      log,
      logger,
      onPulse: () => {
        if (tools.heartbeat.beat(callId)) folder.touch();
      },
      onVerdict: decide,
      onTurnLogged: () => void folder.sync(),
    });
    transport.attach(session.transportHandlers);
    line.open();
    onRunning({ order: ({ cause, reason }) => session.end({ kind: 'ordered', cause, reason }) });
    tools.heartbeat.beatenByPacer = true;
    verdict = await session.run();
    facts = session.facts;
  } catch (error) {
    verdict = failedStart(error);
    decide(verdict);
    log.event('disconnected', { by: 'error', error: describeError(error) });
    line.open();
    await transport.close(CLOSE.internal, verdict.reason);
  } finally {
    tools.heartbeat.beatenByPacer = false;
  }
  const durationSeconds = log.events.findLast((entry) => entry.event === 'disconnected')?.ts ?? log.seconds;
  const recorded = (await recorder?.close()) ?? false;
  // Lines are rendered ahead of the result, as what they cost stands in it.
  const [postCall] = await Promise.all([
    postCallWork({
      config,
      transcript: log.transcriptEntries,
      ending: { disconnectedBy: verdict.disconnectedBy, durationSeconds },
      log,
      logger,
      context: { sampleRate: LINE_RATE_HZ, clock: realClock, report: reportTo(log) },
    }),
    providers?.renderLines(),
  ]);
  await endRecord(record, { verdict, recorded, facts, postCall });
  letGo();
  providers?.finish();
  return verdict;
}

function reportTo(log: SpooledCall['log']): ProviderContext['report'] {
  return ({ event, ...details }) => log.event(event, details);
}

async function startRecorder({ folder, log, logger }: SpooledCall): Promise<Recorder | null> {
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
