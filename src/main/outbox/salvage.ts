import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assembleResults } from '../../contracts/assemble-results.ts';
import { ANSWERED_AT_ONCE, type CallBeginning, callDurations } from '../../contracts/call-durations.ts';
import { type CallResults, DisconnectedBy } from '../../contracts/call-results.ts';
import { ENDED_BY_ORDER, type HangupOrder, readHangupOrder } from '../../contracts/hangup-orders.ts';
import {
  HANGUP_FILE,
  type JournalCall,
  RECORDING_FILE,
  RESULT_FILE,
  type SpoolResult,
} from '../../contracts/spool.ts';
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
  const order = await readOrder(folder);
  const payload = salvagedResults(journal, journal.call, { recordedSeconds, order, cause });
  const result: SpoolResult = { v: SPOOL_VERSION, webhookUrl: journal.call.webhookUrl, payload };
  await writeFileDurably(join(folder, RESULT_FILE), JSON.stringify(result));
  return true;
}

/** What lies beside a journal, and what became of its slot. */
interface Remains {
  recordedSeconds: number | null;
  /** The slot was told to end the call and did not. */
  order: HangupOrder | null;
  cause: SalvageCause;
}

/** The results payload of a call whose slot died, from all that it had journalled (R91 to R116). */
function salvagedResults(journal: Journal, call: JournalCall, remains: Remains): CallResults {
  const { recordedSeconds, cause } = remains;
  const seconds = journal.end?.ts ?? lastSecond(journal, recordedSeconds);
  const { disconnectedBy, ...ending } = endingOf(journal, remains);
  return assembleResults({
    call,
    disconnectedBy,
    lengths: callDurations(seconds, beginningOf(journal, call), call.billingStepSeconds ?? 1),
    transcript: journal.transcript,
    events: [...journal.events, { event: cause, ts: seconds }],
    usage: journal.usage,
    recorded: recordedSeconds !== null,
    endDetail: { ...ending, salvaged: true, journal_lines_lost: journal.unreadable },
  });
}

const WHAT_HAPPENED: Readonly<Record<SalvageCause, string>> = {
  slot_died: 'the slot of the call ended without a result',
  slot_hung: 'the slot of the call stood still and was ended',
};

interface Ending {
  disconnectedBy: CallResults['disconnected_by'];
  /** For `end_detail`. */
  cause: string;
  reason: string;
}

/**
 * The arbiter's verdict where the slot had reached one before it died; else the order that it did not obey; else what
 * the journal shows, or `error`.
 */
function endingOf(journal: Journal, { order, cause }: Remains): Ending {
  const known = DisconnectedBy.anyOf.find((literal) => literal.const === journal.end?.disconnectedBy);
  if (known) {
    return {
      disconnectedBy: known.const,
      cause: journal.end?.cause ?? cause,
      reason: journal.end?.reason ?? WHAT_HAPPENED[cause],
    };
  }
  if (order) return { disconnectedBy: ENDED_BY_ORDER[order.cause], ...order };
  const disconnectedBy = isWithAgent(journal) ? 'transfer_to_agent' : 'error';
  return { disconnectedBy, cause, reason: WHAT_HAPPENED[cause] };
}

/** A caller in a room of their own stays with the agent when the slot dies that only recorded them (D-45). */
function isWithAgent({ call, events }: Journal): boolean {
  const last = events.findLast(({ event }) => event === 'agent_joined' || event === 'agent_left');
  return call?.roomName !== undefined && last?.event === 'agent_joined';
}

/** A call through a room begins with its answer; one on a socket is answered when it connects. */
function beginningOf({ answered }: Journal, { roomName }: JournalCall): CallBeginning {
  if (roomName === undefined) return ANSWERED_AT_ONCE;
  return answered ? { isAnswered: true, ...answered } : { ...ANSWERED_AT_ONCE, isAnswered: false };
}

async function readOrder(folder: string): Promise<HangupOrder | null> {
  try {
    return readHangupOrder(JSON.parse(await readFile(join(folder, HANGUP_FILE), 'utf8')));
  } catch {
    // No order, which is the ordinary case, or one that was not written whole.
    return null;
  }
}

function lastSecond(journal: Journal, recordedSeconds: number | null): number {
  let last = recordedSeconds ?? 0;
  for (const entry of journal.transcript) last = Math.max(last, entry.timestamp);
  for (const event of journal.events) last = Math.max(last, event.ts);
  return Math.round(last * 1000) / 1000;
}
