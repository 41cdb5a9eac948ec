import type { AudioRing } from './audio-ring.ts';
import type { SpeechIntervals } from './speech-intervals.ts';

/**
 * From where a new session must hear: what is not settled, less the silence before it, which would only make the
 * caller wait. `lostSamples` of speech are older than the ring. Where the call tells nothing of speech, loudness does.
 */
export function replayStart(
  neededAt: number,
  ring: AudioRing,
  marks: SpeechIntervals,
): { fromAt: number; lostSamples: number } {
  const heldAt = Math.max(neededAt, ring.startAt);
  if (!marks.areKept) return { fromAt: ring.firstLoudAt(heldAt), lostSamples: 0 };
  const speechAt = marks.firstAfter(neededAt);
  if (speechAt === null) {
    return { fromAt: Math.max(heldAt, marks.latestStart(ring.endAt)), lostSamples: 0 };
  }
  const wantedAt = Math.max(neededAt, speechAt);
  return { fromAt: Math.max(heldAt, wantedAt), lostSamples: Math.max(0, heldAt - wantedAt) };
}
