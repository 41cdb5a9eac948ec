import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { ToneBank } from './tone-bank.ts';

/** What a network says without words. `unobtainable` and `information` mean that the number cannot be reached. */
export type ProgressKind = 'ringback' | 'busy' | 'congestion' | 'unobtainable' | 'information' | 'fax';

/**
 * Recognises call progress by its rhythm: ring back, busy, congestion and number unobtainable of India (400 Hz, ring
 * back modulated by 25 Hz) and of ITU-T E.180 (425 Hz and the dual tones near it), special information tones (950,
 * 1400, 1800 Hz in a row) and the answer of a fax machine (2100 Hz). Places are samples at 8 kHz.
 *
 * Voices have energy in the same band; what they do not have is two equal bursts and two equal silences in a row.
 */
export class CallProgress {
  /** Where the pattern began that was reported last. */
  fromSample = 0;
  /** Lengths of the latest bursts and of the silences after them, newest last. */
  private readonly bursts = new Float64Array(MEMORY);
  private readonly gaps = new Float64Array(MEMORY);
  private readonly levels = new Float64Array(MEMORY);
  private known = 0;
  private state: 'off' | 'on' | 'lost' = 'lost';
  private sinceSample = 0;
  private burstDbfs = SILENT_DBFS;
  private strangeReadings = 0;
  private readonly steps: { hz: number; fromSample: number; toSample: number }[] = [];
  private lastKind: ProgressKind | null = null;

  /** One reading of the tone bank, which ends at `atSample`. Returns what it completed. */
  reading(bank: Pick<ToneBank, 'levelDbfs' | 'progressShare'>, atSample: number): ProgressKind | null {
    const isOn = bank.levelDbfs > FAINTEST_BURST_DBFS && bank.progressShare >= MIN_PROGRESS_SHARE;
    if (isOn) return this.onBurst(bank.levelDbfs, atSample);
    const isQuiet = bank.levelDbfs < Math.max(SILENT_DBFS, this.burstDbfs - GAP_DROP_DB);
    if (this.state === 'on') {
      this.bursts[MEMORY - 1] = atSample - this.sinceSample;
      this.levels[MEMORY - 1] = this.burstDbfs;
      this.state = 'off';
      this.sinceSample = atSample;
      this.strangeReadings = 0;
    } else if (!isQuiet && this.state === 'off' && ++this.strangeReadings > MAX_STRANGE_READINGS) {
      // Something else sounds: whatever rhythm there was is not that of a network.
      this.forgetRhythm();
    }
    return null;
  }

  /** A pure tone that is over. Returns what it completed. */
  tone(hz: number, fromSample: number, toSample: number): ProgressKind | null {
    const lengthMs = ((toSample - fromSample) * 1_000) / LINE_RATE_HZ;
    if (Math.abs(hz - FAX_HZ) <= FAX_TOLERANCE_HZ && lengthMs >= FAX_MIN_MS) {
      this.fromSample = fromSample;
      return 'fax';
    }
    const last = this.steps.at(-1);
    const isNext =
      last !== undefined &&
      (fromSample - last.toSample) / LINE_RATE_HZ <= SIT_MAX_GAP_SECONDS &&
      Math.abs(hz - (SIT_HZ[this.steps.length] ?? 0)) <= SIT_TOLERANCE_HZ;
    if (!isNext) this.steps.length = 0;
    if (Math.abs(hz - (SIT_HZ[this.steps.length] ?? 0)) > SIT_TOLERANCE_HZ) return null;
    this.steps.push({ hz, fromSample, toSample });
    if (this.steps.length < SIT_HZ.length) return null;
    this.fromSample = this.steps[0]?.fromSample ?? fromSample;
    this.steps.length = 0;
    return 'information';
  }

  reset(): void {
    this.forgetRhythm();
    this.steps.length = 0;
    this.lastKind = null;
  }

  private onBurst(levelDbfs: number, atSample: number): ProgressKind | null {
    this.burstDbfs = this.state === 'on' ? Math.max(this.burstDbfs, levelDbfs) : levelDbfs;
    if (this.state === 'on') return null;
    const isFirst = this.state === 'lost';
    const gap = atSample - this.sinceSample;
    this.state = 'on';
    this.sinceSample = atSample;
    if (isFirst || gap > MAX_GAP_SAMPLES) {
      this.known = 0;
      return null;
    }
    this.gaps[MEMORY - 1] = gap;
    this.known = Math.min(MEMORY, this.known + 1);
    const kind = this.match();
    if (kind) this.fromSample = atSample - this.total();
    const isNews = kind !== null && kind !== this.lastKind;
    if (kind) this.lastKind = kind;
    this.bursts.copyWithin(0, 1);
    this.gaps.copyWithin(0, 1);
    this.levels.copyWithin(0, 1);
    return isNews ? kind : null;
  }

