import type { CallEventName } from '../../contracts/call-events.ts';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import {
  type CollectResult,
  type CollectRules,
  cancelDigits,
  collectDigits,
  type DigitCollection,
  pressDigit,
  shownDigits,
  tickDigits,
} from './collect-digits.ts';
import { DtmfDetector } from './dtmf-detector.ts';
import { keyPlace } from './dtmf-keys.ts';

export interface KeyPadHooks {
  report(event: CallEventName, detail: Record<string, unknown>): void;
  /** A key was pressed that belongs to no entry; `digit` is not secret. */
  onKey(digit: string): void;
  /** Any key at all: the caller is there. */
  onActivity(by: DigitEvent['by']): void;
}

/**
 * The keys of a call: signalled or heard in the audio, one by one or gathered for a tool that waits for them (RT-32).
 * Samples are those of the line clock at 8 kHz; `audio` or `tick` at least every 100 ms keeps its timers going.
 */
export class KeyPad {
  private readonly line = new DigitLine();
  private readonly detector = new DtmfDetector();
  private readonly hooks: KeyPadHooks;
  /** Keys that one event will tell. */
  private burst: Burst | null = null;
  private entry: { collection: DigitCollection; settle: (result: CollectResult) => void } | null = null;
  private now = 0;
  private readonly secrets: string[] = [];
  private secretUntilSample = 0;

  constructor(hooks: KeyPadHooks) {
    this.hooks = hooks;
  }

  /** Audio of the caller; searched for keys while the line has not signalled any. */
  audio(samples: Int16Array, fromSample: number): void {
    if (this.line.needsDetector) {
      for (const { digit, atSample } of this.detector.feed(samples, fromSample)) {
        this.press(this.line.inBand(digit, atSample));
      }
    }
    this.tick(fromSample + samples.length);
  }

  /** A digit message of the transport. */
  signalled(digit: string, atSample: number): void {
    this.press(this.line.signalled(digit, atSample));
  }

  /** Time passes without audio. */
  tick(nowSample: number): void {
    this.now = Math.max(this.now, nowSample);
    if (this.entry) this.finish(tickDigits(this.entry.collection, this.now));
    else if (this.burst && this.now - this.burst.lastSample >= BURST_PAUSE_SAMPLES) this.tellBurst();
  }

