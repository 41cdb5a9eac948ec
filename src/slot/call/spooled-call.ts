import { join } from 'node:path';
import { assembleResults, lengthsOf, type PostCallOutcome } from '../../contracts/assemble-results.ts';
import { RECORDS_PATH } from '../../contracts/http-names.ts';
import { HEARTBEAT_MS } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { SlotInit } from '../../contracts/slot-messages.ts';
import type { JournalCall } from '../../contracts/spool.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import type { ConnectedMessage } from '../../contracts/wire.ts';
import { describeError } from '../../platform/app-error.ts';
import { isoNow, monotonicMs, sleepMs } from '../../platform/clock.ts';
import { type Logger, maskNumber } from '../../platform/logger.ts';
import { ownIdentity } from '../../platform/process-identity.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import { tellMain } from '../main-link/slot-channel.ts';
import { CallLog } from '../record/call-log.ts';
import { SpoolFolder } from '../record/spool-folder.ts';
import type { EndVerdict } from '../wrap-up/end-arbiter.ts';
import { configUrlFor } from './fetch-config.ts';

/** What is known of a call once its config is there, whatever line it comes over. */
export interface CallFacts {
  callId: string;
  connected: ConnectedMessage;
  transport: JournalCall['transport'];
  config: RuntimeConfig;
  /** Where the config came from. */
  configUrl: string;
  /** Of calls through a room, which are yet to be answered: their time begins then (RT-31). */
  room?: Pick<JournalCall, 'roomName' | 'trunkId' | 'toNumber'>;
}

/** A call that has a session, and therefore will have a result, whatever becomes of it. */
export interface SpooledCall {
  callId: string;
  config: RuntimeConfig;
  journalCall: JournalCall;
  folder: SpoolFolder;
  log: CallLog;
  logger: Logger;
}

/** How a call ended, for its result. */
export interface CallEnding {
  verdict: EndVerdict;
  recorded: boolean;
  /** For `end_detail`. */
  facts: Record<string, unknown>;
  postCall?: PostCallOutcome;
}

/** Makes the spool folder and names its owner: the first thing that a call does. */
export function createFolder(
  call: { callId: string; botId: string; roomName?: string },
  init: Pick<SlotInit, 'dataDir' | 'slotId'>,
): Promise<SpoolFolder> {
  return SpoolFolder.create(join(init.dataDir, 'spool'), {
    v: SPOOL_VERSION,
    callId: call.callId,
    ...ownIdentity(),
    slotId: init.slotId,
    botId: call.botId,
    version: PRODUCT_VERSION,
    createdAt: isoNow(),
    ...(call.roomName === undefined ? {} : { room: call.roomName }),
  });
}

/**
 * Begins the journal and tells main of the session. Null where the spool cannot be written: without a journal a crash
 * would lose the call, so it does not begin.
 */
export async function beginRecord(
  folder: SpoolFolder,
  facts: CallFacts,
  tools: { init: Pick<SlotInit, 'baseUrl' | 'ownConfigUrls'>; logger: Logger },
): Promise<SpooledCall | null> {
  const { callId, config } = facts;
  const journalCall = describeCall(facts, recordsUrl(facts, tools.init));
  const logger = tools.logger.child({ call_id: callId, session_id: config.session_id });
  const log = new CallLog({
    journal: (entry) => folder.append(entry),
    now: monotonicMs,
    isAnswered: facts.room === undefined,
    billingStepSeconds: journalCall.billingStepSeconds ?? 1,
  });
  try {
    await folder.begin(journalCall);
  } catch (error) {
    logger.error({ err: describeError(error) }, 'the spool cannot be written; the call is refused');
    return null;
  }
  tellMain({
    type: 'session',
    callId,
    sessionId: config.session_id,
    maxCallSeconds: journalCall.maxCallSeconds,
  });
  logger.info({ bot_id: config.bot_id, caller: maskNumber(journalCall.callerId) }, 'the call begins');
  return { callId, config, journalCall, folder, log, logger };
}

