import type { CallEvent } from './call-events.ts';
import type { TranscriptEntry, UsageMetric } from './call-results.ts';
import type { CallDirection } from './wire.ts';

/**
 * The spool: one folder per call under `DATA_DIR/spool`, named by the call id. A slot's only durable act is this
 * folder, so an ended call, a crashed slot and a crashed main all leave the same thing to pick up.
 *
 * The order that makes it safe: `owner.json` first; the journal and the recording as the call goes; `result.json`
 * last, by write, sync, rename, sync of the folder. A folder with `result.json` is finished. One without, whose owner
 * no longer runs, is an orphan that main salvages.
 */
export const OWNER_FILE = 'owner.json';
export const JOURNAL_FILE = 'journal.jsonl';
export const RECORDING_FILE = 'recording.wav';
export const RESULT_FILE = 'result.json';
/**
 * Main's order to end the call (a `HangupOrder`): for a slot that only a signal reaches, and for the salvage of one that
 * did not obey.
 */
export const HANGUP_FILE = 'hangup.json';

/** Who writes the folder. Pid and start time together name a process for good; pids alone are reused. */
export interface SpoolOwner {
  v: number;
  callId: string;
  pid: number;
  /** Field 22 of /proc/pid/stat: clock ticks from boot to the start of the process. */
  startTicks: number;
  /** Kernel boot id: after a reboot no owner lives. */
  bootId: string;
  slotId: number;
  botId: string;
  version: string;
  createdAt: string;
  /** The room of a room call, so that whoever finds the slot dead can close it (D-10). */
  room?: string;
}

/** What every later result, salvaged ones too, is built from. Written once the config is there. */
export interface JournalCall {
  v: number;
  kind: 'call';
  sessionId: string;
  botId: string;
  streamId: string;
  callerId: string;
  fromNumber: string | null;
  direction: CallDirection;
  transport: 'websocket' | 'partner' | 'rtc_sip' | 'rtc_widget';
  /** Of room calls, like what follows: the number that was called, and when it began to ring (ISO 8601). */
  roomName?: string;
  callId?: string;
  toNumber?: string;
  trunkId?: string;
  ringingAt?: string;
  webhookUrl: string;
  /**
   * The `recording_url` and `recording_key` that the result names. Where the URL is null, main signs one: the control
   * plane of the call is another one, and cannot give the recording out.
   */
  recordingUrl: string | null;
  recordingKey: string | null;
  maxCallSeconds: number;
  /** Absent where time is billed by the second. */
  billingStepSeconds?: number;
  startedAt: string;
}

export type JournalLine =
  | JournalCall
  /** `seq` makes a later line for the same entry replace the earlier (heard text grows). */
  | { kind: 'transcript'; seq: number; entry: TranscriptEntry }
  | { kind: 'event'; event: CallEvent }
  /** A call that rang has been picked up: its time begins (RT-31). */
  | { kind: 'answered'; ringSeconds: number; answeredBefore: number }
  | { kind: 'usage'; metric: UsageMetric }
  /** The arbiter's verdict, before the wind-down: a crash after it keeps the true cause. */
  | { kind: 'end'; disconnectedBy: string; cause?: string; reason?: string; ts: number };

/** `result.json`: the payload and where it goes. */
export interface SpoolResult {
  v: number;
  webhookUrl: string;
  payload: Record<string, unknown>;
}
