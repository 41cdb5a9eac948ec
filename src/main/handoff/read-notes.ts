import { join } from 'node:path';
import { type DeskNote, HANDOFF_FILE } from '../../contracts/handoff.ts';
import { SPOOL_VERSION } from '../../contracts/versions.ts';
import { readBounded } from '../../platform/read-bounded.ts';

/** More of a call's notes is not read: an enqueue is bounded by its slot, and the others are small. */
export const MAX_NOTES_BYTES = 8 * 1_048_576;

/**
 * The notes of a spool folder in order; empty where there are none. A line that a crash has torn is passed over, and so
 * is one of another spool version, whose own program brings it.
 */
export async function readNotes(folder: string): Promise<DeskNote[]> {
  const bytes = await readBounded(join(folder, HANDOFF_FILE), MAX_NOTES_BYTES);
  const notes: DeskNote[] = [];
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const to = newline === -1 ? bytes.length : newline;
    const note = to > from ? parseNote(bytes.toString('utf8', from, to)) : null;
    if (note) notes.push(note);
    from = to + 1;
  }
  return notes;
}

function parseNote(text: string): DeskNote | null {
  try {
    const value = JSON.parse(text) as Partial<DeskNote> | null;
    const isWhole =
      typeof value?.seq === 'number' && typeof value.kind === 'string' && typeof value.origin === 'string';
    return isWhole && value.v === SPOOL_VERSION ? (value as DeskNote) : null;
  } catch {
    return null;
  }
}
