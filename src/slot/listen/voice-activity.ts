import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { VAD_WINDOW_SAMPLES } from '../../contracts/limits.ts';
import { AppError } from '../../platform/app-error.ts';
import { createSession, onnxRuntime } from './onnx-session.ts';

/** Samples of the previous window that Silero wants in front of each new one at 8 kHz (D-38). */
const CONTEXT_SAMPLES = 32;
const STATE_SHAPE = [2, 1, 128];
const STATE_CELLS = 256;

/**
 * Silero voice activity at 8 kHz: one instance per slot, reset between calls. Every tensor is made once; the network's
 * memory alternates between two of them, because the runtime must not write the one that it reads.
 *
 * The runtime computes on this thread, about 0.1 ms per window (D-3). Windows must come one after the
 * other: await each answer before the next call.
 */
export class VoiceActivity {
  private readonly session: InferenceSession;
  private readonly input: Tensor;
  private readonly inputSamples: Float32Array;
  private readonly output: Tensor;
  private readonly probabilityOut: Float32Array;
  private readonly states: readonly [Float32Array, Float32Array];
  private readonly runs: readonly [Run, Run];
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
    this.inputSamples = new Float32Array(CONTEXT_SAMPLES + VAD_WINDOW_SAMPLES);
    this.input = new Tensor('float32', this.inputSamples, [1, this.inputSamples.length]);
    this.probabilityOut = new Float32Array(1);
    this.output = new Tensor('float32', this.probabilityOut, [1, 1]);
    this.states = [new Float32Array(STATE_CELLS), new Float32Array(STATE_CELLS)];
    const rate = new Tensor('int64', BigInt64Array.of(8000n), []);
    const [even, odd] = this.states.map((cells) => new Tensor('float32', cells, STATE_SHAPE)) as [
      Tensor,
      Tensor,
    ];
    const run = (from: Tensor, into: Tensor): Run => ({
      feeds: { input: this.input, state: from, sr: rate },
      fetches: { output: this.output, stateN: into },
    });
    this.runs = [run(even, odd), run(odd, even)];
  }

  /** Probability 0..1 that this window of 256 samples holds speech. The window is read before the call returns. */
  async probability(window: Int16Array): Promise<number> {
    if (window.length !== VAD_WINDOW_SAMPLES) {
      throw new AppError(
        'internal',
        `a voice-activity window has ${VAD_WINDOW_SAMPLES} samples, not ${window.length}; cut the audio first`,
      );
    }
    if (this.running || this.closed) {
      throw new AppError(
        'internal',
        'voice activity takes one window at a time and none after close; await the answer before the next window',
      );
    }
    const samples = this.inputSamples;
    samples.copyWithin(0, VAD_WINDOW_SAMPLES);
    for (let i = 0; i < VAD_WINDOW_SAMPLES; i++) {
      samples[CONTEXT_SAMPLES + i] = (window[i] as number) / 32_768;
    }
    const run = this.runs[this.turn];
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
    this.inputSamples.fill(0);
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

interface Run {
  feeds: Record<string, Tensor>;
  fetches: Record<string, Tensor>;
}
