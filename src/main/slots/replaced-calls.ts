import type { LiveCall } from './slot-process.ts';

/**
 * The slots whose call the carrier has opened again: the same `call_sid` for the same bot on a later socket, which is
 * what its retry after a slow handshake looks like (RT-80). The newest socket wins, whichever of them said `start`
 * last. The live calls are the table, so it is bounded by the number of slots.
 */
export function replacedSlots<S extends { call: LiveCall | null }>(slots: readonly S[], spoken: S): S[] {
  const { call } = spoken;
  if (!call || call.callSid === '') return [];
  const same = slots.filter(
    (slot) =>
      slot.call?.callSid === call.callSid && slot.call.botId === call.botId && slot.call.kind === call.kind,
  );
  const newestAtMs = Math.max(...same.map((slot) => slot.call?.handedOverAtMs ?? 0));
  return same.filter(
    (slot) => slot.call && slot.call.handedOverAtMs < newestAtMs && slot.call.hangupSentAtMs === null,
  );
}
