import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { HalveRate } from '../audio/half-rate.ts';
import { CallProgress, type ProgressKind } from './call-progress.ts';
import { HOP_SAMPLES, ToneBank } from './tone-bank.ts';
import { ToneRun } from './tone-run.ts';

/** Positions are samples of the line clock, at the rate of the line. */
export type ToneEvent =
  /** A steady tone has lasted 150 ms and is still there. */
  | { type: 'tone_start'; hz: number; fromSample: number }
  /** It is over. What a mailbox gives before it records is one of these (`isBeep`). */
  | { type: 'tone_end'; hz: number; fromSample: number; toSample: number; isBeep: boolean }
  /** The network says how the call stands: a cadence or a signature that is known. */
  | { type: 'progress'; kind: ProgressKind; fromSample: number; atSample: number };

/** RT-28: a tone between 400 and 2000 Hz that stands for at least 150 ms. */
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2_000;
/** The answer of a fax machine (ITU-T V.25) lies just above. */
const FAX_HZ = 2_100;
const MIN_TONE_MS = 150;
/** Lengths are known to one reading, 20 ms, and noise eats into the first and last: nothing of 150 ms may be missed. */
const LENGTH_DOUBT_MS = 32;
/** No mailbox beeps for longer; what does is a dial tone or a fault. */
const MAX_BEEP_MS = 3_000;

/** Beeps are pure. A voiced sound has a second partial within a few dB, and hardly ever this much in one of them. */
const MIN_SHARE = 0.5;
const MAX_RIVAL = 0.12;
/** Frequencies are known this well. */
const DOUBT_HZ = 7;
/** A reading looks at 40 ms: it finds a tone that fills most of them, so a run is longer than its readings. */
const RUN_MARGIN_SAMPLES = 100;

/**
 * Finds the tones that machines make on a telephone line: beeps of mailboxes, ring back, busy, congestion, special
 * information tones and fax machines (RT-28). Takes blocks of any length at 8 or 16 kHz; allocates nothing but the
 * events, of which there are few.
 */
export class ToneDetector {
  private readonly bank = new ToneBank();
  private readonly progress = new CallProgress();
  private readonly halver: HalveRate | null;
  private readonly factor: number;
  /** Place of the next sample at 8 kHz, from `origin` of the line on. */
  private place = 0;
  private origin = 0;
  private expected = 0;
  private readonly run = new ToneRun();

  constructor(rateHz: 8_000 | 16_000 = LINE_RATE_HZ) {
    this.factor = rateHz / LINE_RATE_HZ;
    this.halver = rateHz === LINE_RATE_HZ ? null : new HalveRate();
  }

  /** Audio from `fromSample` of the line clock on. A jump of the clock begins anew, as if nothing had been heard. */
  feed(samples: Int16Array, fromSample: number): readonly ToneEvent[] {
    if (fromSample !== this.expected) this.restart(fromSample);
    this.expected = fromSample + samples.length;
    let events: ToneEvent[] | null = null;
    for (let at = 0; at < samples.length; at++) {
      let value = samples[at] as number;
      if (this.halver) {
        value = this.halver.push(value);
        if (Number.isNaN(value)) continue;
      }
      this.place++;
      if (!this.bank.push(value)) continue;
      events = this.onReading(events);
    }
    return events ?? NONE;
  }

  private onReading(events: ToneEvent[] | null): ToneEvent[] | null {
    let found = events;
    if (this.isTone()) {
      const { run } = this;
      if (!run.fits(this.bank)) {
        found = this.endRun(found);
        run.begin(this.place - 2 * HOP_SAMPLES + RUN_MARGIN_SAMPLES);
      }
      run.add(this.bank);
      if (!run.isReported && this.runSamples() >= MIN_RUN_SAMPLES && run.isSteady()) {
        run.isReported = true;
        found = add(found, {
          type: 'tone_start',
          hz: this.run.hz,
          fromSample: this.lineSample(this.run.fromSample),
        });
      }
    } else found = this.endRun(found);
    const cadence = this.progress.reading(this.bank, this.place - HOP_SAMPLES);
    return cadence ? this.addProgress(found, cadence) : found;
  }

  private isTone(): boolean {
    const { bank } = this;
    const inBand = bank.toneHz >= LOWEST_HZ - DOUBT_HZ && bank.toneHz <= FAX_HZ + 15;
    return inBand && bank.toneShare >= MIN_SHARE && bank.rivalShare <= MAX_RIVAL;
  }

  private endRun(events: ToneEvent[] | null): ToneEvent[] | null {
    const { run } = this;
    if (run.readings === 0) return events;
    const hz = run.hz;
    // The reading that ends a run has moved on by a hop.
    const toSample = this.place - HOP_SAMPLES - RUN_MARGIN_SAMPLES;
    const isReported = run.isReported;
    run.readings = 0;
    if (!isReported) return events;
    const lengthMs = ((toSample - run.fromSample) * 1_000) / LINE_RATE_HZ;
    const found = add(events, {
      type: 'tone_end',
      hz,
      fromSample: this.lineSample(run.fromSample),
      toSample: this.lineSample(toSample),
      isBeep: hz <= HIGHEST_HZ + DOUBT_HZ && lengthMs <= MAX_BEEP_MS,
    });
    const kind = this.progress.tone(hz, run.fromSample, toSample);
    return kind ? this.addProgress(found, kind) : found;
  }

  private addProgress(events: ToneEvent[] | null, kind: ProgressKind): ToneEvent[] {
    return add(events, {
      type: 'progress',
      kind,
      fromSample: this.lineSample(this.progress.fromSample),
      atSample: this.lineSample(this.place),
    });
  }

  /** Length of the run so far, up to where its last reading was still sure to hold the tone. */
  private runSamples(): number {
    return this.place - RUN_MARGIN_SAMPLES - this.run.fromSample;
  }

  private lineSample(place: number): number {
    return this.origin + Math.max(0, Math.round(place)) * this.factor;
  }

  private restart(fromSample: number): void {
    this.origin = fromSample;
    this.place = 0;
    this.run.readings = 0;
    this.bank.reset();
    this.progress.reset();
    this.halver?.reset();
  }
}

const MIN_RUN_SAMPLES = ((MIN_TONE_MS - LENGTH_DOUBT_MS) * LINE_RATE_HZ) / 1_000;

const NONE: readonly ToneEvent[] = [];

function add(events: ToneEvent[] | null, event: ToneEvent): ToneEvent[] {
  if (!events) return [event];
  events.push(event);
  return events;
}
