import { statfs } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Refusal, underPressure } from '../contracts/fleet-refusals.ts';
import { describeError } from '../platform/app-error.ts';
import type { Logger } from '../platform/logger.ts';

/** Below this a new call might find no room for its recording: an hour of stereo takes 115 MB. */
export const MIN_FREE_BYTES = 268_435_456;
/** So many undelivered results mean a receiver that is away for long; more calls would only fill the disk. */
export const MAX_PENDING_RESULTS = 10_000;
/** When half of main's turns come this late, it cannot supervise what it has. */
export const MAX_LOOP_DELAY_MS = 250;
const LOOK_EVERY_MS = 5_000;

export interface Load {
  freeBytes: number;
  pendingResults: number;
  /** Median lateness of main's event loop over the last look. */
  loopDelayMs: number;
}

/** The refusal that a load calls for, or null (RT-71). */
export function judgeLoad(load: Load): Refusal | null {
  if (load.freeBytes < MIN_FREE_BYTES) {
    const free = Math.floor(load.freeBytes / 1_048_576);
    return underPressure('disk_full', `the disk of DATA_DIR has ${free} MB left; free some space`);
  }
  if (load.pendingResults >= MAX_PENDING_RESULTS) {
    return underPressure(
      'store_unavailable',
      `${load.pendingResults} results wait for their receiver; bring it back first`,
    );
  }
  if (load.loopDelayMs > MAX_LOOP_DELAY_MS) {
    return underPressure('at_capacity', 'the host is overloaded; it takes calls again when it has caught up');
  }
  return null;
}

export interface HostPressure {
  /** What the last look says. */
  current(): Refusal | null;
  stop(): void;
}

/** Looks at disk, outbox and event loop every few seconds, so that the ingress decides without waiting. */
export async function watchHostPressure(options: {
  dataDir: string;
  pendingResults(): number;
  logger: Logger;
}): Promise<HostPressure> {
  const delays = monitorEventLoopDelay({ resolution: 20 });
  delays.enable();
  let freeBytes = Number.POSITIVE_INFINITY;
  let loopDelayMs = 0;
  let lastDetail: string | undefined;
  const judge = () => judgeLoad({ freeBytes, pendingResults: options.pendingResults(), loopDelayMs });

  async function look(): Promise<void> {
    try {
      const disk = await statfs(options.dataDir);
      freeBytes = disk.bavail * disk.bsize;
    } catch (error) {
      options.logger.error({ err: describeError(error) }, 'the free space of DATA_DIR cannot be read');
    }
    // The histogram counts the sampling interval itself in.
    loopDelayMs = Math.max(0, delays.percentile(50) / 1e6 - 20);
    delays.reset();
    const detail = judge()?.body.detail;
    if (detail !== lastDetail) {
      lastDetail = detail;
      if (detail) options.logger.warn({ detail }, 'the host takes no calls for now');
      else options.logger.info('the host takes calls again');
    }
  }

  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    current: judge,
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
