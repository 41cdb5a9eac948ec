import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { WordTiming } from '../../providers/contract/text-to-speech.ts';
import { heardPart } from './heard-part.ts';

/**
 * What the caller heard, as opposed to what was generated (RT-17). One unit is one clause: its text, its audio as
 * sent, and the echo of its mark. The transcript and the model's history both read from here.
 *
 * Evidence, strongest first: the dialler echoed the unit's mark; it was cut, and the voice's timings say after which
 * word; by the clock it must have played out, or have come so far.
 */
export type Evidence = 'mark' | 'words' | 'estimate' | 'none';

/** How far a reply has come with the caller. */
export interface HeardSoFar {
  text: string;
  evidence: Evidence;
  /** What has been made of it beyond that. */
  unheard: string;
}

export interface Unit {
  id: number;
  replyId: number;
  text: string;
  /** What the voice was given for it. */
  spoken: string;
  /** Timings of the voice, as far as they came. */
  words: readonly WordTiming[];
  /** No part of what the bot had to say: a line that bridged a wait. */
  isAside: boolean;
  /** Given by the voice so far; all of it once `isMade`. */
  madeSamples: number;
  isMade: boolean;
  sentSamples: number;
  /** 1, and one more for each time that its end was taken back to be sent again. */
  sending: number;
  /** When its first frame would have been heard, had it been played without a pause; null before one has left. */
  playStartMs: number | null;
  playEndMs: number | null;
  heard: { text: string; evidence: Evidence } | null;
}

/** Speech runs at some 14 characters a second, until this voice has spoken a clause to its end. */
const SAMPLES_PER_CHARACTER = LINE_RATE_HZ / 14;
/** The weight of the latest clause in what is known of the voice's pace. */
const PACE_WEIGHT = 0.3;
/** A word or two says little about the pace. */
const MIN_PACE_CHARACTERS = 12;

export class SpeechLedger {
  /** In the order in which they are heard, as far as that is known. */
  private readonly units = new Map<number, Unit>();
  private nextId = 1;
  private samplesPerCharacter = SAMPLES_PER_CHARACTER;

  /** `spoken` is what the voice is given, where that is not the text itself. */
  add(replyId: number, text: string, options: { spoken?: string; isAside?: boolean } = {}): Unit {
    const unit: Unit = {
      id: this.nextId++,
      replyId,
      text,
      spoken: options.spoken ?? text,
      words: [],
      isAside: options.isAside ?? false,
      madeSamples: 0,
      isMade: false,
      sentSamples: 0,
      sending: 1,
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

  /** The voice gave so much more audio. What gives its first audio is heard behind all that gave some before. */
  made(unitId: number, samples: number): void {
    const unit = this.units.get(unitId);
    if (!unit) return;
    if (unit.madeSamples === 0 && samples > 0) {
      this.units.delete(unitId);
      this.units.set(unitId, unit);
    }
    unit.madeSamples += samples;
  }

  /** The voice has spoken the clause to its end. */
  allMade(unitId: number): void {
    const unit = this.units.get(unitId);
    if (!unit || unit.isMade) return;
    unit.isMade = true;
    if (unit.spoken.length < MIN_PACE_CHARACTERS || unit.madeSamples === 0) return;
    const pace = unit.madeSamples / unit.spoken.length;
    this.samplesPerCharacter += (pace - this.samplesPerCharacter) * PACE_WEIGHT;
  }

  /** The voice says when it speaks which word. */
  timed(unitId: number, words: readonly WordTiming[]): void {
    const unit = this.units.get(unitId);
    if (unit) unit.words = [...unit.words, ...words];
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

  /** The voice broke off: only the words that fit into what it gave can be heard. */
  truncate(unitId: number): void {
    const unit = this.units.get(unitId);
    if (!unit || unit.heard) return;
    unit.text = heardPart({ ...unit, totalSamples: this.totalSamples(unit) }, unit.madeSamples).text;
    unit.spoken = unit.text;
    unit.words = [];
    unit.isMade = true;
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

  /** The reply was cut, and heard up to this moment: settles each of its units that nothing has settled yet. */
  cut(replyId: number, heardUntilMs: number): Unit[] {
    const settled: Unit[] = [];
    for (const unit of this.ofReply(replyId)) {
      if (unit.heard) continue;
      unit.heard = this.heardUntil(unit, heardUntilMs);
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

  /** How long a reply is still to be heard from a moment on, as far as its clauses are known. */
  leftMs(replyId: number, atMs: number): number {
    const open = this.ofReply(replyId).filter((unit) => unit.heard === null);
    const samples = open.reduce((sum, unit) => sum + this.totalSamples(unit) - heardSamples(unit, atMs), 0);
    return (samples * 1000) / LINE_RATE_HZ;
  }

  /** The weakest evidence of a reply, which is what its transcript entry can claim. */
  evidence(replyId: number): Evidence {
    return weakest(this.ofReply(replyId).map((unit) => unit.heard?.evidence ?? 'none'));
  }

  /** What {@link cut} would find at this moment of a reply that goes on; settles nothing. */
  heardSoFar(replyId: number, heardUntilMs: number): HeardSoFar {
    const units = this.ofReply(replyId);
    const parts = units.map((unit) => unit.heard ?? this.heardUntil(unit, heardUntilMs));
    const own = units.map((unit, index) =>
      unit.isAside ? '' : unit.text.slice(parts[index]?.text.length ?? 0).trim(),
    );
    return {
      text: joined(parts.map(({ text }) => text)),
      evidence: weakest(parts.map(({ evidence }) => evidence)),
      unheard: joined(own),
    };
  }

  private heardUntil(unit: Unit, heardUntilMs: number) {
    const clause = { ...unit, totalSamples: this.totalSamples(unit) };
    return heardPart(clause, heardSamples(unit, heardUntilMs));
  }

  /** All the audio of a unit, or what it will come to at the pace of this voice. */
  private totalSamples(unit: Unit): number {
    return unit.isMade
      ? unit.madeSamples
      : Math.max(unit.madeSamples, unit.spoken.length * this.samplesPerCharacter);
  }
}

/** How much of a unit the caller had heard at a moment. */
function heardSamples(unit: Unit, atMs: number): number {
  if (unit.playStartMs === null) return 0;
  return Math.min(((atMs - unit.playStartMs) * LINE_RATE_HZ) / 1000, unit.sentSamples);
}

function weakest(all: readonly Evidence[]): Evidence {
  return (['estimate', 'words', 'mark'] as const).find((evidence) => all.includes(evidence)) ?? 'none';
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
