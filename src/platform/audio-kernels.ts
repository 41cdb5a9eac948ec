import { createRequire } from 'node:module';
import { AppError } from './app-error.ts';
import { projectPath } from './project-paths.ts';

/** A streaming rational resampler over LINEAR16 mono. State persists between calls; one per stream. */
export interface Resampler {
  /** Group delay in output samples; the first that many outputs belong to before the first input. */
  readonly delaySamples: number;
  /** Converts what came; output length follows input length by the rate ratio, give or take one sample. */
  process(input: Int16Array): Int16Array;
  /** The tail that the filter still holds; afterwards the resampler is as new. */
  flush(): Int16Array;
}

/** The C++ addon of `native/`: the audio kernels. */
export interface AudioKernels {
  Resampler: new (inputRate: number, outputRate: number) => Resampler;
  /**
   * Features of Smart Turn v3: 128000 float samples at 16 kHz (already left-padded) in, 80 x 800 out, row per mel
   * (D-37).
   */
  logMel(samples: Float32Array, out: Float32Array): void;
  /** `into[i] += from[i] * gain`, saturating; the shorter length counts. */
  mix(into: Int16Array, from: Int16Array, gain: number): void;
  /** RMS level in dBFS; -100 for digital silence and for no samples. */
  level(samples: Int16Array): number;
  /** Left and right into one stereo block of twice the length. */
  interleave(left: Int16Array, right: Int16Array, out: Int16Array): void;
}

let loaded: AudioKernels | undefined;

/** Loads the addon once per process. Throws `internal` with the step that builds it. */
export function audioKernels(): AudioKernels {
  if (loaded) return loaded;
  const path = projectPath('native/build/audio_kernels.node');
  try {
    loaded = createRequire(import.meta.url)(path) as AudioKernels;
  } catch (cause) {
    throw new AppError(
      'internal',
      `the audio kernels at ${path} do not load; run "npm run setup" to build them`,
      { cause },
    );
  }
  return loaded;
}
