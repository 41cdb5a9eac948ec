import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { HalveRate } from '../audio/half-rate.ts';
import { COLUMN_HZ, keyAt, ROW_HZ } from './dtmf-keys.ts';

/** A key whose tones have stood for long enough; positions are samples of the line clock, at the rate of the line. */
export interface InBandDigit {
  digit: string;
  fromSample: number;
  atSample: number;
}

/** 20 ms are looked at, every 5 ms: a tone of 40 ms fills at least four windows, one of 20 ms one or two. */
const WINDOW_SAMPLES = 160;
const HOP_SAMPLES = 40;
const HITS_TO_ACCEPT = 4;
/** The first of them may hold only the beginning of the tone, which bends its phase. */
const HITS_COMPARED = 3;
/** So long without its tones ends a key (ITU-T Q.24: pauses of 40 ms are pauses, breaks of 10 ms are not). */
const MISSES_TO_RELEASE = 4;

/** Faintest tone: -36 dBm0, some way below what Q.24 asks a receiver to take. */
const FAINTEST_POWER = (32_768 * 10 ** (-39 / 20)) ** 2 / 2;
/** The two tones hold this much of all the power; 10 dB of noise above them would leave 0.91. */
const MIN_SHARE = 0.7;
/** Each is this much stronger than the others of its group: 6 dB. */
const MIN_LEAD = 4;
/** The column may be up to 6 dB stronger than the row and 9 dB weaker (Q.24 asks for 4 and 8). */
const MAX_COLUMN_OVER_ROW = 4;
const MAX_ROW_OVER_COLUMN = 8;
/** Voices have overtones; keys have none: second harmonics stay 12 dB below. */
const MAX_OVERTONE = 0.063;
/** Q.24: 1.5 % off is a key, 3.5 % is not. */
const MAX_OFF_FREQUENCY = 0.019;
/** Whatever a key's frequency is, it stays: three readings in 10 dB of noise lie within 6 Hz. Partials of a voice glide. */
const MAX_GLIDE_HZ = 6;
/** A steady tone is equally strong in each window; one that fills only a part of it is weaker. */
const MIN_STEADINESS = 0.56;

/**
 * Hears keys in the audio of lines that do not signal them (RT-32). Eight Goertzel filters and their overtones, with
 * guards against voices: twist, purity, overtones, and the phase from window to window, which gives the true frequency.
 * Takes blocks of any length at 8 or 16 kHz; allocates nothing but the digits.
 */
export class DtmfDetector {
  private readonly window = new Float64Array(WINDOW_SAMPLES);
  /** The same with its edges faded, in which one group of tones does not show in the other's phase. */
  private readonly faded = new Float64Array(WINDOW_SAMPLES);
  private filled = 0;
  private readonly halver: HalveRate | null;
  private readonly factor: number;
  private readonly rows = new Group(ROW_HZ);
  private readonly columns = new Group(COLUMN_HZ);
  private place = 0;
  private origin = 0;
  private expected = 0;
  /** The key being watched (16 keys by row and column, -1 for none), and how often it was there in a row. */
  private key = -1;
  private hits = 0;
  private misses = 0;
  private strongest = 0;
  private isReported = false;

  constructor(rateHz: 8_000 | 16_000 = LINE_RATE_HZ) {
    this.factor = rateHz / LINE_RATE_HZ;
    this.halver = rateHz === LINE_RATE_HZ ? null : new HalveRate();
  }

  /** Audio from `fromSample` of the line clock on. A jump of the clock begins anew, as if nothing had been heard. */
  feed(samples: Int16Array, fromSample: number): readonly InBandDigit[] {
    if (fromSample !== this.expected) this.restart(fromSample);
    this.expected = fromSample + samples.length;
    let digits: InBandDigit[] | null = null;
    for (let at = 0; at < samples.length; at++) {
      let value = samples[at] as number;
      if (this.halver) {
        value = this.halver.push(value);
        if (Number.isNaN(value)) continue;
      }
      this.place++;
      this.window[this.filled++] = value;
      if (this.filled < WINDOW_SAMPLES) continue;
      if (this.onWindow()) {
        digits ??= [];
        digits.push(this.digit());
      }
      this.window.copyWithin(0, HOP_SAMPLES);
      this.filled = WINDOW_SAMPLES - HOP_SAMPLES;
    }
    return digits ?? NONE;
  }

