import { Worker } from 'node:worker_threads';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import type { HearingHz } from '../audio/hearing-rate.ts';
import { guardExit, onLeave } from '../process/leave-process.ts';
import { createEnteredGate } from '../process/native-run-gate.ts';
import type { TurnAnswer, TurnRequest, WorkerSetup } from './turn-messages.ts';
import { TURN_SEGMENT_MAX_SAMPLES } from './turn-window.ts';

/** Later than this the silence rule has decided (RT-78). */
const DEFAULT_DEADLINE_MS = 250;
/** Loading takes 0.1 to 0.7 s, the latter when many slots start together (D-3). */
const START_BOUND_MS = 20_000;
/** A request of some 40 ms that takes this long will not come back: the worker counts as dead. */
const HUNG_AFTER_MS = 5_000;
/** A close waits this long for the worker to end itself. */
const CLOSE_BOUND_MS = 1_500;

/** Who decided about the end of a turn, and what the model said (probability 0..1 of "complete"). */
export type TurnVerdict =
  | { decidedBy: 'model'; probability: number; computeMs: number }
  | {
      decidedBy: 'silence_rule';
      /** Past the deadline; pushed out by a newer question; the worker or the run failed; no model in use. */
      reason: 'late' | 'busy' | 'failed' | 'off';
    };

/** What the call session needs of a turn model; {@link noTurnModel} is the one without a model. */
export interface TurnJudge {
  judge(segment: Int16Array, deadlineMs?: number, rateHz?: HearingHz): Promise<TurnVerdict>;
  close(): Promise<void>;
}

/** For `TURN_MODEL=off`, for bots with `turn_model: "off"`, and where the model file cannot be had. */
export const noTurnModel: TurnJudge = {
  judge: async () => ({ decidedBy: 'silence_rule', reason: 'off' }),
  close: async () => undefined,
};

export interface TurnModelOptions {
  /** A path that `loadModelPath('smart-turn', ...)` has checked. */
  modelPath: string;
  /** Told once when the worker dies or hangs; from then on every verdict is the silence rule's. */
  onDied?: (error: Error) => void;
}

interface Pending {
  id: number;
  segment: Int16Array;
  rateHz: HearingHz;
  settle: (verdict: TurnVerdict) => void;
}

/**
 * Smart Turn v3 on a worker thread of its own. The model runtime computes on the thread that calls it, 30 to 50 ms per
 * verdict: on the slot's main thread that would stop the audio (D-3). At most one question is in work
 * and one waits; a newer question takes the waiting place, because only the latest pause matters. A late answer is
 * dropped when it comes.
 */
export class TurnModel implements TurnJudge {
  private readonly worker: Worker;
  private readonly segment: Int16Array<SharedArrayBuffer>;
  private readonly onDied: ((error: Error) => void) | undefined;
  private readonly ended: Promise<void>;
  private readonly forgetLeave: () => void;
  private state: 'live' | 'died' | 'closed' = 'live';
  private nextId = 1;
  private inWork: Pending | undefined;
  private waiting: Pending | undefined;
  private hungTimer: NodeJS.Timeout | undefined;

