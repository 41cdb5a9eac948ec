import {
  checkOfStamp,
  type FrameStamp,
  STAMP_MARKER,
} from '../src/providers/vendors/scripted/frame-stamp.ts';

/** The stamp of the frame that begins at `at`, or null where none stands or it was damaged. */
export function readStamp(samples: Int16Array, at = 0): FrameStamp | null {
  if (samples[at] !== STAMP_MARKER) return null;
  const speak = samples[at + 1];
  const frame = samples[at + 2];
  if (speak === undefined || frame === undefined || speak < 0 || frame < 0) return null;
  return samples[at + 3] === checkOfStamp(speak, frame) ? { speak, frame } : null;
}
