import type { AudioRing } from './audio-ring.ts';

/** Stretches of speech that are kept; older ones are long out of the ring. */
const MAX_MARKS = 64;
/** Speech is told a little late: what counts as speech begins this much before it was told. */
const PRE_ROLL_S = 0.5;
/** Marks this close together are one stretch. */
const JOIN_S = 0.3;

/** Where in the caller's audio somebody spoke, as far as the call's own ears told. Positions are samples. */
export class SpeechIntervals {
  private readonly sampleRate: number;
  private marks: { fromAt: number; toAt: number }[] = [];
  private everTold = false;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** Whether anybody tells at all. */
  get areKept(): boolean {
    return this.everTold;
  }

  add(toAt: number, ms: number): void {
    this.everTold = true;
    const fromAt = Math.max(0, toAt - Math.round((ms * this.sampleRate) / 1000));
    const last = this.marks.at(-1);
    if (last && fromAt <= last.toAt + this.sampleRate * JOIN_S) last.toAt = Math.max(last.toAt, toAt);
    else this.marks.push({ fromAt, toAt });
    if (this.marks.length > MAX_MARKS) this.marks.shift();
  }

  /** Where the speech begins that ends after a position; null where there is none. May lie before the position. */
  firstAfter(at: number): number | null {
    const mark = this.marks.find((candidate) => candidate.toAt > at);
    return mark ? Math.max(0, mark.fromAt - Math.round(this.sampleRate * PRE_ROLL_S)) : null;
  }

  /** How much speech there is between two positions, in milliseconds. */
  msBetween(fromAt: number, toAt: number): number {
    let samples = 0;
    for (const mark of this.marks) {
      samples += Math.max(0, Math.min(mark.toAt, toAt) - Math.max(mark.fromAt, fromAt));
    }
    return (samples * 1000) / this.sampleRate;
  }

  /** Whether there is any speech between two positions. */
  any(fromAt: number, toAt: number): boolean {
    return this.marks.some((mark) => mark.toAt > fromAt && mark.fromAt < toAt);
  }

  /** Where to begin at the latest when nothing was told yet: speech that has just begun. */
  latestStart(endAt: number): number {
    return Math.max(0, endAt - Math.round(this.sampleRate * PRE_ROLL_S));
  }
}

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
