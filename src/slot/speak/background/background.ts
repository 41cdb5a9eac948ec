import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../../contracts/limits.ts';
import { type BackgroundSound, LOOP_LEVEL_DBFS } from './background-loop.ts';

/** `ambient_sound` of a config as far as it is understood; null where there is none, or it is switched off. */
export interface BackgroundSettings {
  sound: BackgroundSound;
  gainDb: number;
}

/** RT-44. */
const DEFAULT_GAIN_DB = -28;
/** While the bot speaks the background steps back by this, over the ramp. */
const DUCKING_DB = 6;
const RAMP_SAMPLES = (50 * LINE_RATE_HZ) / 1000;
const SOUNDS: readonly BackgroundSound[] = ['office', 'call_center', 'cafe', 'street'];

export function backgroundSettings(
  ambientSound: Readonly<Record<string, unknown>> | null | undefined,
): BackgroundSettings | null {
  if (ambientSound?.enabled !== true) return null;
  const { sound, gain_db: gainDb } = ambientSound;
  return {
    sound: SOUNDS.find((known) => known === sound) ?? 'office',
    gainDb: typeof gainDb === 'number' ? gainDb : DEFAULT_GAIN_DB,
  };
}

/**
 * The background behind the bot's voice on one line (RT-44). It is put under the frames as they go to the far end and
 * nowhere else: the recording, the echo gate and what is kept for a pause have the voice alone. It has no clock of
 * its own, and so ends with the frames.
 */
export class Background {
  private readonly fullGain: number;
  private readonly duckedGain: number;
  private readonly out = new Int16Array(FRAME_SAMPLES);
  private loop: Int16Array | null = null;
  private at = 0;
  /** From nothing, so that it does not begin with a jump. */
  private gain = 0;

  /** `startAt`, 0 to 1, is where in the loop the call begins. */
  constructor(settings: BackgroundSettings, loop: Promise<Int16Array>, startAt = Math.random()) {
    this.fullGain = 10 ** ((settings.gainDb - LOOP_LEVEL_DBFS) / 20);
    this.duckedGain = this.fullGain * 10 ** (-DUCKING_DB / 20);
    void loop.then((samples) => {
      this.loop = samples;
      this.at = Math.floor(startAt * samples.length) % samples.length;
    });
  }

  /** A frame of the voice with the background under it. The result is overwritten by the next call. */
  under(frame: Int16Array): Int16Array {
    return this.mix(frame, this.duckedGain);
  }

  /** A frame in which the bot says nothing. The result is overwritten by the next call. */
  alone(): Int16Array {
    return this.mix(SILENCE, this.fullGain);
  }

  private mix(frame: Int16Array, target: number): Int16Array {
    const { loop, out } = this;
    if (!loop) {
      out.set(frame);
      return out;
    }
    const step = this.fullGain / RAMP_SAMPLES;
    let { gain, at } = this;
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      if (gain < target) gain = Math.min(target, gain + step);
      else if (gain > target) gain = Math.max(target, gain - step);
      const sum = (frame[i] ?? 0) + (loop[at] ?? 0) * gain;
      out[i] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : Math.round(sum);
      if (++at === loop.length) at = 0;
    }
    this.gain = gain;
    this.at = at;
    return out;
  }
}

const SILENCE = new Int16Array(FRAME_SAMPLES);
