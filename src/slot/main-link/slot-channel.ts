import { HEARTBEAT_MS } from '../../contracts/limits.ts';
import type { MainToSlot, SlotToMain } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import { monotonicMs } from '../../platform/clock.ts';

type Body<T> = T extends unknown ? Omit<T, 'v'> : never;

/** Tells main something; silently nothing where main is gone, because the call goes on without it. */
export function tellMain(message: Body<SlotToMain>): void {
  if (!process.connected) return;
  process.send?.({ v: SLOT_MESSAGES_VERSION, ...message }, undefined, undefined, () => undefined);
}

type Handler = (message: MainToSlot) => void;
const handlers = new Map<MainToSlot['type'], Set<Handler>>();

/** Hears messages of one type for as long as somebody needs them; returns what ends it. */
export function onMain<T extends MainToSlot['type']>(
  type: T,
  handler: (message: Extract<MainToSlot, { type: T }>) => void,
): () => void {
  const of = handlers.get(type) ?? new Set();
  handlers.set(type, of);
  of.add(handler as Handler);
  return () => void of.delete(handler as Handler);
}

/** Hands a message of main to whoever waits for its type; to nobody, and silently, where no one does. */
export function fromMain(message: MainToSlot): void {
  for (const handler of [...(handlers.get(message.type) ?? [])]) handler(message);
}

/**
 * The slot's pulse (RT-74): beaten by the audio pacer while a conversation runs and by a slow timer otherwise, so that
 * a heartbeat means "audio moves", not "a timer fires".
 */
export class Heartbeat {
  /** Set while a conversation runs; the timer then leaves the pulse to the pacer. */
  beatenByPacer = false;
  private lastMs = Number.NEGATIVE_INFINITY;

  /** Cheap when called often: sends at most every HEARTBEAT_MS. True when it was time. */
  beat(callId: string | null): boolean {
    const now = monotonicMs();
    // A tick early is better than a tick late: main counts missing beats.
    if (now - this.lastMs < HEARTBEAT_MS - 100) return false;
    this.lastMs = now;
    tellMain({ type: 'heartbeat', callId, rssBytes: process.memoryUsage.rss() });
    return true;
  }

  /** Beats by timer for as long as the process lives, wherever the pacer does not. */
  startTimer(callId: () => string | null): void {
    const again = () => {
      if (!this.beatenByPacer) this.beat(callId());
      setTimeout(again, HEARTBEAT_MS).unref();
    };
    again();
  }
}
