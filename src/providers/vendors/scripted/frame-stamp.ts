import { FRAME_SAMPLES } from '../../../contracts/limits.ts';

/**
 * Numbers written into audio frames, so that a dialler at the far end of a call can prove which frames came, came
 * twice, came late or came after a `clear`. A stamp is four raw samples at the start of a 20 ms frame; it survives
 * only an untouched path (no resampling, no ambient sound, no gain), which is what the bench measures.
 */
export interface FrameStamp {
  /** Which speak() of the call, from 1. Frames of a call are ordered by `speak`, then by `frame`. */
  speak: number;
  /** Which frame of that speak(), from 0. */
  frame: number;
}

/** Numbers wrap here, because a sample is 16 bits and stays positive: 0 to 32767. */
export const STAMP_MODULUS = 0x8000;

export const STAMP_MARKER = 0x5a5a;
const CHECK = 0x2a2a;

/** Writes the stamp over the first four samples of the frame that begins at `at`. */
export function stampFrame(samples: Int16Array, at: number, stamp: FrameStamp): void {
  const speak = stamp.speak % STAMP_MODULUS;
  const frame = stamp.frame % STAMP_MODULUS;
  samples[at] = STAMP_MARKER;
  samples[at + 1] = speak;
  samples[at + 2] = frame;
  samples[at + 3] = checkOfStamp(speak, frame);
}

/**
 * A quiet 500 Hz tone in whole frames, each stamped. 500 Hz has a whole number of periods in a frame, so the tone
 * goes on smoothly from frame to frame; at -36 dBFS no sample comes near the marker.
 */
export function stampedTone(frames: number, first: FrameStamp): Int16Array {
  const samples = new Int16Array(frames * FRAME_SAMPLES);
  for (let index = 0; index < frames; index++) {
    samples.set(TONE_FRAME, index * FRAME_SAMPLES);
    stampFrame(samples, index * FRAME_SAMPLES, { speak: first.speak, frame: first.frame + index });
  }
  return samples;
}

const TONE_FRAME = Int16Array.from({ length: FRAME_SAMPLES }, (_, index) =>
  Math.round(500 * Math.sin((2 * Math.PI * 10 * index) / FRAME_SAMPLES)),
);

export function checkOfStamp(speak: number, frame: number): number {
  return (speak ^ frame ^ CHECK) & 0x7fff;
}
