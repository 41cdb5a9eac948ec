import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Rtc from '@livekit/rtc-node';
import { describeError } from '../../platform/app-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { onLeave } from '../process/leave-process.ts';

/** The real-time SDK of the media server. */
export type RtcSdk = typeof Rtc;

let loaded: RtcSdk | undefined;

/**
 * Loads the SDK once per process, at the first room call: it costs 10 MB of private memory and its own threads, which
 * socket calls never pay. Its CommonJS build is taken, since the other one costs 3 MB more. Throws what loading throws.
 */
export function loadRtc(logger: Logger): RtcSdk {
  if (loaded) return loaded;
  const require = createRequire(import.meta.url);
  loaded = require('@livekit/rtc-node') as RtcSdk;
  quieten(require, logger);
  onLeave(unloadRtc);
  process.on('unhandledRejection', (reason) => {
    if (!isOfSdk(reason)) throw reason;
    logger.warn({ err: describeError(reason) }, 'the real-time SDK failed by itself; the call goes on');
  });
  return loaded;
}

/** Ends the SDK's threads, which would keep the process alive; no room can be joined in it any more. */
export async function unloadRtc(): Promise<void> {
  await loaded?.dispose();
}

/**
 * Takes a room that was lost off the SDK's events. It does so itself only where a room is left, so that every lost one
 * would be told of each audio frame of every later call of this process.
 */
export function forgetRoom(room: Rtc.Room): void {
  const events = (globalThis as { _ffiClientInstance?: NodeJS.EventEmitter })._ffiClientInstance;
  const { onFfiEvent } = room as unknown as { onFfiEvent?: () => void };
  if (onFfiEvent) events?.off('ffi_event', onFfiEvent);
}

/** The SDK writes lines of its own to the standard output, with room and participant names in them. */
function quieten(require: NodeJS.Require, logger: Logger): void {
  try {
    const { log } = require(join(dirname(require.resolve('@livekit/rtc-node')), 'log.cjs')) as {
      log: { level: string };
    };
    log.level = 'silent';
  } catch (error) {
    logger.warn({ err: describeError(error) }, 'the log of the real-time SDK cannot be silenced');
  }
}

/**
 * The SDK works on events of the room in promises that nobody holds, and some of them throw where an event names
 * somebody who has just left. That must not end the call; a rejection of our own code still ends the process.
 */
function isOfSdk(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  return /[\\/]@livekit[\\/]rtc-/.test(reason.stack ?? '');
}
