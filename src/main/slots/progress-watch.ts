import { OVERRUN } from '../../contracts/hangup-orders.ts';
import {
  CONFIG_TIMEOUT_MS,
  CONNECTED_TIMEOUT_MS,
  HUNG_AFTER_MS,
  OVERRUN_GRACE_MS,
} from '../../contracts/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { reportHungProcess } from './hung-report.ts';
import type { LiveCall, SlotProcess } from './slot-process.ts';

/** How often the watch looks. */
export const WATCH_EVERY_MS = 500;
/** A slot that has not become ready by then is killed and started again. */
export const SLOT_START_TIMEOUT_MS = 60_000;
/**
 * After a `hangup` the slot may still be packing its results: 60 s is the bound of post-call work (D-31),
 * and 5 s are for the hang-up itself. Then it is killed.
 */
export const HANGUP_TO_KILL_MS = 65_000;
/**
 * So much longer may a room call take than its maximum duration, which begins when the customer is there: a telephone
 * rings for a minute, a visitor has a minute to come, and the room is joined before.
 */
export const ROOM_WAIT_MS = 90_000;
/** When the watch itself comes this late, main was stopped, and old heartbeats prove nothing about the slots. */
const OWN_STALL_MS = 2_000;

/** The two bounds of a call's end that a test may want shorter. */
export interface EndBounds {
  overrunGraceMs: number;
  hangupToKillMs: number;
}

export const END_BOUNDS: EndBounds = { overrunGraceMs: OVERRUN_GRACE_MS, hangupToKillMs: HANGUP_TO_KILL_MS };

export type Verdict = 'fine' | 'hung' | 'overrun' | 'ignores_hangup';

export type Watched = Pick<SlotProcess, 'state' | 'startedAtMs' | 'lastHeartbeatAtMs' | 'call'>;

/** What the facts of a slot say at `nowMs` (monotonic). RT-74 for the heartbeat, RT-24 for the duration. */
export function judge(slot: Watched, nowMs: number, bounds: EndBounds = END_BOUNDS): Verdict {
  if (slot.state === 'ended') return 'fine';
  if (slot.state === 'starting') return nowMs - slot.startedAtMs > SLOT_START_TIMEOUT_MS ? 'hung' : 'fine';
  if (nowMs - slot.lastHeartbeatAtMs > HUNG_AFTER_MS) return 'hung';
  const call = slot.call;
  if (!call) return 'fine';
  if (call.hangupSentAtMs !== null) {
    return nowMs - call.hangupSentAtMs > bounds.hangupToKillMs ? 'ignores_hangup' : 'fine';
  }
  if (call.handedOver) return 'fine';
  return nowMs > deadlineOf(call) + bounds.overrunGraceMs ? 'overrun' : 'fine';
}

/** When a call should be over. Before the session exists, only the set-up may take time. */
function deadlineOf(call: LiveCall): number {
  if (call.maxCallSeconds === null) return call.handedOverAtMs + CONNECTED_TIMEOUT_MS + CONFIG_TIMEOUT_MS;
  const waitMs = call.roomName === null ? 0 : ROOM_WAIT_MS;
  return call.handedOverAtMs + call.maxCallSeconds * 1000 + waitMs;
}

/**
 * Asks of every slot whether what should have happened did happen: the pacer ticks, calls end in time. Main is the
 * second to enforce the duration; the slot is the first.
 */
export function startProgressWatch(options: {
  slots(): SlotProcess[];
  reportsFolder: string;
  bounds: EndBounds;
  logger: Logger;
}): {
  stop(): void;
} {
  const dumped = new Set<SlotProcess>();
  let lastLookAtMs = monotonicMs();
  const timer = setInterval(() => {
    const nowMs = monotonicMs();
    const lateMs = nowMs - lastLookAtMs;
    lastLookAtMs = nowMs;
    if (lateMs > OWN_STALL_MS) {
      for (const slot of options.slots()) slot.lastHeartbeatAtMs = nowMs;
      return;
    }
    for (const slot of options.slots()) {
      const verdict = judge(slot, nowMs, options.bounds);
      if (verdict === 'fine' || dumped.has(slot)) continue;
      const facts = { slot: slot.slotId, slot_pid: slot.pid, call_id: slot.call?.callId ?? null };
      if (verdict === 'overrun') {
        options.logger.warn(facts, 'a call is over its maximum duration; the slot is told to hang up');
        slot.hangUp(OVERRUN);
        continue;
      }
      options.logger.error({ ...facts, verdict }, 'a slot does not answer; it is dumped and killed');
      dumped.add(slot);
      void reportHungProcess(slot.pid ?? 0, slot.call?.callId ?? null, options.reportsFolder).finally(() => {
        dumped.delete(slot);
        slot.kill('slot_hung');
      });
    }
  }, WATCH_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
    },
  };
}
