import type { InferenceSession, Tensor } from 'onnxruntime-node';
import {
  LINE_RATE_HZ,
  VAD_WIDE_WINDOW_SAMPLES,
  VAD_WINDOW_SAMPLES,
  WIDE_RATE_HZ,
} from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { createSession, onnxRuntime } from './onnx-session.ts';

/** Of each window, this share is the end of the one before, which Silero wants in front of it (D-38). */
const CONTEXT_SHARE = 1 / 8;
const STATE_SHAPE = [2, 1, 128];
const STATE_CELLS = 256;

/**
 * Silero voice activity at 8 kHz and at 16 kHz: one instance per slot, reset between calls. Every tensor is made once;
 * the network's memory alternates between two of them, because the runtime must not write the one that it reads.
 *
 * The runtime computes on this thread, about 0.1 ms per window (D-3). Windows must come one after the
 * other: await each answer before the next call. One call is heard at one rate.
 */
export class VoiceActivity {
  private readonly session: InferenceSession;
  private readonly narrow: RateInput;
  private readonly wide: RateInput;
  private readonly probabilityOut: Float32Array;
  private readonly states: readonly [Float32Array, Float32Array];
  private turn: 0 | 1 = 0;
  private running = false;
  private resetWanted = false;
  private closed = false;

  /** Loads the model file, whose hash `loadModelPath` has checked. Rejects with `model_missing`. */
  static async create(modelPath: string): Promise<VoiceActivity> {
    return new VoiceActivity(await createSession(modelPath));
  }

  private constructor(session: InferenceSession) {
    const { Tensor } = onnxRuntime();
    this.session = session;
    this.probabilityOut = new Float32Array(1);
    this.states = [new Float32Array(STATE_CELLS), new Float32Array(STATE_CELLS)];
    const output = new Tensor('float32', this.probabilityOut, [1, 1]);
    const states = this.states.map((cells) => new Tensor('float32', cells, STATE_SHAPE)) as [Tensor, Tensor];
    this.narrow = rateInput(LINE_RATE_HZ, VAD_WINDOW_SAMPLES, states, output);
    this.wide = rateInput(WIDE_RATE_HZ, VAD_WIDE_WINDOW_SAMPLES, states, output);
  }

  /**
   * Probability 0..1 that this window of 256 samples at 8 kHz, or of 512 at 16 kHz, holds speech. The window is read
   * before the call returns.
   */
  async probability(window: Int16Array): Promise<number> {
    const input = window.length === VAD_WIDE_WINDOW_SAMPLES ? this.wide : this.narrow;
    if (window.length !== input.windowSamples) {
      throw new AppError(
        'internal',
        `a voice-activity window has ${VAD_WINDOW_SAMPLES} samples, or ${VAD_WIDE_WINDOW_SAMPLES} at 16 kHz, not ${window.length}; cut the audio first`,
      );
    }
    if (this.running || this.closed) {
      throw new AppError(
        'internal',
        'voice activity takes one window at a time and none after close; await the answer before the next window',
      );
    }
    const { samples, windowSamples } = input;
    const contextSamples = samples.length - windowSamples;
    samples.copyWithin(0, windowSamples);
    for (let i = 0; i < windowSamples; i++) {
      samples[contextSamples + i] = (window[i] as number) / 32_768;
    }
    const run = input.runs[this.turn];
    this.running = true;
    try {
      await this.session.run(run.feeds, run.fetches);
    } finally {
      this.running = false;
      if (this.closed) await this.session.release();
    }
    this.turn = this.turn === 0 ? 1 : 0;
    if (this.resetWanted) this.reset();
    return this.probabilityOut[0] as number;
  }

  /**
   * Forgets everything heard: at call start, never inside speech. While a window is being judged, the reset takes
   * effect right after it.
   */
  reset(): void {
    this.resetWanted = this.running;
    if (this.running) return;
    this.narrow.samples.fill(0);
    this.wide.samples.fill(0);
    this.states[0].fill(0);
    this.states[1].fill(0);
  }

  /** Gives the session back, after the window in work if there is one. Safe to call twice. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    if (!this.running) await this.session.release();
  }
}

/** What the network is given at one rate. */
interface RateInput {
  windowSamples: number;
  /** The context and the window. */
  samples: Float32Array;
  /** From the one memory into the other, and back. */
  runs: readonly [Run, Run];
}

interface Run {
  feeds: Record<string, Tensor>;
  fetches: Record<string, Tensor>;
}

function rateInput(
  rateHz: number,
  windowSamples: number,
  [even, odd]: [Tensor, Tensor],
  output: Tensor,
): RateInput {
  const { Tensor } = onnxRuntime();
  const samples = new Float32Array(windowSamples * (1 + CONTEXT_SHARE));
  const input = new Tensor('float32', samples, [1, samples.length]);
  const rate = new Tensor('int64', BigInt64Array.of(BigInt(rateHz)), []);
  const run = (from: Tensor, into: Tensor): Run => ({
    feeds: { input, state: from, sr: rate },
    fetches: { output, stateN: into },
  });
  return { windowSamples, samples, runs: [run(even, odd), run(odd, even)] };
}
