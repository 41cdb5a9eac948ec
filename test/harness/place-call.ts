import { CallRefused } from '../../src/cli/call-refused.ts';
import { type DiallerCall, type DiallerOptions, placeCall } from '../../src/cli/dialler-client.ts';
import { PATIENCE_MS, until } from './wait.ts';

const AT_CAPACITY = 429;

/**
 * Places a call as soon as a slot is free: one that has just ended a call is busy with its results for a moment, and a
 * killed one takes a moment to come back. A test of refusals calls `placeCall` itself.
 */
export async function placeWhenFree(options: DiallerOptions): Promise<DiallerCall> {
  return await until(
    () =>
      placeCall({ readyTimeoutMs: PATIENCE_MS, ...options }).catch((error: unknown) => {
        if (error instanceof CallRefused && error.status === AT_CAPACITY) return null;
        throw error;
      }),
    `a free slot for ${options.url}`,
  );
}