  private match(): ProgressKind | null {
    for (const { kind, pattern } of CADENCES) {
      const pairs = pattern.length;
      if (this.known < pairs) continue;
      let fits = true;
      for (let pair = 0; pair < pairs && fits; pair++) {
        const at = MEMORY - pairs + pair;
        const [onFrom, onTo, offFrom, offTo] = pattern[pair] as Pair;
        fits = isWithin(this.bursts[at], onFrom, onTo) && isWithin(this.gaps[at], offFrom, offTo);
      }
      if (fits && this.isEven(pairs, kind)) return kind;
    }
    return null;
  }

  /** A network repeats itself exactly: bursts of one loudness, and equal ones where the pattern has equal ones. */
  private isEven(pairs: number, kind: ProgressKind): boolean {
    const first = MEMORY - pairs;
    for (let at = first + 1; at < MEMORY; at++) {
      if (Math.abs((this.levels[at] as number) - (this.levels[first] as number)) > MAX_LEVEL_SWING_DB)
        return false;
      if (Math.abs((this.bursts[at] as number) - (this.bursts[first] as number)) > MAX_LENGTH_SWING)
        return false;
      if (kind === 'ringback') continue;
      if (Math.abs((this.gaps[at] as number) - (this.gaps[first] as number)) > MAX_LENGTH_SWING) return false;
    }
    if (kind !== 'busy' && kind !== 'congestion') return true;
    const ratio = (this.bursts[first] as number) / (this.gaps[first] as number);
    return ratio > 0.6 && ratio < 1.7;
  }

  private total(): number {
    let sum = 0;
    for (let at = MEMORY - Math.min(this.known, MEMORY); at < MEMORY; at++) {
      sum += (this.bursts[at] as number) + (this.gaps[at] as number);
    }
    return sum;
  }

  private forgetRhythm(): void {
    this.known = 0;
    this.state = 'lost';
    this.burstDbfs = SILENT_DBFS;
  }
}

type Pair = readonly [onFromMs: number, onToMs: number, offFromMs: number, offToMs: number];

/**
 * On and off in milliseconds; the first that fits counts. A reading covers 40 ms every 20 ms, hence the tolerance.
 * Congestion is told from busy by its speed (E.180: the faster of the two).
 */
const CADENCES: readonly { kind: ProgressKind; pattern: readonly Pair[] }[] = [
  {
    kind: 'ringback',
    pattern: [
      [330, 470, 130, 270],
      [330, 470, 1_700, 2_300],
    ],
  },
  { kind: 'ringback', pattern: [[600, 2_200, 2_700, 5_200]] },
  {
    kind: 'unobtainable',
    pattern: [
      [2_300, 3_300, 100, 400],
      [2_300, 3_300, 100, 400],
    ],
  },
  {
    kind: 'congestion',
    pattern: [
      [130, 300, 130, 300],
      [130, 300, 130, 300],
      [130, 300, 130, 300],
    ],
  },
  {
    kind: 'busy',
    pattern: [
      [301, 850, 250, 850],
      [301, 850, 250, 850],
    ],
  },
];

const MEMORY = 3;
const SILENT_DBFS = -60;
const FAINTEST_BURST_DBFS = -42;
const MIN_PROGRESS_SHARE = 0.7;
/** The silence of a network is silent; the noise of the line may be in it. */
const GAP_DROP_DB = 6;
const MAX_STRANGE_READINGS = 1;
const MAX_LEVEL_SWING_DB = 2;
const MAX_LENGTH_SWING = 0.045 * LINE_RATE_HZ;
const MAX_GAP_SAMPLES = 5.5 * LINE_RATE_HZ;

/** ITU-T E.180: three tones of 330 ms with hardly a gap. */
const SIT_HZ = [950, 1_400, 1_800] as const;
const SIT_TOLERANCE_HZ = 50;
const SIT_MAX_GAP_SECONDS = 0.12;
const FAX_HZ = 2_100;
const FAX_TOLERANCE_HZ = 15;
/** V.25 asks for 2.6 to 4 s. */
const FAX_MIN_MS = 1_500;

function isWithin(samples: number | undefined, fromMs: number, toMs: number): boolean {
  const ms = ((samples ?? 0) * 1_000) / LINE_RATE_HZ;
  return ms >= fromMs && ms <= toMs;
}
