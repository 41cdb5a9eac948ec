import { FRAME_SAMPLES } from '../contracts/limits.ts';

/** A frame at or above this level counts as voice: well above a line's noise, well below quiet speech. */
export const VOICE_DBFS = -45;
/** A pause this long between two words ends a stretch of voice. */
const PAUSE_MS = 600;

/** RMS level in dBFS of 16-bit samples; -100 for silence. */
export function levelDbfs(samples: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i] as number;
    sum += value * value;
  }
  if (sum === 0) return -100;
  return Math.max(-100, 10 * Math.log10(sum / samples.length / (32_768 * 32_768)));
}

/** Words end within this of a recording's loudest frame; what follows is breath, room and line noise. */
const BELOW_LOUDEST_DB = 20;

/** Where the speech of a clip ends: the sample behind its last voiced frame of 20 ms; 0 when all of it is quiet. */
export function endOfSpeech(samples: Int16Array): number {
  const levels: number[] = [];
  for (let from = 0; from < samples.length; from += FRAME_SAMPLES) {
    levels.push(levelDbfs(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  const loudest = levels.reduce((most, level) => Math.max(most, level), -100);
  const floor = Math.max(VOICE_DBFS, loudest - BELOW_LOUDEST_DB);
  return Math.min(samples.length, (levels.findLastIndex((level) => level >= floor) + 1) * FRAME_SAMPLES);
}

export type VoiceChange = { change: 'started'; atMs: number } | { change: 'stopped'; atMs: number };

/** Follows one side of a line by its level: when voice began, and when it ended, stamped with its last voiced frame. */
export class VoiceTracker {
  speaking = false;
  lastVoiceAtMs = Number.NEGATIVE_INFINITY;

  /** Takes the next frame, played at `atMs`. */
  take(samples: Int16Array, atMs: number): VoiceChange | null {
    if (levelDbfs(samples) >= VOICE_DBFS) {
      this.lastVoiceAtMs = atMs;
      if (this.speaking) return null;
      this.speaking = true;
      return { change: 'started', atMs };
    }
    if (!this.speaking || atMs - this.lastVoiceAtMs < PAUSE_MS) return null;
    return this.stop();
  }

  /** Ends a stretch of voice now, because the audio behind it was dropped. */
  stop(): VoiceChange | null {
    if (!this.speaking) return null;
    this.speaking = false;
    return { change: 'stopped', atMs: this.lastVoiceAtMs };
  }
}
