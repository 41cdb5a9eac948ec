import { join } from 'node:path';
import { roomFields } from '../../contracts/assemble-results.ts';
import { type CallResults, DisconnectedBy } from '../../contracts/call-results.ts';
import { RECORDING_FILE, RESULT_FILE, type SpoolResult } from '../../contracts/spool.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { AppError } from '../../platform/app-error.ts';
import { writeFileDurably } from '../../platform/durable-files.ts';
import { type Journal, readJournal } from './journal.ts';
import { repairRecording } from './repair-recording.ts';

export type SalvageCause = 'slot_died' | 'slot_hung';

/**
 * Turns the folder of a dead slot into a finished one: recording repaired, `result.json` written from the journal.
 * From there the ordinary intake goes on, so a crash of main in the middle only means doing this again. Returns false
 * where the journal names no session: then nobody waits for a result. Throws `unknown_version` for a foreign journal.
 */
export async function salvageFolder(folder: string, cause: SalvageCause): Promise<boolean> {
  const journal = await readJournal(folder);
  if (!journal.call) return false;
  if (journal.call.v !== SPOOL_VERSION) {
    throw new AppError(
      'unknown_version',
      `the journal was written in spool version ${journal.call.v}, this program reads ${SPOOL_VERSION}; run the version that wrote it`,
    );
  }
  const recordedSeconds = await repairRecording(join(folder, RECORDING_FILE));
  const payload = salvagedResults(journal, journal.call, recordedSeconds, cause);
  const result: SpoolResult = { v: SPOOL_VERSION, webhookUrl: journal.call.webhookUrl, payload };
  await writeFileDurably(join(folder, RESULT_FILE), JSON.stringify(result));
  return true;
}

/** The results payload of a call whose slot died, from all that it had journalled (R91 to R116). */
export function salvagedResults(
  journal: Journal,
  call: NonNullable<Journal['call']>,
  recordedSeconds: number | null,
  cause: SalvageCause,
): CallResults {
  const durationSeconds = journal.end?.ts ?? lastSecond(journal, recordedSeconds);
  const recorded = recordedSeconds !== null;
  const transferred = journal.events.find((event) => event.event === 'transfer_sent');
  return {
    session_id: call.sessionId,
    stream_id: call.streamId,
    caller_id: call.callerId,
    from_number: call.fromNumber,
    call_duration_seconds: durationSeconds,
    call_direction: call.direction,
    disconnected_by: causeOf(journal),
    transcript: journal.transcript,
    recording_url: recorded ? call.recordingUrl : null,
    recording_key: recorded ? call.recordingKey : null,
    post_call_analysis: {},
    usage_metrics: journal.usage,
    events: [...journal.events, { event: cause, ts: durationSeconds }],
    was_transferred: transferred !== undefined,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: transferred?.ts ?? null,
    transfer_failed_reason: null,
    raw_duration_seconds: durationSeconds,
    ...roomFields(call, journal.events),
    end_detail: { salvaged: true, cause, journal_lines_lost: journal.unreadable },
    bot_id: call.botId,
  };
}

/** The arbiter's verdict where the slot had reached one before it died; else what the journal shows, or `error`. */
function causeOf(journal: Journal): CallResults['disconnected_by'] {
  const known = DisconnectedBy.anyOf.find((literal) => literal.const === journal.end?.disconnectedBy);
  if (known) return known.const;
  return isWithAgent(journal) ? 'transfer_to_agent' : 'error';
}

/** A caller in a room of their own stays with the agent when the slot dies that only recorded them (D-45). */
function isWithAgent({ call, events }: Journal): boolean {
  const last = events.findLast(({ event }) => event === 'agent_joined' || event === 'agent_left');
  return call?.roomName !== undefined && last?.event === 'agent_joined';
}

function lastSecond(journal: Journal, recordedSeconds: number | null): number {
  let last = recordedSeconds ?? 0;
  for (const entry of journal.transcript) last = Math.max(last, entry.timestamp);
  for (const event of journal.events) last = Math.max(last, event.ts);
  return Math.round(last * 1000) / 1000;
}
