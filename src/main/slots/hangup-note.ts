import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HangupOrder } from '../../contracts/hangup-orders.ts';
import { HANGUP_FILE } from '../../contracts/spool.ts';

/**
 * Leaves main's order to end a call in its spool folder, so that whoever builds the result of a slot that did not obey
 * knows who ended it. Never rejects: where the folder is not there yet, or not any more, nobody needs the note.
 */
export async function noteHangup(spoolFolder: string, callId: string, order: HangupOrder): Promise<void> {
  // What main does for its own reasons is an error, and that is what a call without a verdict ends in anyway.
  if (order.cause === 'host') return;
  await writeFile(join(spoolFolder, callId, HANGUP_FILE), JSON.stringify(order), { mode: 0o600 }).catch(
    () => undefined,
  );
}
