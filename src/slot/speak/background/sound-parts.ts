import { LINE_RATE_HZ } from '../../../contracts/limits.ts';

/**
 * What background sounds are made of: generators that add themselves to a buffer. They are synthesised instead of
 * recorded, so that no recording of anybody is on a line, and from a fixed seed, so that every host makes the same.
 */
export type SoundPart = (random: () => number) => (into: Float32Array, fromSample: number) => void;

/** Noise below a corner: ventilation, distant traffic. Two poles, since one still hisses on a telephone. */
export function rumble(cornerHz: number, level: number): SoundPart {
  return (random) => {
    const share = 1 - Math.exp((-2 * Math.PI * cornerHz) / LINE_RATE_HZ);
    // Filtering takes energy away; this gives it back, so that `level` means the same for every corner.
    const gain = (level * 1.7) / Math.sqrt(share / (2 - share));
    let first = 0;
    let second = 0;
    return (into) => {
      for (let at = 0; at < into.length; at++) {
        first += share * (random() * 2 - 1 - first);
        second += share * (first - second);
        into[at] = (into[at] ?? 0) + second * gain;
      }
    };
  };
}

/** Mains hum of lamps and machines. */
export function hum(baseHz: number, level: number): SoundPart {
  return () => (into, fromSample) => {
    for (let at = 0; at < into.length; at++) {
      const angle = (2 * Math.PI * baseHz * (fromSample + at)) / LINE_RATE_HZ;
      into[at] = (into[at] ?? 0) + level * (Math.sin(2 * angle) + 0.4 * Math.sin(3 * angle));
    }
  };
}

/** Speech of several people without words: pulses of a voice through two moving formants, in syllables and pauses. */
export function murmur(voices: number, level: number): SoundPart {
  return (random) => {
    const speakers = Array.from({ length: voices }, () => murmurer(random));
    return (into) => {
      for (const speaker of speakers) speaker(into, level / Math.sqrt(voices));
    };
  };
}

/** Short noises that come by chance, `perMinute` of them: keys, cups. Each dies away within `decayMs`. */
export function clicks(options: {
  perMinute: number;
  toneHz: readonly [number, number];
  /** 0: all noise, 1: all tone. */
  purity: number;
  decayMs: number;
  level: number;
  /** So many in a row, as keys are. */
  burst?: number;
}): SoundPart {
  const { perMinute, toneHz, purity, decayMs, level, burst = 1 } = options;
  return (random) => {
    const decay = Math.exp(-1000 / (decayMs * LINE_RATE_HZ));
    const chance = perMinute / 60 / LINE_RATE_HZ;
    let strength = 0;
    let angle = 0;
    let step = 0;
    let left = 0;
    let waitSamples = 0;
    const strike = () => {
      strength = level * (0.3 + 0.7 * random());
      step = (2 * Math.PI * between(toneHz, random())) / LINE_RATE_HZ;
      angle = 0;
    };
    return (into) => {
      for (let at = 0; at < into.length; at++) {
        if (left === 0 && random() < chance) left = 1 + Math.floor(random() * burst);
        if (left > 0 && --waitSamples <= 0) {
          strike();
          left--;
          waitSamples = LINE_RATE_HZ * (0.09 + 0.16 * random());
        }
        if (strength < 1e-5) continue;
        angle += step;
        const sound = purity * Math.sin(angle) + (1 - purity) * (random() * 2 - 1);
        into[at] = (into[at] ?? 0) + strength * sound;
        strength *= decay;
      }
    };
  };
}

/** Cars that come and go: broad noise that swells for seconds. */
export function passing(perMinute: number, level: number): SoundPart {
  return (random) => {
    const gapSamples = (LINE_RATE_HZ * 60) / perMinute;
    let startsIn = gapSamples * random() * 0.5;
    let age = 0;
    let span = 1;
    let tone = 0;
    let low = 0;
    return (into) => {
      for (let at = 0; at < into.length; at++) {
        if (age >= span && --startsIn <= 0) {
          age = 0;
          span = LINE_RATE_HZ * (2.5 + 2.5 * random());
          tone = 0.12 + 0.2 * random();
          startsIn = gapSamples * (0.5 + random());
        }
        if (age >= span) continue;
        const swell = Math.sin((Math.PI * age++) / span) ** 2;
        low += tone * (random() * 2 - 1 - low);
        into[at] = (into[at] ?? 0) + level * swell * low * 3;
      }
    };
  };
}

function murmurer(random: () => number): (into: Float32Array, level: number) => void {
  const pitchHz = 95 + 130 * random();
  let phase = 0;
  let syllableLeft = 0;
  let loudness = 0;
  let target = 0;
  let glide = 1;
  const low = resonator();
  const high = resonator();
  const nextSyllable = () => {
    syllableLeft = Math.floor(LINE_RATE_HZ * (0.1 + 0.16 * random()));
    // About a third of the time a person who talks with somebody else listens.
    target = random() < 0.35 ? 0 : 0.4 + 0.6 * random();
    glide = 0.85 + 0.3 * random();
    low.tune(300 + 450 * random(), 90);
    high.tune(900 + 900 * random(), 140);
  };
  return (into, level) => {
    for (let at = 0; at < into.length; at++) {
      if (syllableLeft-- <= 0) nextSyllable();
      loudness += (target - loudness) * 0.004;
      phase += (pitchHz * glide) / LINE_RATE_HZ;
      if (phase >= 1) phase -= 1;
      // A falling flank has the spectrum of a voice, well enough for one that is not understood.
      const source = (phase < 0.1 ? 1 : -0.11) + 0.1 * (random() - 0.5);
      const voice = low.take(source) + 0.5 * high.take(source);
      into[at] = (into[at] ?? 0) + level * loudness * voice;
    }
  };
}

function resonator() {
  let a1 = 0;
  let a2 = 0;
  let gain = 0;
  let y1 = 0;
  let y2 = 0;
  return {
    tune(hz: number, widthHz: number): void {
      const radius = Math.exp((-Math.PI * widthHz) / LINE_RATE_HZ);
      a1 = 2 * radius * Math.cos((2 * Math.PI * hz) / LINE_RATE_HZ);
      a2 = -radius * radius;
      gain = 1 - radius;
    },
    take(input: number): number {
      const y = gain * input + a1 * y1 + a2 * y2;
      y2 = y1;
      y1 = y;
      return y;
    },
  };
}

function between([from, to]: readonly [number, number], share: number): number {
  return from + (to - from) * share;
}
