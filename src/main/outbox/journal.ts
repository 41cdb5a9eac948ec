import { join } from 'node:path';
import type { CallEvent } from '../../contracts/call-events.ts';
import type { TranscriptEntry, UsageMetric } from '../../contracts/call-results.ts';
import { MAX_EVENTS, MAX_TRANSCRIPT_ENTRIES } from '../../contracts/limits.ts';
import { JOURNAL_FILE, type JournalCall, type JournalLine } from '../../contracts/spool.ts';
import { readBounded } from '../../platform/read-bounded.ts';

/** More of a journal is not read; a call of 24 hours, half of which the bot speaks, writes half of it. */
export const MAX_JOURNAL_BYTES = 64 * 1_048_576;

/** What a journal says, in the order that a result wants it. */
export interface Journal {
  call: JournalCall | null;
  /** In `seq` order, each entry as its last line has it. */
  transcript: TranscriptEntry[];
  events: CallEvent[];
  usage: UsageMetric[];
  end: { disconnectedBy: string; cause: string | null; reason: string | null; ts: number } | null;
  /** Of a call that rang: when its time began (RT-31); null where it was not answered, or did not ring. */
  answered: { ringSeconds: number; answeredBefore: number } | null;
  /** Lines that could not be read. One, the last, is what a crash leaves. */
  unreadable: number;
}

/** Reads the journal of a spool folder; a missing one is an empty one. */
export async function readJournal(folder: string): Promise<Journal> {
  return parseJournal(await readBounded(join(folder, JOURNAL_FILE), MAX_JOURNAL_BYTES));
}

/**
 * Parses journal bytes. The writer may have died in mid-line, so a line that does not parse is counted and passed
 * over. Lines are cut at the byte 0x0a only: the text separators U+2028 and U+2029 are legal inside JSON strings.
 */
export function parseJournal(bytes: Buffer): Journal {
  const journal: Journal = {
    call: null,
    transcript: [],
    events: [],
    usage: [],
    end: null,
    answered: null,
    unreadable: 0,
  };
  const transcript = new Map<number, TranscriptEntry>();
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const to = newline === -1 ? bytes.length : newline;
    if (to > from) {
      const line = parseLine(bytes.toString('utf8', from, to));
      if (line === null) journal.unreadable += 1;
      else apply(line, journal, transcript);
    }
    from = to + 1;
  }
  journal.transcript = [...transcript].sort(([a], [b]) => a - b).map(([, entry]) => entry);
  return journal;
}

function apply(line: JournalLine, journal: Journal, transcript: Map<number, TranscriptEntry>): void {
  switch (line.kind) {
    case 'call':
      journal.call = line;
      return;
    case 'transcript':
      if (transcript.size < MAX_TRANSCRIPT_ENTRIES || transcript.has(line.seq)) {
        transcript.set(line.seq, line.entry);
      }
      return;
    case 'event':
      if (journal.events.length < MAX_EVENTS) journal.events.push(line.event);
      return;
    case 'usage':
      if (journal.usage.length < MAX_EVENTS) journal.usage.push(line.metric);
      return;
    case 'end':
      journal.end = {
        disconnectedBy: line.disconnectedBy,
        cause: line.cause ?? null,
        reason: line.reason ?? null,
        ts: line.ts,
      };
      return;
    case 'answered':
      journal.answered = { ringSeconds: line.ringSeconds, answeredBefore: line.answeredBefore };
      return;
  }
}

function parseLine(text: string): JournalLine | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'kind' in value ? (value as JournalLine) : null;
  } catch {
    return null;
  }
}