  /** Whether a key has just become certain. */
  private onWindow(): boolean {
    const key = this.keyInWindow();
    const power = key < 0 ? 0 : this.rows.bestPower + this.columns.bestPower;
    if (key >= 0 && key === this.key) {
      this.misses = 0;
      if (this.isReported) return false;
      // Growing: the first windows held only the beginning of the tone.
      if (power * MIN_STEADINESS > this.strongest) this.hits = 0;
      if (power >= this.strongest * MIN_STEADINESS) this.hits++;
      this.strongest = Math.max(this.strongest, power);
      this.rows.remember(this.hits);
      this.columns.remember(this.hits);
      if (this.hits < HITS_TO_ACCEPT || this.rows.glides() || this.columns.glides()) return false;
      this.isReported = true;
      return true;
    }
    // A key that was taken holds through a short break and through whatever sounds in it.
    if (this.isReported && ++this.misses < MISSES_TO_RELEASE) return false;
    this.key = key;
    this.hits = key < 0 ? 0 : 1;
    this.misses = 0;
    this.strongest = power;
    this.isReported = false;
    return false;
  }

  /** The key whose tones this window holds, or -1. */
  private keyInWindow(): number {
    const { window } = this;
    let energy = 0;
    for (let n = 0; n < WINDOW_SAMPLES; n++) energy += (window[n] as number) * (window[n] as number);
    const total = energy / WINDOW_SAMPLES;
    const isLoud = total >= FAINTEST_POWER;
    for (let n = 0; n < WINDOW_SAMPLES; n++) this.faded[n] = (window[n] as number) * (FADE[n] as number);
    this.rows.measure(window, this.faded, isLoud);
    this.columns.measure(window, this.faded, isLoud);
    if (!isLoud) return -1;
    const row = this.rows.bestPower;
    const column = this.columns.bestPower;
    if (row < FAINTEST_POWER || column < FAINTEST_POWER) return -1;
    if (column > row * MAX_COLUMN_OVER_ROW || row > column * MAX_ROW_OVER_COLUMN) return -1;
    if ((row + column) / total < MIN_SHARE) return -1;
    if (!this.rows.isClear() || !this.columns.isClear()) return -1;
    // The octave of a row may lie beside the column, which then shows in it.
    const leak = sideLobe(2 * (ROW_HZ[this.rows.best] as number) - (COLUMN_HZ[this.columns.best] as number));
    if (this.rows.overtone(window) > row * MAX_OVERTONE + column * leak) return -1;
    if (this.columns.overtone(window) > column * MAX_OVERTONE) return -1;
    return this.rows.best * 4 + this.columns.best;
  }

  private digit(): InBandDigit {
    const heard = WINDOW_SAMPLES + (HITS_TO_ACCEPT - 1) * HOP_SAMPLES;
    return {
      digit: keyAt(this.key >> 2, this.key & 3),
      fromSample: this.origin + Math.max(0, this.place - heard) * this.factor,
      atSample: this.origin + this.place * this.factor,
    };
  }

  private restart(fromSample: number): void {
    this.origin = fromSample;
    this.place = 0;
    this.filled = 0;
    this.key = -1;
    this.hits = 0;
    this.misses = 0;
    this.isReported = false;
    this.halver?.reset();
  }
}

const NONE: readonly InBandDigit[] = [];

const FADE = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW_SAMPLES),
);

/** Four frequencies of which a key has one. */
class Group {
  best = 0;
  /** Power of the strongest, corrected for how far beside its frequency it lies. */
  bestPower = 0;
  private next = 0;
  private offHz = 0;
  private hasPhase = false;
  private readonly hz: readonly number[];
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;
  /** Of the filter that ran last. */
  private real = 0;
  private imaginary = 0;
  /** The strongest in the window before, -1 for none, and its phase. */
  private lastBest = -1;
  private lastPhase = 0;
  private readonly offsets = new Float64Array(HITS_COMPARED);

