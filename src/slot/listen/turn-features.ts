import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import type { HearingHz } from '../audio/hearing-rate.ts';

const MODEL_RATE_HZ = 16_000;
/** 8 s at 16 kHz: the model's fixed input length (D-37). */
const MODEL_SAMPLES = 8 * MODEL_RATE_HZ;
export const FEATURE_SHAPE = [1, 80, 800];
export const FEATURE_CELLS = 80 * 800;

/**
 * Prepares caller audio for Smart Turn v3: 16 kHz, silence to the left so that speech ends at the right edge,
 * log-mel features (D-37). Buffers are made once; one instance per thread.
 */
export class TurnFeatures {
  private readonly wide = new Float32Array(MODEL_SAMPLES);

  /** Writes the features of the segment (at most 8 s; of more, its end) into `out`, 80 rows of 800. */
  compute(segment: Int16Array, out: Float32Array, rateHz: HearingHz = LINE_RATE_HZ): void {
    this.wide.fill(0);
    if (rateHz === MODEL_RATE_HZ) this.take(segment.subarray(-MODEL_SAMPLES));
    else this.resample(segment.subarray(-MODEL_SAMPLES / 2));
    audioKernels().logMel(this.wide, out);
  }

  private take(samples: Int16Array): void {
    const begin = MODEL_SAMPLES - samples.length;
    for (let i = 0; i < samples.length; i++) this.wide[begin + i] = (samples[i] as number) / 32_768;
  }

  private resample(samples: Int16Array): void {
    const resampler = new (audioKernels().Resampler)(LINE_RATE_HZ, MODEL_RATE_HZ);
    const body = resampler.process(samples);
    const tail = resampler.flush();
    // The filter's delay is cut from the front and made up by its tail, so that time 0 stays time 0.
    const wanted = 2 * samples.length;
    const skip = resampler.delaySamples;
    const begin = MODEL_SAMPLES - wanted;
    for (let i = 0; i < wanted; i++) {
      const at = skip + i;
      const sample = at < body.length ? body[at] : tail[at - body.length];
      this.wide[begin + i] = (sample ?? 0) / 32_768;
    }
  }
}
