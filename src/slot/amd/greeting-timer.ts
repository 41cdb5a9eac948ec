/** Lengths in milliseconds (RT-27, D-39). */
export interface GreetingTimes {
  /** A person says no more than this before they wait for an answer. */
  humanSpeechMs: number;
  /** Silence after which a short greeting was a person's. */
  humanSilenceMs: number;
  /** Silence after which a long greeting is over. */
  machineSilenceMs: number;
  /** Nobody says anything. */
  noSpeechMs: number;
  /** Whoever has spoken for this long without any sign of a machine is taken for a person until one comes. */
  decideMs: number;
  /** Later signs are no longer looked at. */
  totalMs: number;
}

export const GREETING_TIMES: GreetingTimes = {
  humanSpeechMs: 2_500,
  humanSilenceMs: 500,
  machineSilenceMs: 1_500,
  noSpeechMs: 10_000,
  decideMs: 2_400,
  totalMs: 20_000,
};

/** What the length of the first thing said after the answer suggests. */
export type GreetingLooks =
  | 'nothing_yet'
  /** Short, and then silence. */
  | 'short'
  /** Longer than a person talks before they wait, and not over. */
  | 'long'
  /** That, and then silence. */
  | 'long_and_over';

/**
 * Measures the first thing said after the answer: a person says little and waits, a machine talks on (RT-27). Pauses
 * shorter than `humanSilenceMs` belong to the greeting. All samples are those of the line clock.
 */
export class GreetingTimer {
  looks: GreetingLooks = 'nothing_yet';
  isSpeaking = false;
  /** -1 until something is said. */
  firstSpeechSample = -1;
  lastSpeechSample = -1;
  /** Longest stretch without a pause of `humanSilenceMs`. */
  longestSpeechMs = 0;
  private stretchFromSample = -1;
  private readonly times: GreetingTimes;
  private readonly perMs: number;

  /** `perMs`: samples of the line clock in a millisecond. */
  constructor(times: GreetingTimes, perMs: number) {
    this.times = times;
    this.perMs = perMs;
  }

  speechStart(atSample: number): void {
    if (this.firstSpeechSample < 0) this.firstSpeechSample = atSample;
    const pauseMs = this.toMs(atSample - this.lastSpeechSample);
    if (this.stretchFromSample < 0 || pauseMs >= this.times.humanSilenceMs) this.stretchFromSample = atSample;
    this.isSpeaking = true;
  }

  /** `atSample`: end of what was said, which is before the moment at which that became certain. */
  speechStop(atSample: number): void {
    this.measure(atSample);
    this.lastSpeechSample = atSample;
    this.isSpeaking = false;
  }

  tick(nowSample: number): void {
    if (this.isSpeaking) this.measure(nowSample);
    if (this.firstSpeechSample < 0 || this.looks === 'long_and_over') return;
    const silenceMs = this.silenceMs(nowSample);
    if (this.longestSpeechMs > this.times.humanSpeechMs) {
      this.looks = silenceMs >= this.times.machineSilenceMs ? 'long_and_over' : 'long';
    } else if (silenceMs >= this.times.humanSilenceMs) this.looks = 'short';
  }

  /** Milliseconds since the last speech; 0 while there is some, and before any. */
  silenceMs(nowSample: number): number {
    return this.isSpeaking || this.lastSpeechSample < 0 ? 0 : this.toMs(nowSample - this.lastSpeechSample);
  }

  private measure(untilSample: number): void {
    if (this.stretchFromSample < 0) return;
    this.longestSpeechMs = Math.max(this.longestSpeechMs, this.toMs(untilSample - this.stretchFromSample));
  }

  private toMs(samples: number): number {
    return samples / this.perMs;
  }
}
