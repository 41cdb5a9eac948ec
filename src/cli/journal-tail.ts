import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JOURNAL_FILE, type JournalCall, type JournalLine } from '../contracts/spool.ts';

const EVERY_MS = 150;
/** A demo call's journal is a few kilobytes; a larger one is not followed any further. */
const MAX_BYTES = 4 * 1_048_576;

/**
 * Follows what the running call writes to its spool folder, to show words as they are understood and spoken: the wire
 * carries audio only. Read-only; the slot does not know of it. Lines of other calls on the same host are left out.
 * Returns the function that ends it after a last look.
 */
export function followJournal(
  dataDir: string,
  isOurs: (call: JournalCall) => boolean,
  onLine: (line: JournalLine) => void,
): () => void {
  const seenBytes = new Map<string, number>();
  const foreign = new Set<string>();
  const look = () => {
    for (const file of journals(dataDir)) {
      const seen = seenBytes.get(file) ?? 0;
      const bytes = foreign.has(file) ? null : readBytes(file);
      if (!bytes || bytes.length > MAX_BYTES) continue;
      // The last line may be half written; it is read when its end is there.
      const end = bytes.lastIndexOf(0x0a) + 1;
      if (end <= seen) continue;
      seenBytes.set(file, end);
      for (const text of bytes.toString('utf8', seen, end).split('\n')) {
        const line = parseLine(text);
        if (line?.kind === 'call' && !isOurs(line)) foreign.add(file);
        if (line && !foreign.has(file)) onLine(line);
      }
    }
  };
  const timer = setInterval(look, EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

/** Journal lines as words for a terminal: what the bot understood, and what it said as far as it was heard. */
export function journalView(show: (text: string) => void): (line: JournalLine) => void {
  const shown = new Map<number, string>();
  return (line) => {
    if (line.kind === 'event' && line.event.event === 'user_turn') {
      const rule = line.event.note ? `  (${line.event.note})` : '';
      show(`caller "   ${String(line.event.text ?? '')}"${rule}`);
    }
    if (line.kind === 'transcript' && line.entry.speaker === 'bot') {
      // The line of an entry comes again as more of it is heard: only the new words are shown.
      const before = shown.get(line.seq) ?? '';
      const { text } = line.entry;
      const added = text.startsWith(before) ? text.slice(before.length).trim() : text;
      if (added !== '') show(`bot    "   ${added}"`);
      shown.set(line.seq, text);
    }
  };
}

function journals(dataDir: string): string[] {
  try {
    const spool = join(dataDir, 'spool');
    return readdirSync(spool).map((folder) => join(spool, folder, JOURNAL_FILE));
  } catch {
    return [];
  }
}

function readBytes(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    // The folder was taken in between the two looks.
    return null;
  }
}

function parseLine(text: string): JournalLine | null {
  if (text === '') return null;
  try {
    return JSON.parse(text) as JournalLine;
  } catch {
    return null;
  }
}
