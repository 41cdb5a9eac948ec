import { LINE_RATE_HZ } from '../../../contracts/limits.ts';
import { clicks, hum, murmur, passing, rumble, type SoundPart } from './sound-parts.ts';

/** Background sounds that a bot may have behind its voice. */
export type BackgroundSound = 'office' | 'call_center' | 'cafe' | 'street';

/** Every loop has this level, RMS in dBFS; its peaks stay below full scale. */
export const LOOP_LEVEL_DBFS = -26;

/** Long enough that nobody hears it come round, short enough to cost a slot 320 KB. */
const LOOP_SECONDS = 20;
/** The end runs over into the beginning for this long, so that the loop has no seam. */
const SEAM_SAMPLES = LINE_RATE_HZ;
/** Made in pieces, between which the call goes on. */
const PIECE_SAMPLES = LINE_RATE_HZ / 4;
const LOW_CUT_HZ = 250;
const SEED = 0x5eed;

const SOUNDS: Readonly<Record<BackgroundSound, readonly SoundPart[]>> = {
  office: [
    rumble(320, 0.05),
    hum(50, 0.004),
    murmur(3, 0.05),
    clicks({ perMinute: 14, toneHz: [1_600, 2_600], purity: 0.3, decayMs: 6, level: 0.1, burst: 9 }),
  ],
  call_center: [
    rumble(400, 0.03),
    murmur(9, 0.16),
    clicks({ perMinute: 20, toneHz: [1_600, 2_600], purity: 0.3, decayMs: 6, level: 0.06, burst: 12 }),
  ],
  cafe: [
    rumble(500, 0.04),
    murmur(7, 0.15),
    clicks({ perMinute: 22, toneHz: [2_100, 3_300], purity: 0.85, decayMs: 45, level: 0.09, burst: 2 }),
  ],
  street: [rumble(160, 0.12), rumble(900, 0.02), passing(11, 0.1), murmur(2, 0.03)],
};

const made = new Map<BackgroundSound, Promise<Int16Array>>();

/** The loop at line rate, made once per process. Takes some 100 ms of computing in pieces of a few milliseconds. */
export function backgroundLoop(sound: BackgroundSound): Promise<Int16Array> {
  const known = made.get(sound);
  if (known) return known;
  const loop = makeLoop(sound);
  made.set(sound, loop);
  return loop;
}

async function makeLoop(sound: BackgroundSound): Promise<Int16Array> {
  const random = seededRandom(SEED);
  const parts = SOUNDS[sound].map((part) => part(random));
  const loopSamples = LOOP_SECONDS * LINE_RATE_HZ;
  const all = new Float32Array(loopSamples + SEAM_SAMPLES);
  for (let from = 0; from < all.length; from += PIECE_SAMPLES) {
    const piece = all.subarray(from, from + PIECE_SAMPLES);
    for (const part of parts) part(piece, from);
    await new Promise((resolve) => setImmediate(resolve));
  }
  cutLow(all);
  closeSeam(all, loopSamples);
  return atLevel(all.subarray(0, loopSamples));
}

/** Takes away what no telephone carries, so that the level is that of what is heard (a second-order Butterworth). */
function cutLow(all: Float32Array): void {
  const angle = (2 * Math.PI * LOW_CUT_HZ) / LINE_RATE_HZ;
  const alpha = Math.sin(angle) * Math.SQRT1_2;
  const cosine = Math.cos(angle);
  const a0 = 1 + alpha;
  const b = (1 + cosine) / 2 / a0;
  const a1 = (-2 * cosine) / a0;
  const a2 = (1 - alpha) / a0;
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  for (let at = 0; at < all.length; at++) {
    const x = all[at] ?? 0;
    const y = b * (x - 2 * x1 + x2) - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    all[at] = y;
  }
}

/** What was made beyond the end fades out over the beginning, at equal power. */
function closeSeam(all: Float32Array, loopSamples: number): void {
  for (let at = 0; at < SEAM_SAMPLES; at++) {
    const angle = ((at / SEAM_SAMPLES) * Math.PI) / 2;
    all[at] = (all[at] ?? 0) * Math.sin(angle) + (all[loopSamples + at] ?? 0) * Math.cos(angle);
  }
}

function atLevel(loop: Float32Array): Int16Array {
  let energy = 0;
  for (const sample of loop) energy += sample * sample;
  const scale = (10 ** (LOOP_LEVEL_DBFS / 20) * 32_768) / Math.sqrt(energy / loop.length);
  return Int16Array.from(loop, (sample) => Math.max(-32_767, Math.min(32_767, Math.round(sample * scale))));
}

/** Numbers from 0 to 1, the same for the same seed (the generator known as mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