  /**
   * Starts the worker, loads the model there and runs it once. Rejects with `model_missing` when the file does not
   * load, and with `internal` when the worker itself cannot start.
   */
  static async start(options: TurnModelOptions): Promise<TurnModel> {
    const gate = createEnteredGate();
    const segment = new Int16Array(new SharedArrayBuffer(2 * 2 * TURN_SEGMENT_MAX_SAMPLES));
    const setup: WorkerSetup = { modelPath: options.modelPath, segment, gate };
    // The entry has this file's extension: .ts from the sources, .js from dist.
    const entry = import.meta.url.endsWith('.ts') ? './inference-worker.ts' : './inference-worker.js';
    const worker = new Worker(new URL(entry, import.meta.url), {
      name: 'inference',
      workerData: setup,
    });
    const removeGuard = guardExit(gate);
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        removeGuard();
        resolve();
      });
    });
    await ready(worker, options.modelPath);
    return new TurnModel(worker, segment, ended, options.onDied);
  }

  private constructor(
    worker: Worker,
    segment: Int16Array<SharedArrayBuffer>,
    ended: Promise<void>,
    onDied: ((error: Error) => void) | undefined,
  ) {
    this.worker = worker;
    this.segment = segment;
    this.ended = ended;
    this.onDied = onDied;
    worker.on('message', (answer: TurnAnswer) => this.onAnswer(answer));
    worker.on('error', (error) => this.die(error));
    worker.on('exit', () => this.die(new Error('the inference worker ended by itself')));
    // A slot that forgets to close must still be able to end.
    worker.unref();
    this.forgetLeave = onLeave(() => this.close());
  }

  /**
   * Whether the turn that ends with this audio is complete. Always resolves, at the latest after `deadlineMs`.
   * Of more than 8 s the end counts. The segment must not change until then.
   */
  judge(
    segment: Int16Array,
    deadlineMs: number = DEFAULT_DEADLINE_MS,
    rateHz: HearingHz = LINE_RATE_HZ,
  ): Promise<TurnVerdict> {
    if (this.state !== 'live') {
      return Promise.resolve(silenceRule(this.state === 'died' ? 'failed' : 'off'));
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.expire(pending), deadlineMs);
      const pending: Pending = {
        id: this.nextId++,
        segment: segment.subarray((-TURN_SEGMENT_MAX_SAMPLES * rateHz) / LINE_RATE_HZ),
        rateHz,
        settle: (verdict) => {
          clearTimeout(timer);
          resolve(verdict);
        },
      };
      if (!this.inWork) return this.send(pending);
      this.waiting?.settle(silenceRule('busy'));
      this.waiting = pending;
    });
  }

  /** Lets the worker finish, give the model back and end; open questions answer with the silence rule. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    const wasLive = this.state === 'live';
    this.state = 'closed';
    this.forgetLeave();
    this.settleAll('off');
    if (!wasLive) return;
    this.post({ type: 'close' });
    this.worker.ref();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_BOUND_MS);
    });
    await Promise.race([this.ended, bound]);
    clearTimeout(timer);
    this.worker.unref();
  }

  private send(pending: Pending): void {
    this.inWork = pending;
    const { id, segment, rateHz } = pending;
    this.segment.set(segment);
    this.post({ type: 'judge', id, samples: segment.length, rateHz });
    this.hungTimer = setTimeout(
      () => this.die(new Error(`the inference worker gave no answer for ${HUNG_AFTER_MS} ms`)),
      HUNG_AFTER_MS,
    );
    this.hungTimer.unref();
  }

  private onAnswer(answer: TurnAnswer): void {
    if (answer.type !== 'verdict' && answer.type !== 'failed') return;
    const asked = this.inWork;
    if (this.state !== 'live' || asked?.id !== answer.id) return;
    clearTimeout(this.hungTimer);
    this.inWork = undefined;
    asked.settle(
      answer.type === 'verdict'
        ? { decidedBy: 'model', probability: answer.probability, computeMs: answer.computeMs }
        : silenceRule('failed'),
    );
    const next = this.waiting;
    this.waiting = undefined;
    if (next) this.send(next);
  }

  /** The worker goes on with a late question in work: a run cannot be interrupted. A waiting one is given up. */
  private expire(pending: Pending): void {
    pending.settle(silenceRule('late'));
    if (this.waiting === pending) this.waiting = undefined;
  }

  private die(error: Error): void {
    if (this.state !== 'live') return;
    this.state = 'died';
    this.settleAll('failed');
    this.onDied?.(error);
  }

  private settleAll(reason: 'failed' | 'off'): void {
    clearTimeout(this.hungTimer);
    this.inWork?.settle(silenceRule(reason));
    this.waiting?.settle(silenceRule(reason));
    this.inWork = undefined;
    this.waiting = undefined;
  }

  private post(request: TurnRequest): void {
    this.worker.postMessage(request);
  }
}

function silenceRule(reason: 'late' | 'busy' | 'failed' | 'off'): TurnVerdict {
  return { decidedBy: 'silence_rule', reason };
}

/** Resolves with the worker's first message when that is `ready`; otherwise lets the worker go and rejects. */
async function ready(worker: Worker, modelPath: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (code: 'model_missing' | 'internal', message: string, cause?: unknown) =>
        reject(new AppError(code, message, { cause }));
      timer = setTimeout(
        () =>
          fail('internal', `the turn model did not load within ${START_BOUND_MS} ms; check the host's load`),
        START_BOUND_MS,
      );
      worker.once('error', (cause) =>
        fail('internal', 'the inference worker cannot start; run "npm run setup" and try again', cause),
      );
      worker.once('exit', () => fail('internal', 'the inference worker ended before it was ready'));
      worker.once('message', (answer: TurnAnswer) => {
        if (answer.type === 'ready') resolve();
        else if (answer.type === 'cannot_start') {
          fail('model_missing', `the turn model ${modelPath} cannot be used: ${answer.message}`);
        }
      });
    });
  } catch (error) {
    worker.unref();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
