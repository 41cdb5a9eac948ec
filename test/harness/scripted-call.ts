import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import type { CallEvent } from '../../src/contracts/call-events.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../src/contracts/limits.ts';
import type { Appliance } from './appliance.ts';
import type { ForeignPlane } from './foreign-plane.ts';
import { placeWhenFree } from './place-call.ts';

/** Places one call to a bot of this kind, lets `live` drive it to its end, and resolves to the result that it leaves. */
export async function resultOfCall(
  harness: { plane: ForeignPlane; appliance: Appliance },
  bot: Record<string, unknown>,
  live: (call: DiallerCall) => Promise<unknown>,
): Promise<CallResults> {
  const { plane, appliance } = harness;
  const body = plane.scriptedBot(bot);
  plane.config = () => ({ status: 200, body });
  const call = await placeWhenFree({ url: `${appliance.callUrl}scripted` });
  try {
    await live(call);
  } finally {
    await call.hangUp();
  }
  return plane.resultOf(body.session_id);
}

/** The first event of this name. */
export function eventNamed(result: CallResults, name: CallEvent['event']): CallEvent | undefined {
  return result.events.find(({ event }) => event === name) as CallEvent | undefined;
}

/** What the bot said, in order, as far as it was heard. */
export function saidByBot(result: CallResults): string[] {
  return result.transcript.filter(({ speaker }) => speaker === 'bot').map(({ text }) => text);
}

/** Stretches of sound in a track, in seconds of the line; pauses below `pauseMs` do not end one. */
export function soundIn(samples: Int16Array, pauseMs = 200): { from: number; to: number }[] {
  const stretches: { from: number; to: number }[] = [];
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    const frame = samples.subarray(at, at + FRAME_SAMPLES);
    if (!frame.some((value) => Math.abs(value) > 300)) continue;
    const [from, to] = [at / LINE_RATE_HZ, (at + frame.length) / LINE_RATE_HZ];
    const last = stretches.at(-1);
    if (last && (from - last.to) * 1_000 < pauseMs) last.to = to;
    else stretches.push({ from, to });
  }
  return stretches;
}
