import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HangupOrder, readHangupOrder } from '../../contracts/hangup-orders.ts';
import { HANGUP_FILE } from '../../contracts/spool.ts';

/** A signal that nobody explains: the machine goes down, or somebody ended this process by hand. */
const LEAVING: HangupOrder = { cause: 'host', reason: 'the host is shutting down' };

/**
 * Why this process was told to end its call by a signal. A main that has no channel to it leaves its order in the spool
 * folder of the call (D-7).
 */
export function orderBehindSignal(dataDir: string, callId: string): HangupOrder {
  try {
    const note = readFileSync(join(dataDir, 'spool', callId, HANGUP_FILE), 'utf8');
    return readHangupOrder(JSON.parse(note)) ?? LEAVING;
  } catch {
    // No note, which is the ordinary case.
    return LEAVING;
  }
}
