import { FRAME_SAMPLES } from '../../contracts/limits.ts';
import { HalveRate } from '../audio/half-rate.ts';

/** So much of one voice may wait for the others; what is older is dropped. */
const MAX_WAITING_SAMPLES = 20 * FRAME_SAMPLES;
/** A voice that has not come for so long is not waited for: the others go on without it. */
const LATE_SAMPLES = 3 * FRAME_SAMPLES;

interface Voice {
  halve: HalveRate;
  waiting: Int16Array;
  length: number;
}

/**
 * Puts the people of a room together into one stream at line rate. Each comes in their own pieces at 16 kHz; a frame
 * leaves once everybody has one, or when somebody is late. It has no clock of its own: frames leave as fast as
 * somebody's audio comes in.
 */
export class AgentMixer {
  private readonly voices = new Map<string, Voice>();
  private readonly frame = new Int16Array(FRAME_SAMPLES);
  private readonly onFrame: (frame: Int16Array) => void;

  /** `onFrame` gets one frame of 20 ms at 8 kHz, whose memory is overwritten by the next one. */
  constructor(onFrame: (frame: Int16Array) => void) {
    this.onFrame = onFrame;
  }

  add(identity: string): void {
    if (this.voices.has(identity)) return;
    this.voices.set(identity, {
      halve: new HalveRate(),
      waiting: new Int16Array(MAX_WAITING_SAMPLES),
      length: 0,
    });
  }

  remove(identity: string): void {
    this.voices.delete(identity);
  }

  /** Audio of one person at 16 kHz. */
  heard(identity: string, wide: Int16Array): void {
    const voice = this.voices.get(identity);
    if (!voice) return;
    for (const sample of wide) {
      const halved = voice.halve.push(sample);
      if (Number.isNaN(halved)) continue;
      if (voice.length === MAX_WAITING_SAMPLES) this.drop(voice, FRAME_SAMPLES);
      voice.waiting[voice.length++] = Math.max(-32_768, Math.min(32_767, Math.round(halved)));
    }
    this.mixDue();
  }

  private mixDue(): void {
    for (;;) {
      let longest = 0;
      let isWhole = this.voices.size > 0;
      for (const voice of this.voices.values()) {
        longest = Math.max(longest, voice.length);
        if (voice.length < FRAME_SAMPLES) isWhole = false;
      }
      if (!isWhole && longest < LATE_SAMPLES + FRAME_SAMPLES) return;
      this.mix();
    }
  }

  private mix(): void {
    const { frame } = this;
    for (let at = 0; at < FRAME_SAMPLES; at++) {
      let sum = 0;
      for (const voice of this.voices.values()) if (at < voice.length) sum += voice.waiting[at] ?? 0;
      frame[at] = sum > 32_767 ? 32_767 : Math.max(sum, -32_768);
    }
    for (const voice of this.voices.values()) this.drop(voice, Math.min(FRAME_SAMPLES, voice.length));
    this.onFrame(frame);
  }

  private drop(voice: Voice, samples: number): void {
    voice.waiting.copyWithin(0, samples, voice.length);
    voice.length -= samples;
  }
}