  /** Waits for an entry; an earlier one that is still open is cancelled, and so is this one when `signal` fires. */
  collect(rules: CollectRules, signal: AbortSignal): Promise<CollectResult> {
    this.cancel();
    const collection = collectDigits(rules, this.now);
    return new Promise((resolve) => {
      const onAbort = () => {
        if (this.entry?.collection === collection) this.cancel();
      };
      this.entry = {
        collection,
        settle: (result) => {
          signal.removeEventListener('abort', onAbort);
          resolve(result);
        },
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Whether keys are being gathered; the silence of a caller who presses keys is none. */
  get isCollecting(): boolean {
    return this.entry !== null;
  }

  /** What is keyed in now is nobody's but the tool's: its tones do not belong into a recording either. */
  get isSecret(): boolean {
    return this.entry?.collection.rules.isSecret ?? this.now < this.secretUntilSample;
  }

  /** Ends an open entry: something else begins, the call is over, or the caller has ended it. */
  cancel(by: 'cancel' | 'hang_up' = 'cancel'): void {
    this.tellBurst();
    if (this.entry) this.finish(cancelDigits(this.entry.collection, by));
  }

  /** Keeps a secret entry for the tools of this call; what comes back may be read, written down and sent to a model. */
  keepSecret(digits: string): string {
    if (this.secrets.length < MAX_SECRETS) this.secrets.push(digits);
    else this.secrets[MAX_SECRETS - 1] = digits;
    return `[[digits-${this.secrets.length}]]`;
  }

  /** A text with the secrets in place of their placeholders, for the request of a tool and nothing else. */
  reveal(text: string): string {
    return text.replace(/\[\[digits-(\d{1,2})\]\]/g, (all, place) => this.secrets[Number(place) - 1] ?? all);
  }

  private press(event: DigitEvent | null): void {
    if (!event) return;
    this.now = Math.max(this.now, event.atSample);
    const collection = this.entry?.collection ?? null;
    this.gather(event, collection?.rules.isSecret ?? false);
    this.hooks.onActivity(event.by);
    if (collection) this.finish(pressDigit(collection, event.digit, this.now));
    else this.hooks.onKey(event.digit);
  }

  /** The keys of an entry, or of a burst of keys without one, are one event (RT-32). */
  private gather({ digit, by, atSample }: DigitEvent, isSecret: boolean): void {
    const { burst } = this;
    const isMore = burst?.by === by && burst.isSecret === isSecret && burst.keys.length < MAX_BURST_KEYS;
    if (burst && isMore) {
      burst.keys += digit;
      burst.lastSample = Math.max(burst.lastSample, atSample);
      return;
    }
    this.tellBurst();
    this.burst = { keys: digit, by, isSecret, fromSample: atSample, lastSample: atSample };
  }

  private tellBurst(): void {
    const { burst } = this;
    if (!burst) return;
    this.burst = null;
    const { keys, by, isSecret, fromSample, lastSample } = burst;
    this.hooks.report('dtmf', {
      digit: shownDigits(keys, isSecret),
      source: by,
      ...(keys.length > 1
        ? { duration_ms: Math.round(((lastSample - fromSample) * 1_000) / LINE_RATE_HZ) }
        : {}),
    });
  }

  private finish(result: CollectResult | null): void {
    if (!result || !this.entry) return;
    this.tellBurst();
    const { collection, settle } = this.entry;
    this.entry = null;
    if (collection.rules.isSecret) this.secretUntilSample = this.now + HELD_KEY_SAMPLES;
    this.hooks.report('digits_collected', {
      digits: result.shown,
      status: result.status,
      ended_by: result.endedBy,
      duration_ms: Math.round(((this.now - collection.fromSample) * 1_000) / LINE_RATE_HZ),
    });
    settle(result);
  }
}

interface Burst {
  keys: string;
  by: DigitEvent['by'];
  isSecret: boolean;
  fromSample: number;
  lastSample: number;
}

/** Keys that follow each other within this belong together, as the digits of an entry do. */
const BURST_PAUSE_SAMPLES = 2 * LINE_RATE_HZ;
/** A line that sends keys without end is told of in pieces. */
const MAX_BURST_KEYS = 64;

/** The key that ends an entry may still sound for so long. */
const HELD_KEY_SAMPLES = LINE_RATE_HZ;

/** Secret entries of one call; a later one takes the place of the last. */
const MAX_SECRETS = 20;

/** One key, however the line brought it (RT-32). `atSample` counts the line clock. */
interface DigitEvent {
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

  /** A digit message of the transport; null where it is no key or was heard in the audio just before. */
  signalled(digit: string, atSample: number): DigitEvent | null {
    const key = digit.trim().toUpperCase();
    if (!keyPlace(key)) return null;
    this.signals++;
    const first = this.heard;
    this.heard = null;
    if (first?.digit === key && atSample - first.atSample <= DUPLICATE_SAMPLES) return null;
    return { digit: key, by: 'signalled', atSample };
  }

  /** A key found in the audio; null on a line that signals its keys. */
  inBand(digit: string, atSample: number): DigitEvent | null {
    if (this.signals > 0) return null;
    this.heard = { digit, by: 'in_band', atSample };
    return this.heard;
  }

  /** Whether the audio still has to be searched for keys. */
  get needsDetector(): boolean {
    return this.signals === 0;
  }
}

/** A signal may come this much later than its sound: carriers send it at the end of the key, over another path. */
const DUPLICATE_SAMPLES = 1.5 * LINE_RATE_HZ;
