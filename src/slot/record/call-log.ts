import { ANSWERED_AT_ONCE, type CallDurations, callDurations } from '../../contracts/call-durations.ts';
import type { CallEvent, CallEventName } from '../../contracts/call-events.ts';
import type { TranscriptEntry, UsageMetric } from '../../contracts/call-results.ts';
import { MAX_EVENTS, MAX_TRANSCRIPT_ENTRIES } from '../../contracts/limits.ts';
import type { JournalLine } from '../../contracts/spool.ts';

/**
 * Everything a call leaves behind in words and numbers: transcript, events, usage. Each goes to the journal as it
 * happens, so that a crash leaves what there was, and stays here for the result. Lists are bounded; what comes beyond
 * is counted.
 */
export class CallLog {
  private readonly journal: (line: JournalLine) => void;
  private readonly now: () => number;
  /** Null until the call is answered: nothing has begun yet, and its time stands at 0. */
  private startedAtMs: number | null;
  private readonly openedAtMs: number;
  private readonly billingStepSeconds: number;
  private readonly entries = new Map<number, TranscriptEntry>();
  private nextSeq = 1;
  /** The entry that was sketched last, and its text then. */
  private sketched = '';
  readonly events: CallEvent[] = [];
  readonly usage: UsageMetric[] = [];
  leftOut = 0;
  /** Told of every entry that is written or replaced: what a visitor of a website reads along. */
  onTranscript: ((entry: TranscriptEntry) => void) | null = null;
  private answeredBefore: number = ANSWERED_AT_ONCE.answeredBefore;

  /** `isAnswered`: false for a call that still rings; its time begins with {@link answered} (RT-31). */
  constructor(options: {
    journal: (line: JournalLine) => void;
    now: () => number;
    isAnswered?: boolean;
    billingStepSeconds?: number;
  }) {
    this.journal = options.journal;
    this.now = options.now;
    this.billingStepSeconds = options.billingStepSeconds ?? 1;
    this.openedAtMs = options.now();
    this.startedAtMs = options.isAnswered === false ? null : this.openedAtMs;
  }

  /**
   * Somebody has picked up: from here on time counts. `answeredBefore` are the seconds that the call had been answered
   * for by then, because somebody else screened it (RT-31).
   */
  answered(answeredBefore = 0): void {
    if (this.startedAtMs !== null) return;
    this.startedAtMs = this.now();
    this.answeredBefore = answeredBefore;
    this.journal({ kind: 'answered', ringSeconds: this.ringSeconds, answeredBefore });
  }

  /** Seconds from call start, to the millisecond; 0 while it rings. */
  get seconds(): number {
    return this.startedAtMs === null ? 0 : Math.round(this.now() - this.startedAtMs) / 1000;
  }

  /** How long it rang before call start, in seconds to the millisecond; until now where it still rings. */
  get ringSeconds(): number {
    return Math.round((this.startedAtMs ?? this.now()) - this.openedAtMs) / 1000;
  }

  /** The lengths of the call so far (D-33). */
  durations(): CallDurations {
    const { ringSeconds, answeredBefore } = this;
    const beginning = { isAnswered: this.startedAtMs !== null, ringSeconds, answeredBefore };
    return callDurations(this.seconds, beginning, this.billingStepSeconds);
  }

  event(event: CallEventName, detail: Omit<CallEvent, 'event' | 'ts'> = {}): void {
    const entry: CallEvent = { event, ts: this.seconds, ...detail };
    if (this.events.length >= MAX_EVENTS) {
      this.leftOut++;
      return;
    }
    this.events.push(entry);
    this.journal({ kind: 'event', event: entry });
  }

  /** Keeps the place of an entry whose words are still to come. */
  reserve(): number {
    return this.nextSeq++;
  }

  /** Writes or replaces an entry. Entries without words are no part of the transcript. */
  transcript(seq: number, entry: TranscriptEntry): void {
    if (!this.entries.has(seq) && this.entries.size >= MAX_TRANSCRIPT_ENTRIES) {
      this.leftOut++;
      return;
    }
    this.entries.set(seq, entry);
    this.journal({ kind: 'transcript', seq, entry });
    this.onTranscript?.(entry);
  }

  /**
   * What an entry would be if the call ended now, for the journal alone: a crash leaves it, and otherwise the entry
   * itself takes its place (RT-66). What the journal has of it already is not written again.
   */
  sketch(seq: number, entry: TranscriptEntry): void {
    if (entry.text === '' || this.sketched === `${seq} ${entry.text}`) return;
    if (!this.entries.has(seq) && this.entries.size >= MAX_TRANSCRIPT_ENTRIES) return;
    this.sketched = `${seq} ${entry.text}`;
    this.journal({ kind: 'transcript', seq, entry });
  }

  get transcriptEntries(): TranscriptEntry[] {
    return [...this.entries]
      .sort(([a], [b]) => a - b)
      .map(([, entry]) => entry)
      .filter((entry) => entry.text !== '');
  }

  /** One usage entry; every field of R108 to R112 is present, null where it does not apply. */
  metric(metric: Partial<UsageMetric> & Pick<UsageMetric, 'type'>): void {
    if (this.usage.length >= MAX_EVENTS) {
      this.leftOut++;
      return;
    }
    const entry: UsageMetric = {
      processor: null,
      model: null,
      prompt_tokens: null,
      completion_tokens: null,
      total_tokens: null,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      cache: null,
      characters: null,
      ttfb_ms: null,
      ...metric,
    };
    this.usage.push(entry);
    this.journal({ kind: 'usage', metric: entry });
  }
}
