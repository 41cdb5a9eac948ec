import type { ProviderClock } from '../../../src/providers/contract/provider-clock.ts';
import { providerError } from '../../../src/providers/contract/provider-error.ts';
import type {
  SpeechToText,
  SttHandlers,
  SttResult,
  SttSession,
} from '../../../src/providers/contract/speech-to-text.ts';

/**
 * An engine that really listens, to a language made for tests: a word is 100 ms of one sample value, silence is 0. It
 * writes down exactly what it was fed, half words as half words, so that audio that is lost, doubled or cut shows.
 */
export const RATE_HZ = 8_000;
export const WORD_SAMPLES = 800;
const WORD_S = WORD_SAMPLES / RATE_HZ;
const FIRST_VALUE = 2_000;

/** The audio of a word, by its number. */
export function spoken(word: number, rateHz = RATE_HZ): Int16Array {
  return new Int16Array(WORD_S * rateHz).fill(FIRST_VALUE + word);
}

export function textOf(words: readonly number[]): string {
  return words.map((word) => `w${word}`).join(' ');
}

/** What happens to one session. */
export interface SessionPlan {
  failsToOpen?: boolean;
  /** Refuses to open because it is asked too much; it names this wait. */
  retryAfterMs?: number;
  /** Opens after so long. */
  openMs?: number;
  /** Breaks when it has been fed so many samples. */
  breaksAfterSamples?: number;
  /** Breaks this long after a flush was asked for, before it is answered. */
  breaksInFlush?: number;
  /** Hears nothing. */
  deaf?: boolean;
  /** Half open: hears nothing more after so many samples, and answers a flush with what there was. */
  dumbAfterSamples?: number;
}

export interface EngineRules {
  name: string;
  clock: ProviderClock;
  /** Of what it is fed; RATE_HZ where absent. */
  rateHz?: number;
  /** A final after every so many words; 0 for engines that tell none. */
  wordsPerFinal: number;
  /** Whether finals carry their place in the audio. */
  stampsFinals: boolean;
  flushMs: number;
  /** The plan of the next session. */
  plan(): SessionPlan;
  detectsTurns?: boolean;
}

export interface WordEngine extends SpeechToText {
  /** Samples that each session was fed, in the order of the sessions. */
  fed: { samples: number; firstAtMs: number; lastAtMs: number }[];
  handlers: SttHandlers[];
}

export function wordEngine(rules: EngineRules): WordEngine {
  const fed: WordEngine['fed'] = [];
  const handlers: SttHandlers[] = [];
  return {
    name: rules.name,
    model: null,
    wantsSilence: true,
    detectsTurns: rules.detectsTurns ?? false,
    fed,
    handlers,
    async open(given) {
      const plan = rules.plan();
      await rules.clock.sleep(plan.openMs ?? 20);
      if (plan.failsToOpen) throw broken(rules.name, 'refused the connection');
      if (plan.retryAfterMs !== undefined) throw askedTooMuch(rules.name, plan.retryAfterMs);
      const count = { samples: 0, firstAtMs: 0, lastAtMs: 0 };
      fed.push(count);
      handlers.push(given);
      return new WordSession(rules, plan, given, count);
    },
  };
}

export function broken(provider: string, what: string): Error {
  return providerError({ provider, family: 'stt', class: 'transient', status: null }, `${provider} ${what}`);
}

export function askedTooMuch(provider: string, retryAfterMs: number): Error {
  return providerError(
    { provider, family: 'stt', class: 'rate_limit', status: 429, retryAfterMs },
    `${provider} is asked too much`,
  );
}

class WordSession implements SttSession {
  private readonly rules: EngineRules;
  private readonly plan: SessionPlan;
  private readonly handlers: SttHandlers;
  private readonly count: WordEngine['fed'][number];
  private readonly wordSamples: number;
  private over = false;
  private value = 0;
  private run = 0;
  private words: string[] = [];
  private told = 0;
  private wordsEndAt = 0;
  private pending = new Set<(error: Error) => void>();

  constructor(
    rules: EngineRules,
    plan: SessionPlan,
    handlers: SttHandlers,
    count: WordEngine['fed'][number],
  ) {
    this.rules = rules;
    this.plan = plan;
    this.handlers = handlers;
    this.count = count;
    this.wordSamples = WORD_S * (rules.rateHz ?? RATE_HZ);
  }

  feed(samples: Int16Array): void {
    if (this.over) return;
    for (const sample of samples) {
      if (this.count.samples === 0) this.count.firstAtMs = this.rules.clock.nowMs();
      this.count.samples += 1;
      if (!this.plan.deaf && !this.isDumb) this.hear(sample);
      if (this.count.samples === this.plan.breaksAfterSamples) {
        this.break('cut the line');
        return;
      }
    }
    this.count.lastAtMs = this.rules.clock.nowMs();
  }

  flush(signal: AbortSignal): Promise<SttResult> {
    if (this.over) return Promise.reject(broken(this.rules.name, 'is over'));
    if (!this.isDumb) {
      this.endRun();
      this.tellFinal(0);
    }
    const text = this.words.join(' ');
    this.words = [];
    this.told = 0;
    return new Promise((resolve, reject) => {
      this.pending.add(reject);
      const answer = () => {
        if (this.pending.delete(reject)) resolve({ text, confidence: text === '' ? null : 0.9 });
      };
      this.rules.clock.after(this.rules.flushMs, answer);
      if (this.plan.breaksInFlush !== undefined) {
        this.rules.clock.after(this.plan.breaksInFlush, () => this.break('cut the line in a flush'));
      }
      signal.addEventListener('abort', () => {
        if (this.pending.delete(reject)) reject(signal.reason);
      });
    });
  }

  discard(): void {
    this.words = [];
    this.told = 0;
    this.run = 0;
  }

  async close(): Promise<void> {
    this.over = true;
  }

  private get isDumb(): boolean {
    return this.count.samples > (this.plan.dumbAfterSamples ?? Number.POSITIVE_INFINITY);
  }

  private hear(sample: number): void {
    if (sample === this.value && this.run < this.wordSamples) {
      this.run += 1;
    } else {
      this.endRun();
      this.value = sample;
      this.run = 1;
    }
    if (this.run === this.wordSamples && this.value !== 0) this.endRun();
  }

  /** A word that is not whole is told as what it is: a piece. */
  private endRun(): void {
    const { wordsPerFinal } = this.rules;
    if (this.value !== 0 && this.run > 0) {
      const isWhole = this.run === this.wordSamples;
      this.words.push(`w${this.value - FIRST_VALUE}${isWhole ? '' : `(${this.run})`}`);
      this.wordsEndAt = this.count.samples;
      this.handlers.onInterim(this.words.join(' '));
      if (wordsPerFinal > 0) this.tellFinal(wordsPerFinal);
    }
    this.run = 0;
    this.value = 0;
  }

  private tellFinal(atLeast: number): void {
    const open = this.words.length - this.told;
    if (this.rules.wordsPerFinal === 0 || open === 0 || open < atLeast) return;
    const text = this.words.slice(this.told).join(' ');
    this.told = this.words.length;
    const uptoSample = this.rules.stampsFinals ? this.wordsEndAt : null;
    this.handlers.onFinal?.({ text, confidence: 0.9, uptoSample });
  }

  private break(what: string): void {
    if (this.over) return;
    this.over = true;
    const error = broken(this.rules.name, what);
    for (const reject of this.pending) reject(error);
    this.pending.clear();
    this.handlers.onFailure(error);
  }
}
