import { LINE_RATE_HZ } from '../../contracts/limits.ts';

/**
 * What the caller heard, as opposed to what was generated (RT-17). One unit is one clause: its text, its audio as
 * sent, and the echo of its mark. The transcript and the model's history both read from here.
 *
 * Evidence, strongest first: the dialler echoed the unit's mark; by the clock it must have played out; it was cut,
 * and the clock says how far it came.
 */
export interface Unit {
  id: number;
  replyId: number;
  text: string;
  /** No part of what the bot had to say: a line that bridged a wait. */
  isAside: boolean;
  sentSamples: number;
  /** 1, and one more for each time that its end was taken back to be sent again. */
  sending: number;
  synthesisDone: boolean;
  /** When its first frame would have been heard, had it been played without a pause; null before one has left. */
  playStartMs: number | null;
  playEndMs: number | null;
  heard: { text: string; evidence: 'mark' | 'estimate' | 'none' } | null;
}

/** Speech runs at some 14 characters a second; the estimate for a clause whose audio is not complete. */
const SAMPLES_PER_CHARACTER = LINE_RATE_HZ / 14;

export class SpeechLedger {
  private readonly units = new Map<number, Unit>();
  private nextId = 1;

  add(replyId: number, text: string, options: { isAside?: boolean } = {}): Unit {
    const unit: Unit = {
      id: this.nextId++,
      replyId,
      text,
      isAside: options.isAside ?? false,
      sentSamples: 0,
      sending: 1,
      synthesisDone: false,
      playStartMs: null,
      playEndMs: null,
      heard: null,
    };
    this.units.set(unit.id, unit);
    return unit;
  }

  get(unitId: number): Unit | undefined {
    return this.units.get(unitId);
  }

  ofReply(replyId: number): Unit[] {
    return [...this.units.values()].filter((unit) => unit.replyId === replyId);
  }

  /** Some of what was sent will be sent again; with 0 samples, the end of the unit. */
  unsent(unitId: number, samples: number): void {
    const unit = this.units.get(unitId);
    if (!unit || unit.heard) return;
    unit.sentSamples -= samples;
    if (unit.sentSamples <= 0) unit.playStartMs = null;
    if (samples > 0 || unit.playEndMs === null) return;
    unit.playEndMs = null;
    unit.sending++;
  }

  /** The voice broke off after so much audio: only the words that fit into it can be heard. */
  truncate(unitId: number, samples: number): void {
    const unit = this.units.get(unitId);
    if (!unit || unit.heard) return;
    unit.text = cutAtWord(unit.text, samples / (unit.text.length * SAMPLES_PER_CHARACTER));
    if (unit.text === '') unit.heard = { text: '', evidence: 'none' };
  }

  /** The dialler played this unit to its end. A mark that comes late, twice or for a cut unit changes nothing. */
  markEchoed(unitId: number): Unit | null {
    const unit = this.units.get(unitId);
    if (!unit || (unit.heard && unit.heard.evidence !== 'estimate')) return null;
    if (unit.heard && unit.heard.text !== unit.text) return null;
    unit.heard = { text: unit.text, evidence: 'mark' };
    return unit;
  }

  /** By the clock the unit must have played out, though no mark came back. */
  assumePlayed(unitId: number): Unit | null {
    const unit = this.units.get(unitId);
    if (!unit || unit.heard) return null;
    unit.heard = { text: unit.text, evidence: 'estimate' };
    return unit;
  }

  /** The reply was cut now: settles each of its units that nothing has settled yet. */
  cut(replyId: number, nowMs: number): Unit[] {
    const settled: Unit[] = [];
    for (const unit of this.ofReply(replyId)) {
      if (unit.heard) continue;
      const text = cutAtWord(unit.text, heardFraction(unit, nowMs));
      unit.heard = { text, evidence: text === '' ? 'none' : 'estimate' };
      settled.push(unit);
    }
    return settled;
  }

  /** What the caller heard of a reply so far. */
  heardText(replyId: number): string {
    return joined(this.ofReply(replyId).map((unit) => unit.heard?.text ?? ''));
  }

  /** The same as far as it belongs to the conversation, which is what the model is told. */
  heardAnswer(replyId: number): string {
    const own = this.ofReply(replyId).filter((unit) => !unit.isAside);
    return joined(own.map((unit) => unit.heard?.text ?? ''));
  }

  /** What was meant and not heard of a reply that was cut. */
  unheardText(replyId: number): string {
    const own = this.ofReply(replyId).filter((unit) => !unit.isAside);
    return joined(own.map((unit) => unit.text.slice(unit.heard?.text.length ?? 0).trim()));
  }

  /** The weakest evidence of a reply, which is what its transcript entry can claim. */
  evidence(replyId: number): 'mark' | 'estimate' | 'none' {
    const all = this.ofReply(replyId).map((unit) => unit.heard?.evidence ?? 'none');
    const heard = all.filter((evidence) => evidence !== 'none');
    if (heard.length === 0) return 'none';
    return heard.every((evidence) => evidence === 'mark') ? 'mark' : 'estimate';
  }
}

/** How much of a unit the caller had heard at a moment, 0 to 1. */
function heardFraction(unit: Unit, nowMs: number): number {
  if (unit.playStartMs === null) return 0;
  const playedSamples = Math.min(((nowMs - unit.playStartMs) * LINE_RATE_HZ) / 1000, unit.sentSamples);
  const totalSamples = unit.synthesisDone
    ? unit.sentSamples
    : Math.max(unit.sentSamples, unit.text.length * SAMPLES_PER_CHARACTER);
  return totalSamples === 0 ? 0 : Math.min(1, Math.max(0, playedSamples / totalSamples));
}

/** The whole words within the first `fraction` of a text; characters stand for time. */
export function cutAtWord(text: string, fraction: number): string {
  if (fraction >= 1) return text;
  const limit = Math.floor(text.length * fraction);
  if (limit <= 0) return '';
  if (/\s/.test(text.charAt(limit))) return text.slice(0, limit).trimEnd();
  const lastSpace = text.slice(0, limit).search(/\s\S*$/);
  return lastSpace === -1 ? '' : text.slice(0, lastSpace).trimEnd();
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