  constructor(hz: readonly number[]) {
    this.hz = hz;
    this.cosines = Float64Array.from(hz, (one) => Math.cos((2 * Math.PI * one) / LINE_RATE_HZ));
    this.sines = Float64Array.from(hz, (one) => Math.sin((2 * Math.PI * one) / LINE_RATE_HZ));
  }

  measure(window: Float64Array, faded: Float64Array, isLoud: boolean): void {
    if (!isLoud) {
      this.lastBest = -1;
      return;
    }
    let best = 0;
    let next = 0;
    for (let at = 0; at < 4; at++) {
      const power = this.filter(window, at);
      if (power > best) {
        next = best;
        best = power;
        this.best = at;
      } else if (power > next) next = power;
    }
    this.next = next;
    this.filter(faded, this.best);
    this.findFrequency(Math.atan2(this.imaginary, this.real));
    this.bestPower = best / windowGain(this.hasPhase ? this.offHz : 0);
  }

  isClear(): boolean {
    if (this.bestPower < this.next * MIN_LEAD) return false;
    return !this.hasPhase || Math.abs(this.offHz) <= (this.hz[this.best] as number) * MAX_OFF_FREQUENCY;
  }

  /** Keeps where the frequency lay in this hit, for the latest ones. */
  remember(hit: number): void {
    this.offsets[hit % HITS_COMPARED] = this.offHz;
  }

  glides(): boolean {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < HITS_COMPARED; at++) {
      low = Math.min(low, this.offsets[at] as number);
      high = Math.max(high, this.offsets[at] as number);
    }
    return high - low > MAX_GLIDE_HZ;
  }

  overtone(window: Float64Array): number {
    return goertzelPower(window, 2 * ((this.hz[this.best] as number) + (this.hasPhase ? this.offHz : 0)));
  }

  private filter(window: Float64Array, at: number): number {
    const cosine = this.cosines[at] as number;
    const coefficient = 2 * cosine;
    let last = 0;
    let before = 0;
    for (let n = 0; n < WINDOW_SAMPLES; n++) {
      const now = (window[n] as number) + coefficient * last - before;
      before = last;
      last = now;
    }
    const real = last - before * cosine;
    const imaginary = before * (this.sines[at] as number);
    this.real = real;
    this.imaginary = imaginary;
    return (2 * (real * real + imaginary * imaginary)) / (WINDOW_SAMPLES * WINDOW_SAMPLES);
  }

  /** The phase of a tone turns by its frequency from window to window; the rest is how far off it is. */
  private findFrequency(phase: number): void {
    const turned = (phase - this.lastPhase) / (2 * Math.PI);
    this.hasPhase = this.lastBest === this.best;
    this.lastBest = this.best;
    this.lastPhase = phase;
    if (!this.hasPhase) return;
    const wanted = ((this.hz[this.best] as number) * HOP_SAMPLES) / LINE_RATE_HZ;
    const rest = turned - wanted;
    this.offHz = ((rest - Math.round(rest)) * LINE_RATE_HZ) / HOP_SAMPLES;
  }
}

/** What a plain window of 20 ms leaves of the power of a tone so far beside the filter. */
function windowGain(offHz: number): number {
  const angle = (Math.PI * Math.min(40, Math.abs(offHz)) * WINDOW_SAMPLES) / LINE_RATE_HZ;
  if (angle < 1e-6) return 1;
  const sinc = Math.sin(angle) / angle;
  return sinc * sinc;
}

/** The most that a tone of power 1 shows so far beside its frequency. */
function sideLobe(distanceHz: number): number {
  const angle = (Math.PI * distanceHz * WINDOW_SAMPLES) / LINE_RATE_HZ;
  return 1.5 / Math.max(1.5, angle * angle);
}

function goertzelPower(window: Float64Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / LINE_RATE_HZ);
  let last = 0;
  let before = 0;
  for (let n = 0; n < WINDOW_SAMPLES; n++) {
    const now = (window[n] as number) + coefficient * last - before;
    before = last;
    last = now;
  }
  return (
    (2 * (last * last + before * before - coefficient * last * before)) / (WINDOW_SAMPLES * WINDOW_SAMPLES)
  );
}
