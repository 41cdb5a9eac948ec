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
  private readonly startedAtMs: number;
  private readonly entries = new Map<number, TranscriptEntry>();
  private nextSeq = 1;
  readonly events: CallEvent[] = [];
  readonly usage: UsageMetric[] = [];
  leftOut = 0;

  constructor(options: { journal: (line: JournalLine) => void; now: () => number }) {
    this.journal = options.journal;
    this.now = options.now;
    this.startedAtMs = options.now();
  }

  /** Seconds from call start, to the millisecond. */
  get seconds(): number {
    return Math.round(this.now() - this.startedAtMs) / 1000;
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
  }

  get transcriptEntries(): TranscriptEntry[] {
    return [...this.entries]
      .sort(([a], [b]) => a - b)
      .map(([, entry]) => entry)
      .filter((entry) => entry.text !== '');
  }

  /** One usage entry; every field of interface.md's table is present, null where it does not apply. */
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
