import { FRAME_SAMPLES } from '../../contracts/limits.ts';
import type { LineClock } from '../audio/line-clock.ts';
import type { Recorder } from '../record/recorder.ts';
import { AgentMixer } from './agent-mixer.ts';
import type { HandoffRoom } from './handoff-room.ts';

/** Frames that are gathered before a stream begins, or begins anew after it ran dry: 60 ms against uneven arrival. */
const CUSHION_FRAMES = 3;
/** The room's clock may run faster than the line's: what would be heard so much later is left out. */
const MAX_AHEAD_MS = 300;

/** The line on which people of a room are heard by a caller on a socket. */
interface StreamLine {
  /** One frame that waits behind what was sent before. Keeps the memory. */
  stream(frame: Int16Array): void;
  /** How far the line is ahead of the caller's ear. */
  readonly aheadMs: number;
}

/** Plays a live stream of frames on a line: with a cushion in front, and never with more delay than is bearable. */
export class AgentAudio {
  private readonly line: StreamLine;
  private cushion: Int16Array[] = [];
  private isFlowing = false;

  constructor(line: StreamLine) {
    this.line = line;
  }

  /** The memory is the caller's again when this returns. */
  frame(frame: Int16Array): void {
    const { line } = this;
    const { aheadMs } = line;
    if (aheadMs > MAX_AHEAD_MS) return;
    if (aheadMs <= 0) this.isFlowing = false;
    const own = Int16Array.from(frame.subarray(0, FRAME_SAMPLES));
    if (this.isFlowing) {
      line.stream(own);
      return;
    }
    this.cushion.push(own);
    if (this.cushion.length < CUSHION_FRAMES) return;
    this.isFlowing = true;
    for (const waiting of this.cushion.splice(0)) line.stream(waiting);
  }

  /** Nothing of what has not been heard yet is wanted any more. */
  stop(): void {
    this.cushion = [];
    this.isFlowing = false;
  }
}

export interface AgentVoicesParts {
  place: HandoffRoom;
  /** On which a caller on a socket hears them. */
  line: StreamLine;
  /** For who records only. */
  recorder: Recorder | null;
  clock: LineClock;
}

/**
 * The people of a room who are heard, as the slot hears them: on a bridge for the caller, whose line and recording they
 * go through; else for the recording alone, since the caller has them from the room.
 */
export class AgentVoices {
  private readonly parts: AgentVoicesParts;
  private readonly audio: AgentAudio;
  private readonly mixer = new AgentMixer((frame) => this.take(frame));
  private readonly heard = new Set<string>();
  private recordedTo = 0;
  /** While nobody has taken over, a voice in the room is not heard: the caller has the music. */
  isOpen = false;

  constructor(parts: AgentVoicesParts) {
    this.parts = parts;
    this.audio = new AgentAudio(parts.line);
  }

  /** These are there now; all of them are heard, and nobody else. */
  update(talkers: readonly string[]): void {
    for (const identity of talkers) if (!this.heard.has(identity)) this.hear(identity);
    for (const identity of [...this.heard]) if (!talkers.includes(identity)) this.unhear(identity);
  }

  /** What has not been heard yet is not wanted any more. */
  drop(): void {
    this.audio.stop();
  }

  close(): void {
    this.isOpen = false;
    this.update([]);
  }

  private hear(identity: string): void {
    this.heard.add(identity);
    this.mixer.add(identity);
    this.parts.place.hear(identity, (wide) => this.mixer.heard(identity, wide));
  }

  private unhear(identity: string): void {
    this.heard.delete(identity);
    this.mixer.remove(identity);
    this.parts.place.unhear(identity);
  }

  private take(frame: Int16Array): void {
    if (!this.isOpen) return;
    const { place, recorder, clock } = this.parts;
    if (place.isBridge) {
      this.audio.frame(frame);
      return;
    }
    this.recordedTo = Math.max(this.recordedTo, clock.samples);
    recorder?.bot(frame, this.recordedTo);
    this.recordedTo += frame.length;
  }
}
