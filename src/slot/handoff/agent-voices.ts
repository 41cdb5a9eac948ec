import type { LineClock } from '../audio/line-clock.ts';
import type { Recorder } from '../record/recorder.ts';
import { AgentAudio, type StreamLine } from './agent-audio.ts';
import { AgentMixer } from './agent-mixer.ts';
import type { HandoffRoom } from './handoff-room.ts';

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
