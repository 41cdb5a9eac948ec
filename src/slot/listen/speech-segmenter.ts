import { LINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../contracts/limits.ts';
import type { VadConfig } from '../../contracts/runtime-config.ts';

/** Start values for telephone lines (D-36). */
const DEFAULT_START_PROBABILITY = 0.6;
const DEFAULT_STOP_PROBABILITY = 0.45;
const DEFAULT_START_MS = 160;
const DEFAULT_STOP_MS = 224;
/** One quiet window may interrupt a beginning: the closure of a stop consonant is that long (RT-02). */
const QUIET_WINDOWS_WHILE_STARTING = 1;

/** All indexes count received caller samples from the call's first one (RT-10). */
export type SpeechEvent =
  | {
      type: 'speech_start';
      /** First sample of the first window that held speech. */
      atSample: number;
      /** End of the window that made the start certain. */
      confirmedAtSample: number;
    }
  | {
      type: 'speech_stop';
      /** End of the last window that held speech. */
      atSample: number;
      /** End of the window that made the stop certain. */
      confirmedAtSample: number;
    };

/**
 * Turns voice-activity probabilities into speech segments, in two steps. First each window is called voiced or not,
 * with hysteresis: voice begins at the start probability and goes on until it falls below the stop probability (RT-02).
 * Then `start_ms` of voiced windows open a segment and `stop_ms` of unvoiced ones close it; where audio stops coming,
 * the silence that is filled in for it does (RT-03). No clock is read: the result depends on the samples only, however they were chunked on the way.
 */
export class SpeechSegmenter {
  private readonly startProbability: number;
  private readonly stopProbability: number;
  private readonly startSamples: number;
  private readonly stopSamples: number;
  private voiced = false;
  private isOpen = false;
  /** First sample of the beginning that is being watched; -1 while there is none. */
  private beginSample = -1;
  private voicedSamples = 0;
  private quietWindows = 0;
  private stoppedSample = 0;
  private endSample = 0;

  constructor(config: VadConfig) {
    this.startProbability = config.start_probability ?? DEFAULT_START_PROBABILITY;
    // Leaving above entering would switch in every window; the lower of the two counts.
    this.stopProbability = Math.min(
      config.stop_probability ?? DEFAULT_STOP_PROBABILITY,
      this.startProbability,
    );
    this.startSamples = samplesOf(config.start_ms ?? DEFAULT_START_MS);
    this.stopSamples = samplesOf(config.stop_ms ?? DEFAULT_STOP_MS);
  }

  /** Whether a segment is open. */
  get speaking(): boolean {
    return this.isOpen;
  }

  /**
   * The next window's verdict; `windowStartSample` is the index of its first sample and never goes back. Returns what
   * it made certain, if anything.
   */
  push(probability: number, windowStartSample: number): SpeechEvent | null {
    this.endSample = windowStartSample + VAD_WINDOW_SAMPLES;
    this.voiced = probability >= (this.voiced ? this.stopProbability : this.startProbability);
    return this.isOpen ? this.whileSpeaking() : this.whileQuiet(windowStartSample);
  }

  private whileQuiet(windowStartSample: number): SpeechEvent | null {
    if (!this.voiced) {
      if (this.beginSample >= 0 && ++this.quietWindows > QUIET_WINDOWS_WHILE_STARTING) {
        this.beginSample = -1;
      }
      return null;
    }
    if (this.beginSample < 0) {
      this.beginSample = windowStartSample;
      this.voicedSamples = 0;
      this.quietWindows = 0;
    }
    this.voicedSamples += VAD_WINDOW_SAMPLES;
    if (this.voicedSamples < this.startSamples) return null;
    this.isOpen = true;
    this.stoppedSample = this.endSample;
    return { type: 'speech_start', atSample: this.beginSample, confirmedAtSample: this.endSample };
  }

  private whileSpeaking(): SpeechEvent | null {
    if (this.voiced) {
      this.stoppedSample = this.endSample;
      return null;
    }
    return this.endSample - this.stoppedSample >= this.stopSamples ? this.stop() : null;
  }

  private stop(): SpeechEvent {
    this.isOpen = false;
    this.beginSample = -1;
    return {
      type: 'speech_stop',
      atSample: this.stoppedSample,
      confirmedAtSample: this.endSample,
    };
  }
}

function samplesOf(ms: number): number {
  return Math.round((ms * LINE_RATE_HZ) / 1000);
}
