import type { Framing } from '../src/contracts/wire.ts';
import type { FrameCounts } from './frame-ledger.ts';
import type { Spread } from './spread.ts';

/** What the bench asks of its dialler, a process of its own whose CPU does not count. One order per process. */
export type DiallerOrder =
  | {
      kind: 'calls';
      url: string;
      framing: Framing;
      calls: number;
      /** All calls are dialled within this time. */
      spreadMs: number;
      /** After the last bot has begun to speak, before anything is measured. */
      warmUpMs: number;
      measureMs: number;
      seed: number;
    }
  /** One call after the other on a quiet machine: set-up times only. */
  | { kind: 'calm'; url: string; framing: Framing; calls: number }
  /** Waits for so many bare pacers and judges their frames with the code that judges the product's. */
  | { kind: 'bare'; pacers: number; measureMs: number };

export type BenchToDialler = { type: 'order'; order: DiallerOrder } | { type: 'finish' };

export type DiallerToBench =
  /** The bare pacers connect here. */
  | { type: 'listening'; port: number }
  | { type: 'all_speaking' }
  | { type: 'measuring' }
  | { type: 'measured' }
  | { type: 'report'; report: DiallerReport }
  | { type: 'failed'; sentence: string };

/** Times are milliseconds. */
export interface DiallerReport {
  /** How late this process itself was on its own grid; above 2 ms at p99 the pacing figures are void. */
  ownLateness: Spread;
  /** Frames behind the lead of their spurt, against the best grid of that spurt. */
  lateness: Spread;
  counts: FrameCounts;
  /** Frames that came later than a 60 ms jitter buffer forgives, and times the far end's loudspeaker ran dry. */
  lateFrames: number;
  underruns: number;
  setUp: { upgraded: Spread; ready: Spread; firstAudio: Spread };
  /** From the first call dialled to the last bot heard. */
  allSpeakingMs: number;
  /** First voiced sample of the caller to `clear`. */
  bargeIn: Spread;
  /** Barge-ins that brought no `clear` while the bot went on. */
  missedBargeIns: number;
  /** Last voiced sample of the caller to the first frame of the answer. */
  response: Spread;
  /** Clips that no answer followed in time. */
  unanswered: number;
  /** Calls that ended before the dialler hung up, with the reason. */
  lostCalls: string[];
}
