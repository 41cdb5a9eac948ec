import type { HearingHz } from '../audio/hearing-rate.ts';
import type { NativeRunGate } from '../process/native-run-gate.ts';

/** What the inference worker is started with. The audio of a request stands in `segment`, never in a message. */
export interface WorkerSetup {
  modelPath: string;
  /** Samples of the one request in work, 8 s at 16 kHz at most; the slot writes, the worker reads. */
  segment: Int16Array<SharedArrayBuffer>;
  gate: NativeRunGate;
}

/** Slot to worker. */
export type TurnRequest =
  | { type: 'judge'; id: number; samples: number; rateHz: HearingHz }
  | { type: 'close' };

/** Worker to slot. `probability` 0..1 that the turn is complete. */
export type TurnAnswer =
  | { type: 'ready' }
  | { type: 'cannot_start'; message: string }
  | { type: 'verdict'; id: number; probability: number; computeMs: number }
  | { type: 'failed'; id: number; message: string };