/** Puts the verdict into the journal: a crash after it keeps the true cause. */
export function journalEnd({ folder, log }: SpooledCall, verdict: EndVerdict): void {
  const { disconnectedBy, cause, reason } = verdict;
  folder.append({ kind: 'end', disconnectedBy, cause, reason, ts: log.seconds });
  void folder.sync();
}

/** Writes the result. Resolves when it is on disk, or when the disk has refused it for too long. */
export async function endRecord(record: SpooledCall, ending: CallEnding): Promise<void> {
  const { journalCall, folder, log, logger } = record;
  const { verdict } = ending;
  const lengths = lengthsOf({ lengths: log.durations(), events: log.events });
  await finish(folder, logger, {
    v: SPOOL_VERSION,
    webhookUrl: journalCall.webhookUrl,
    payload: assembleResults({
      call: journalCall,
      disconnectedBy: verdict.disconnectedBy,
      lengths,
      transcript: log.transcriptEntries,
      events: log.events,
      usage: log.usage,
      recorded: ending.recorded,
      ...(ending.postCall ? { postCall: ending.postCall } : {}),
      endDetail: {
        ...ending.facts,
        reason: verdict.reason,
        cause: verdict.cause,
        ...(log.leftOut > 0 ? { left_out: log.leftOut } : {}),
      },
    }),
  });
  logger.info(
    { disconnected_by: verdict.disconnectedBy, seconds: lengths.duration_seconds },
    'the call has ended',
  );
}

/**
 * Shows in the folder that this process lives, for as long as no pacer does it: while a call rings, and while it is
 * packed up. A new main looks there alone (D-7). Returns what ends it.
 */
export function keepAlive(folder: SpoolFolder): () => void {
  const stop = new AbortController();
  void (async () => {
    while (!stop.signal.aborted) {
      folder.touch();
      await sleepMs(HEARTBEAT_MS, stop.signal).catch(() => undefined);
    }
  })();
  return () => stop.abort();
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
      await sleepMs(FINISH_RETRY_MS);
    }
  }
}

/**
 * Where the own control plane keeps its call records; null for a call whose config came from another one: it has no
 * record here.
 */
function recordsUrl(
  { configUrl, config }: CallFacts,
  { baseUrl, ownConfigUrls }: Pick<SlotInit, 'baseUrl' | 'ownConfigUrls'>,
): string | null {
  const asked = configUrlFor(configUrl, config.bot_id);
  const isOwn = ownConfigUrls?.some((own) => configUrlFor(own, config.bot_id) === asked) ?? true;
  return baseUrl !== '' && isOwn ? `${baseUrl}${RECORDS_PATH}` : null;
}

function describeCall(
  { callId, connected, transport, config, room }: CallFacts,
  records: string | null,
): JournalCall {
  const startedAt = isoNow();
  return {
    v: SPOOL_VERSION,
    kind: 'call',
    sessionId: config.session_id,
    botId: config.bot_id,
    streamId: shortText(connected.stream_id),
    callerId: shortText(connected.caller_id),
    fromNumber: typeof connected.from_number === 'string' ? connected.from_number : null,
    direction: connected.call_direction === 'outbound' ? 'outbound' : 'inbound',
    transport,
    ...(room ? { ...room, callId, ringingAt: startedAt } : {}),
    webhookUrl: config.webhook_url,
    recordingUrl: records && `${records}/${encodeURIComponent(config.session_id)}/recording`,
    // The call id is ours and unique; a session id may come from a foreign system and come twice.
    recordingKey: `${startedAt.slice(0, 10).replaceAll('-', '/')}/${callId}.wav`,
    maxCallSeconds: config.max_call_duration_seconds,
    billingStepSeconds: config.billing_increment_seconds ?? 1,
    startedAt,
  };
}

/** A value of the dialler as a text that is no longer than anybody needs; '' where it is none. */
export function shortText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 200) : '';
}
