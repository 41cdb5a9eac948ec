import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallRecordStore } from './call-store.ts';

export interface LostCallsParts {
  calls: CallRecordStore;
  logger: Logger;
  nowIso: () => string;
  /** Sessions whose callers may be talking, wherever; null where that cannot be told now. */
  liveSessions: () => Promise<ReadonlySet<string> | null>;
}

export interface LostCallsSweep {
  /** Resolves when nothing of it is at work any more. */
  stop(): Promise<void>;
}

const SWEEP_EVERY_MS = 60_000;
/** Calls in one commit; the next batch follows at once while there are more. */
const BATCH = 100;
/** Batches in one sweep; what is left waits for the next one. */
const MAX_BATCHES = 100;

/**
 * Gives up calls that have neither results nor a room ten minutes after their longest time (D-48, status `lost`).
 * Late results still correct them.
 */
export function startLostCallsSweep(parts: LostCallsParts): LostCallsSweep {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  const run = async () => {
    try {
      await sweepLostCalls(parts);
    } catch (error) {
      parts.logger.error({ err: describeError(error) }, 'calls without results could not be looked through');
    }
    if (!stopped) timer = setTimeout(start, SWEEP_EVERY_MS).unref();
  };
  const start = () => {
    running = run();
  };
  start();
  return {
    stop: async () => {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}

/**
 * One sweep; returns how many calls were given up. The hosts are asked only where a call is due, and while one of them
 * does not say what it has, no call is given up.
 */
export async function sweepLostCalls(parts: LostCallsParts): Promise<number> {
  if (!(await parts.calls.hasOverdue(parts.nowIso()))) return 0;
  const live = await parts.liveSessions();
  if (live === null) {
    parts.logger.warn('a host does not say which calls it has; calls without results are given up later');
    return 0;
  }
  let given = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const lost = await parts.calls.markLost(parts.nowIso(), BATCH, (sessionId) => live.has(sessionId));
    for (const { session_id, bot_id } of lost) {
      parts.logger.warn({ session_id, bot_id }, 'no results came for this call, it counts as lost');
    }
    given += lost.length;
    if (lost.length < BATCH) break;
  }
  return given;
}
