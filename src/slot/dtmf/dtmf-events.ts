import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { keyPlace } from './dtmf-keys.ts';

/** One key, however the line brought it (RT-32). `atSample` counts the line clock. */
export interface DigitEvent {
  digit: string;
  by: 'signalled' | 'in_band';
  atSample: number;
}

/**
 * Makes one stream of digits of what the transport signals and what is heard in the audio. Many lines bring a key both
 * ways: the signal counts, and once a line has signalled a key, its audio is no longer believed. The first key may be
 * heard before its signal comes; then the signal is the duplicate.
 */
export class DigitLine {
  private signals = 0;
  private heard: DigitEvent | null = null;
  private duplicates = 0;

  /** A digit message of the transport; null where it is no key or was heard in the audio just before. */
  signalled(digit: string, atSample: number): DigitEvent | null {
    const key = digit.trim().toUpperCase();
    if (!keyPlace(key)) return null;
    this.signals++;
    const first = this.heard;
    this.heard = null;
    if (first?.digit === key && atSample - first.atSample <= DUPLICATE_SAMPLES) {
      this.duplicates++;
      return null;
    }
    return { digit: key, by: 'signalled', atSample };
  }

  /** A key found in the audio; null on a line that signals its keys. */
  inBand(digit: string, atSample: number): DigitEvent | null {
    if (this.signals > 0) {
      this.duplicates++;
      return null;
    }
    this.heard = { digit, by: 'in_band', atSample };
    return this.heard;
  }

  /** Whether the audio still has to be searched for keys. */
  get needsDetector(): boolean {
    return this.signals === 0;
  }

  /** Keys that came both ways. */
  get duplicateCount(): number {
    return this.duplicates;
  }
}

/** A signal may come this much later than its sound: carriers send it at the end of the key, over another path. */
const DUPLICATE_SAMPLES = 1.5 * LINE_RATE_HZ;
